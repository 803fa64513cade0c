//! The refusals of the contract: every code is produced here, each as a problem that gives nothing away.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use entity::ProductId;
use futures_util::future::{Either, select};
use order_service::domain::order_flow::Move;
use order_service::error::Error;
use order_service::repositories;
use reqwest::Method;
use serde_json::json;
use tokio::sync::oneshot;

use crate::support::client::send;
use crate::support::faults::use_all_numbers_ahead;
use crate::support::gateway::{Attempt, accepted};
use crate::support::{Reply, Shop, order};

/// What betrays a cause: SQL, libraries, tables, our own files.
const CAUSES: [&str; 13] = [
    "select ",
    "insert ",
    "update ",
    "sqlx",
    "sqlite",
    "mysql",
    "sea_orm",
    "constraint",
    "no such table",
    "doesn't exist",
    "order_event",
    "panicked",
    "src/",
];
const REPEATABLE: [&str; 5] = [
    "request_in_progress",
    "busy",
    "database_unavailable",
    "clock_behind",
    "gateway_unknown",
];

#[actix_web::test]
async fn every_code_of_the_contract_is_produced_as_a_problem() {
    let mut replies = refused_at_the_door().await;
    replies.extend(refused_by_the_order_key().await);
    replies.extend(refused_by_the_shelf().await);
    replies.extend(refused_by_the_version().await);
    replies.extend(refused_by_time().await);
    replies.extend(refused_by_the_money().await);
    replies.push(refused_while_it_runs().await);
    replies.push(refused_by_the_bulkhead().await);
    replies.extend(refused_by_the_database().await);

    for reply in &replies {
        assert_problem(reply);
    }
    let produced: BTreeSet<(String, u16)> = replies
        .iter()
        .map(|reply| (reply.code().to_owned(), reply.status))
        .collect();
    assert_eq!(produced, codes_of_the_contract());
}

async fn refused_at_the_door() -> Vec<Reply> {
    let shop = Shop::open().await;
    let (ann, body) = (shop.customer("ann"), order("NORMAL", &[("1", 1)]));
    let post = |text: String| {
        let request = ann.request(Method::POST, "/api/orders").body(text);
        request.header("Idempotency-Key", "key")
    };
    vec![
        send(post("{".to_owned()).header("Content-Type", "application/json")).await,
        send(post(" ".repeat(65_537)).header("Content-Type", "application/json")).await,
        send(post(body.to_string())).await,
        ann.place(
            &ann.token().await,
            &json!({ "order_type": "NORMAL", "items": [], "address": body["address"] }),
        )
        .await,
        shop.anonymous().get("/api/orders").await,
        ann.get("/api/products/1/stock").await,
        ann.get("/api/orders/1").await,
        ann.delete("/api/products").await,
    ]
}

async fn refused_by_the_order_key() -> Vec<Reply> {
    let shop = Shop::open().await;
    let (ann, body) = (shop.customer("ann"), order("NORMAL", &[("1", 1)]));
    let key = ann.token().await;
    ann.place(&key, &body).await.expect(201);
    vec![
        ann.post("/api/orders", &body).await,
        ann.place("two words", &body).await,
        ann.place("forged", &body).await,
        ann.place(&key, &order("NORMAL", &[("1", 2)])).await,
        ann.place(&ann.token().await, &body).await,
    ]
}

async fn refused_by_the_shelf() -> Vec<Reply> {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let mut expected = order("NORMAL", &[("1", 1)]);
    expected["expected_amount"] = json!(1);
    let offer = json!({ "name": "Cup", "price": 1, "currency": "CNY", "on_sale": false });
    shop.operator()
        .put("/api/products/2", &offer, None)
        .await
        .expect(200);
    shop.set_stock("3", 0).await;
    let mut replies = Vec::new();
    for body in [
        expected,
        order("NORMAL", &[("2", 1)]),
        order("NORMAL", &[("3", 1)]),
    ] {
        replies.push(ann.place(&ann.token().await, &body).await);
    }
    replies
}

async fn refused_by_the_money() -> Vec<Reply> {
    let shop = Shop::open().await;
    let (ann, operator) = (shop.customer("ann"), shop.operator());
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let start = format!("/api/orders/{id}/payments");
    let gateway = json!({ "gateway": "sandbox" });
    shop.app.sandbox().unwrap().set_silent(true);
    let unknown = ann.post(&start, &gateway).await;
    shop.app.sandbox().unwrap().set_silent(false);
    let attempt = Attempt::start(&ann, &id).await;
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));
    let paid = ann.post(&start, &gateway).await;
    let refund = json!({ "amount": 99_999, "reason": "x", "idempotency_key": "a" });
    let refund = operator
        .post(&format!("/api/orders/{id}/refunds"), &refund)
        .await;
    let parcel_door = format!("/api/orders/{id}/shipment");
    let parcel = |number: &str| json!({ "carrier": "SF", "tracking_no": number });
    operator
        .put(&parcel_door, &parcel("1"), None)
        .await
        .expect(200);
    let other = operator.put(&parcel_door, &parcel("2"), None).await;
    let late = ann.buy(&order("NORMAL", &[("2", 1)])).await;
    shop.advance(chrono::TimeDelta::minutes(15));
    let late = ann
        .post(&format!("/api/orders/{late}/payments"), &gateway)
        .await;
    vec![unknown, paid, refund, other, late]
}

async fn refused_by_the_version() -> Vec<Reply> {
    let shop = Shop::open().await;
    let (ann, operator) = (shop.customer("ann"), shop.operator());
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    shop.simulate(&id, &[Move::Pay]).await;
    let counted = json!({ "quantity": 7 });
    vec![
        operator.put("/api/products/1/stock", &counted, None).await,
        operator
            .put("/api/products/1/stock", &counted, Some(99))
            .await,
        ann.delete(&format!("/api/orders/{id}")).await,
    ]
}

async fn refused_by_time() -> Vec<Reply> {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    shop.advance(TimeDelta::minutes(30));
    let expired = ann.place(&key, &order("NORMAL", &[("1", 1)])).await;
    ann.token().await;
    use_all_numbers_ahead(&shop.place).await;
    shop.advance(-TimeDelta::minutes(1));
    let behind = send(ann.request(Method::POST, "/api/order-tokens")).await;
    vec![expired, behind]
}

/// Of two at once one waits for the shelf that another holds; the other hears that it is running.
async fn refused_while_it_runs() -> Reply {
    let shop = Shop::open().await;
    let (ann, body) = (shop.customer("ann"), order("NORMAL", &[("1", 1)]));
    let key = ann.token().await;
    while_the_shelf_is_held(&shop, async {
        let two = [(); 2].map(|()| Box::pin(ann.place(&key, &body)));
        let [one, other] = two;
        match select(one, other).await {
            Either::Left((reply, _)) | Either::Right((reply, _)) => reply,
        }
    })
    .await
}

async fn refused_by_the_bulkhead() -> Reply {
    let narrow = [("bulkhead.transactions", "1"), ("bulkhead.queue", "0")];
    let shop = Shop::open_with(&narrow).await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 1)]);
    while_the_shelf_is_held(&shop, ann.place(&key, &body)).await
}

async fn refused_by_the_database() -> Vec<Reply> {
    let shop = Shop::open().await;
    let (ann, body) = (shop.customer("ann"), order("NORMAL", &[("1", 1)]));
    let (broken, away) = (ann.token().await, ann.token().await);
    shop.execute("DROP TABLE order_event").await;
    let broken = ann.place(&broken, &body).await;
    shop.app.db.close().await;
    vec![broken, ann.place(&away, &body).await]
}

/// Does `work` while a transaction of another holds the stock of product 1.
async fn while_the_shelf_is_held<T>(shop: &Shop, work: impl Future<Output = T>) -> T {
    let (held, is_held) = oneshot::channel();
    let (release, released) = oneshot::channel::<()>();
    let channels = std::cell::Cell::new(Some((held, released)));
    let transaction = shop.app.db.transaction(async |tx| {
        repositories::stock::lock(tx, ProductId(1)).await?;
        let (held, released) = channels.take().unwrap();
        held.send(()).unwrap();
        released.await.unwrap();
        Ok::<_, Error>(())
    });
    let meanwhile = async {
        is_held.await.unwrap();
        let answer = work.await;
        release.send(()).unwrap();
        answer
    };
    let (ended, answer) = tokio::join!(transaction, meanwhile);
    ended.unwrap();
    answer
}

/// Every `("code", status)` of the one table, as the source has it.
fn codes_of_the_contract() -> BTreeSet<(String, u16)> {
    let source = include_str!("../src/error.rs");
    let codes: BTreeSet<(String, u16)> = source
        .lines()
        .filter_map(|line| {
            line.split_once("=> (\"")?
                .1
                .strip_suffix("),")?
                .split_once("\", ")
        })
        .map(|(code, status)| (code.to_owned(), status.parse().unwrap()))
        .collect();
    assert!(codes.len() > 20, "the table was not found: {codes:?}");
    codes
}

#[track_caller]
pub fn assert_problem(reply: &Reply) {
    let (code, body) = (reply.code(), &reply.body);
    assert_eq!(
        reply.header("Content-Type"),
        Some("application/problem+json"),
        "{body}"
    );
    assert_eq!(body["status"], reply.status, "{body}");
    assert_eq!(body["type"], format!("urn:order-service:problem:{code}"));
    for member in ["title", "detail", "code"] {
        assert!(
            body[member].as_str().is_some_and(|text| !text.is_empty()),
            "no {member}: {body}"
        );
    }
    let text = body.to_string().to_lowercase();
    for cause in CAUSES {
        assert!(!text.contains(cause), "\"{cause}\" in {body}");
    }
    let retry = REPEATABLE.contains(&code).then_some("1");
    assert_eq!(reply.header("Retry-After"), retry, "{body}");
    let challenge = (reply.status == 401).then_some("Bearer");
    assert_eq!(reply.header("WWW-Authenticate"), challenge, "{body}");
}
