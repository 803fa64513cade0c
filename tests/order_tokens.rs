//! Order tokens: ours are known without being stored, and nobody else's are.

use chrono::TimeDelta;
use order_service::metrics::Layer;
use tokio::join;

use crate::support::{Shop, order};

#[actix_web::test]
async fn a_creation_without_a_key_is_told_to_get_one() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");

    let reply = ann
        .post("/api/orders", &order("NORMAL", &[("1", 1)]))
        .await
        .expect(400);

    assert_eq!(reply.code(), "idempotency_key_missing");
}

#[actix_web::test]
async fn what_we_did_not_sign_for_the_caller_is_refused() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("NORMAL", &[("1", 1)]);
    let bobs = shop.customer("bob").token().await;
    let mut forged = ann.token().await;
    let last = forged.pop().unwrap();
    forged.push(if last == 'A' { 'B' } else { 'A' });

    for key in [bobs.as_str(), forged.as_str(), "ot_AAAA", "my-own-key"] {
        let reply = ann.place(key, &body).await.expect(400);
        assert_eq!(reply.code(), "order_token_invalid", "{key}");
    }
    assert_eq!(shop.app.metrics.intercepts(Layer::Token, "create_order"), 4);
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM idempotency_record").await,
        0
    );
}

#[actix_web::test]
async fn a_key_that_is_no_visible_ascii_is_refused() {
    let shop = Shop::open().await;
    let program = shop.service("back-office");
    let mut body = order("NORMAL", &[("1", 1)]);
    body["user_id"] = "ann".into();

    for key in ["", "two words", &"k".repeat(256)] {
        let reply = program.place(key, &body).await.expect(400);
        assert_eq!(reply.code(), "idempotency_key_invalid", "{key:?}");
    }
}

#[actix_web::test]
async fn a_token_used_for_another_body_is_refused() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let id = ann
        .place(&key, &order("NORMAL", &[("1", 1)]))
        .await
        .expect(201)
        .id();

    let other = ann
        .place(&key, &order("NORMAL", &[("1", 2)]))
        .await
        .expect(422);

    assert_eq!(other.code(), "idempotency_key_reused");
    let same = ann
        .place(&key, &order("NORMAL", &[("1", 1)]))
        .await
        .expect(201);
    assert_eq!(same.id(), id);
}

#[actix_web::test]
async fn an_expired_token_creates_nothing_ever_again() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 1)]);
    shop.advance(TimeDelta::minutes(30));

    let first = ann.place(&key, &body).await.expect(410);
    let again = ann.place(&key, &body).await.expect(410);

    assert_eq!(
        (first.code(), again.code()),
        ("order_token_expired", "order_token_expired")
    );
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 0);
    assert_eq!(shop.stock("1").await, 1_000);
}

#[actix_web::test]
async fn an_expired_token_is_gone_even_when_the_shelf_is_empty() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    shop.set_stock("1", 0).await;
    shop.advance(TimeDelta::minutes(31));

    let reply = ann
        .place(&key, &order("NORMAL", &[("1", 1)]))
        .await
        .expect(410);

    assert_eq!(reply.code(), "order_token_expired");
}

#[actix_web::test]
async fn an_expired_token_still_tells_of_its_order() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 1)]);
    let id = ann.place(&key, &body).await.expect(201).id();
    shop.advance(TimeDelta::days(1));

    let reply = shop.customer("ann").place(&key, &body).await.expect(201);

    assert!(reply.is_replay());
    assert_eq!(reply.id(), id);
}

/// The creation begins in the token's life; its repeat and the end of that life race it.
#[actix_web::test]
async fn at_the_edge_of_a_tokens_life_there_is_one_order_or_none_ever() {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    let body = order("NORMAL", &[("1", 1)]);
    let mut outcomes = [0, 0];

    for round in 0..200 {
        let ann = shop.customer("ann");
        let key = ann.token().await;
        shop.advance(TimeDelta::minutes(30) - TimeDelta::milliseconds(1));
        let (first, ()) = join!(ann.place(&key, &body), async {
            for _ in 0..round % 20 {
                tokio::task::yield_now().await;
            }
            shop.advance(TimeDelta::milliseconds(1));
        });
        let again = ann.place(&key, &body).await;

        match again.status {
            201 => {
                assert!(again.is_replay(), "round {round}: made after its life");
                assert_eq!(first.status, 201);
                outcomes[0] += 1;
            }
            410 => {
                assert_eq!(first.status, 410, "round {round}: {}", first.body);
                outcomes[1] += 1;
            }
            _ => panic!("round {round}: {} {}", again.status, again.body),
        }
    }

    assert_eq!(
        shop.number("SELECT COUNT(*) FROM orders").await,
        outcomes[0]
    );
    assert_eq!(outcomes[0] + outcomes[1], 200);
    shop.assert_audit_is_clean().await;
}

/// Many copies on both sides of the edge, the gate out of the way.
#[actix_web::test]
async fn a_burial_and_a_creation_never_both_happen() {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    let ann = shop.customer("ann");
    let body = order("NORMAL", &[("1", 1)]);
    let program = |key: String| {
        let (ann, body) = (ann.clone(), body.clone());
        async move { ann.place(&key, &body).await }
    };

    for _ in 0..20 {
        let key = ann.token().await;
        shop.advance(TimeDelta::minutes(30) - TimeDelta::milliseconds(1));
        let copies = futures_util::future::join_all((0..8).map(|_| program(key.clone())));
        let (copies, ()) = join!(copies, async { shop.advance(TimeDelta::milliseconds(1)) });
        let last = ann.place(&key, &body).await;

        let buried = copies.iter().any(|reply| reply.status == 410);
        let created = copies.iter().any(|reply| reply.status == 201);
        assert!(!(buried && created), "{copies:?}");
        assert_eq!(last.status, if created { 201 } else { 410 });
    }
}
