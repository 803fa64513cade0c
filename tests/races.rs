//! Different requests at the same moment: nobody oversells, nobody deadlocks, nothing is given back twice.

use futures_util::future::join_all;

use crate::support::{Client, Reply, Shop, order};

#[actix_web::test]
async fn of_a_hundred_buyers_ten_get_the_ten_pieces() {
    let shop = Shop::open().await;
    shop.set_stock("1", 10).await;

    let replies = rush(&shop, 100, &[("1", 1)]).await;

    assert_eq!(tally(&replies), (10, 90));
    assert_eq!(shop.stock("1").await, 0);
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 10);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn of_five_pieces_two_buyers_get_two_each() {
    let shop = Shop::open().await;
    shop.set_stock("1", 5).await;

    let replies = rush(&shop, 50, &[("1", 2)]).await;

    assert_eq!(tally(&replies), (2, 48));
    assert_eq!(shop.stock("1").await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn mixed_carts_in_opposite_order_do_not_deadlock() {
    let shop = Shop::open().await;
    let carts: [&[(&str, i64)]; 2] = [
        &[("1", 1), ("2", 1), ("3", 1)],
        &[("3", 1), ("2", 1), ("1", 1)],
    ];
    let bodies = carts.map(|cart| order("NORMAL", cart));

    let buyers = (0..60).map(|n| shop.customer(&format!("buyer-{n}")));
    let replies = join_all(
        buyers
            .enumerate()
            .map(|(n, buyer)| buy(buyer, bodies[n % 2].clone())),
    )
    .await;

    assert_eq!(tally(&replies), (60, 0));
    for product in ["1", "2", "3"] {
        assert_eq!(shop.stock(product).await, 940);
    }
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn fifty_cancellations_at_once_restore_once() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 3), ("2", 1)])).await;
    let path = format!("/api/orders/{id}");

    let replies = join_all((0..50).map(|_| ann.delete(&path))).await;

    assert!(replies.iter().all(|reply| reply.status == 204));
    assert_eq!(
        (shop.stock("1").await, shop.stock("2").await),
        (1_000, 1_000)
    );
    assert_eq!(shop.number("SELECT COUNT(*) FROM order_event").await, 2);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn buying_and_cancelling_at_once_keeps_stock_and_ledger_equal() {
    let shop = Shop::open().await;
    shop.set_stock("1", 7).await;

    let rounds = (0..40).map(|n| {
        let buyer = shop.customer(&format!("buyer-{n}"));
        async move {
            let reply = buy(buyer.clone(), order("NORMAL", &[("1", 1)])).await;
            if reply.status == 201 {
                buyer
                    .delete(&format!("/api/orders/{}", reply.id()))
                    .await
                    .expect(204);
            }
            reply
        }
    });
    let replies = join_all(rounds).await;

    assert!(
        replies
            .iter()
            .all(|reply| [201, 409].contains(&reply.status))
    );
    assert_eq!(shop.stock("1").await, 7);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_operator_who_counts_while_buyers_buy_loses_no_piece() {
    let shop = Shop::open().await;
    let operator = shop.operator();
    let path = "/api/products/1/stock";

    let buying = rush(&shop, 40, &[("1", 1)]);
    let counting = async {
        let mut replies = Vec::new();
        for _ in 0..10 {
            let seen = operator.get(path).await;
            let quantity = seen.body["quantity"].as_i64().unwrap() + 5;
            let version = seen.body["version"].as_i64();
            let body = serde_json::json!({ "quantity": quantity });
            replies.push(operator.put(path, &body, version).await);
        }
        replies
    };
    let (bought, counted) = tokio::join!(buying, counting);

    let accepted = counted.iter().filter(|reply| reply.status == 200).count();
    assert!(
        counted
            .iter()
            .all(|reply| [200, 412].contains(&reply.status))
    );
    assert_eq!(tally(&bought), (40, 0));
    let added = 5 * i64::try_from(accepted).unwrap();
    assert_eq!(shop.stock("1").await, 1_000 - 40 + added);
    shop.assert_audit_is_clean().await;
}

/// That many buyers at once, each with a token of his own.
async fn rush(shop: &Shop, buyers: usize, items: &[(&str, i64)]) -> Vec<Reply> {
    let body = order("NORMAL", items);
    let buyers = (0..buyers).map(|n| shop.customer(&format!("buyer-{n}")));
    join_all(buyers.map(|buyer| buy(buyer, body.clone()))).await
}

async fn buy(buyer: Client, body: serde_json::Value) -> Reply {
    let key = buyer.token().await;
    buyer.place(&key, &body).await
}

/// How many were created and how many were out of stock; anything else fails.
#[track_caller]
fn tally(replies: &[Reply]) -> (usize, usize) {
    let created = replies.iter().filter(|reply| reply.status == 201).count();
    let refused = replies
        .iter()
        .filter(|reply| reply.code() == "out_of_stock")
        .count();
    let others: Vec<&Reply> = replies
        .iter()
        .filter(|reply| reply.status != 201 && reply.code() != "out_of_stock")
        .collect();
    assert!(others.is_empty(), "{others:?}");
    (created, refused)
}
