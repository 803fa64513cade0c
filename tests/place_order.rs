//! `POST /api/orders`: what comes once, twice, and a hundred times.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{Reply, Shop, order};

#[actix_web::test]
async fn an_order_is_what_was_asked_for_at_todays_prices() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;

    let reply = ann
        .place(&key, &order("NORMAL", &[("2", 3), ("1", 1)]))
        .await
        .expect(201);

    assert_eq!(reply.header("Idempotency-Key"), Some(key.as_str()));
    assert_eq!(
        reply.header("Location"),
        Some(format!("/api/orders/{}", reply.id()).as_str())
    );
    assert!(!reply.is_replay());
    assert_eq!(reply.body["status"], "PENDING_PAYMENT");
    assert_eq!(reply.body["amount"], 12_800 + 3 * 4_900);
    assert_eq!(reply.body["items"][0]["product_id"], "1");
    assert_eq!(reply.body["items"][1]["unit_price"], 4_900);
    assert_eq!(reply.body["user_id"], "ann");
    assert_eq!((shop.stock("1").await, shop.stock("2").await), (999, 997));
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_hundred_identical_creations_make_one_order() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 2)]);

    let replies = join_all((0..100).map(|_| ann.place(&key, &body))).await;

    assert_one_order(&shop, &replies).await;
    let later = join_all((0..100).map(|_| ann.place(&key, &body))).await;
    assert!(
        later
            .iter()
            .all(|reply| reply.status == 201 && reply.is_replay())
    );
    assert_one_order(&shop, &replies).await;
}

#[actix_web::test]
async fn the_gate_may_be_wiped_between_repeats() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 2)]);
    let first = ann.place(&key, &body).await.expect(201);
    let shop = shop.restarted_without_memory().await;
    let ann = shop.customer("ann");

    let replies = join_all((0..100).map(|_| ann.place(&key, &body))).await;

    assert!(
        replies
            .iter()
            .all(|reply| reply.status == 201 || reply.code() == "request_in_progress")
    );
    let replay = ann.place(&key, &body).await.expect(201);
    assert!(replay.is_replay());
    assert_eq!(replay.id(), first.id());
    assert_eq!(shop.stock("1").await, 998);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_replay_shows_the_order_as_it_is_now() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 1)]);
    let id = ann.place(&key, &body).await.expect(201).id();
    ann.delete(&format!("/api/orders/{id}")).await.expect(204);

    let replay = ann.place(&key, &body).await.expect(201);

    assert!(replay.is_replay());
    assert_eq!(replay.body["status"], "CLOSED");
    assert_eq!(shop.stock("1").await, 1_000);
}

#[actix_web::test]
async fn spacing_and_the_order_of_fields_make_no_other_request() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 1)]);
    let id = ann.place(&key, &body).await.expect(201).id();
    let address = &body["address"];
    let rewritten = format!(
        "{{ \"address\" : {address},\n \"items\": [{{\"quantity\":1, \"product_id\":\"1\"}}], \
         \"expected_amount\": null, \"order_type\": \"NORMAL\" }}"
    );

    let request = ann
        .request(reqwest::Method::POST, "/api/orders")
        .header("Idempotency-Key", format!("\"{key}\""))
        .header("Content-Type", "application/json; charset=utf-8")
        .body(rewritten);
    let reply = crate::support::client::send(request).await.expect(201);

    assert!(reply.is_replay());
    assert_eq!(reply.id(), id);
}

#[actix_web::test]
async fn the_key_may_stand_in_the_body() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let mut body = order("NORMAL", &[("1", 1)]);
    let id = ann.place(&key, &body).await.expect(201).id();
    body["idempotency_key"] = json!(key);

    let reply = ann.post("/api/orders", &body).await.expect(201);

    assert!(reply.is_replay());
    assert_eq!(reply.id(), id);
}

#[actix_web::test]
async fn a_refused_creation_leaves_its_token_usable() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 5)]);
    shop.set_stock("1", 4).await;
    let refused = ann.place(&key, &body).await.expect(409);
    assert_eq!(
        (refused.code(), &refused.body["product_id"]),
        ("out_of_stock", &json!("1"))
    );
    shop.set_stock("1", 5).await;

    let reply = ann.place(&key, &body).await.expect(201);

    assert!(!reply.is_replay());
    assert_eq!(shop.stock("1").await, 0);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_finished_creation_is_replayed_whatever_the_shelf_says_now() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let mut body = order("NORMAL", &[("1", 1)]);
    body["expected_amount"] = json!(12_800);
    ann.place(&key, &body).await.expect(201);
    shop.set_stock("1", 0).await;
    let offer = json!({ "name": "Tea", "price": 1, "currency": "CNY", "on_sale": false });
    shop.operator()
        .put("/api/products/1", &offer, None)
        .await
        .expect(200);
    let shop = shop.restarted_without_memory().await;

    let reply = shop.customer("ann").place(&key, &body).await.expect(201);

    assert!(reply.is_replay());
}

#[actix_web::test]
async fn a_price_that_was_not_expected_buys_nothing() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let mut body = order("NORMAL", &[("1", 1)]);
    body["expected_amount"] = json!(12_799);

    let reply = ann.place(&ann.token().await, &body).await.expect(409);

    assert_eq!(reply.code(), "price_changed");
    assert_eq!(reply.body["amount"], 12_800);
    assert_eq!(shop.stock("1").await, 1_000);
}

#[actix_web::test]
async fn what_is_off_sale_or_unknown_is_not_sold() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let offer = json!({ "name": "Tea", "price": 12_800, "currency": "CNY", "on_sale": false });
    shop.operator()
        .put("/api/products/1", &offer, None)
        .await
        .expect(200);

    let off_sale = ann
        .place(&ann.token().await, &order("NORMAL", &[("1", 1)]))
        .await;
    let unknown = ann
        .place(&ann.token().await, &order("NORMAL", &[("77", 1)]))
        .await;

    assert_eq!((off_sale.status, off_sale.code()), (409, "not_on_sale"));
    assert_eq!((unknown.status, unknown.code()), (422, "invalid_fields"));
    assert_eq!(unknown.body["errors"][0]["field"], "items[0].product_id");
}

#[actix_web::test]
async fn products_of_two_currencies_are_ordered_apart() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let offer = json!({ "name": "Cup", "price": 900, "currency": "EUR", "on_sale": true });
    shop.operator()
        .put("/api/products/2", &offer, None)
        .await
        .expect(200);

    let reply = ann
        .place(&ann.token().await, &order("NORMAL", &[("1", 1), ("2", 1)]))
        .await;

    assert_eq!((reply.status, reply.code()), (422, "invalid_fields"));
}

#[actix_web::test]
async fn a_total_beyond_the_limit_is_refused() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let offer = json!({ "name": "Tea", "price": 1_000_000_000_000_i64, "currency": "CNY", "on_sale": true });
    shop.operator()
        .put("/api/products/1", &offer, None)
        .await
        .expect(200);

    let reply = ann
        .place(&ann.token().await, &order("NORMAL", &[("1", 1_000)]))
        .await;

    assert_eq!((reply.status, reply.code()), (422, "invalid_fields"));
    assert_eq!(reply.body["errors"][0]["field"], "items");
}

#[actix_web::test]
async fn a_service_orders_for_a_customer_under_its_own_key() {
    let shop = Shop::open().await;
    let program = shop.service("back-office");
    let mut body = order("NORMAL", &[("1", 1)]);
    body["user_id"] = json!("ann");

    let first = program.place("A-1", &body).await.expect(201);
    let again = program.place("A-1", &body).await.expect(201);

    assert_eq!(first.body["user_id"], "ann");
    assert!(again.is_replay());
    assert_eq!(again.id(), first.id());
    shop.customer("ann")
        .get(&format!("/api/orders/{}", first.id()))
        .await
        .expect(200);
}

#[actix_web::test]
async fn keys_that_differ_in_case_or_quoting_alone_are_different_keys() {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    let program = shop.service("back-office");
    let mut body = order("NORMAL", &[("1", 1)]);
    body["user_id"] = json!("ann");

    let lower = program.place("key-a", &body).await.expect(201);
    let upper = program.place("KEY-A", &body).await.expect(201);
    let accent = program.place("key-a.", &body).await.expect(201);
    let blank = program.place("\"key-a\"", &body).await.expect(201);

    let fresh = [&lower, &upper, &accent].map(Reply::is_replay);
    assert_eq!(fresh, [false; 3]);
    assert!(blank.is_replay());
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 3);
}

#[actix_web::test]
async fn callers_that_differ_in_a_trailing_blank_or_in_case_are_different_callers() {
    let shop = Shop::open().await;
    let mut body = order("FLASH_SALE", &[("1", 1)]);
    body["user_id"] = json!("ann");
    let mut blank = body.clone();
    blank["user_id"] = json!("ann ");
    let mut upper = body.clone();
    upper["user_id"] = json!("Ann");

    let replies = [
        shop.service("shop").place("k", &body).await,
        shop.service("shop ").place("k", &blank).await,
        shop.service("Shop").place("k", &upper).await,
    ];

    assert!(
        replies
            .iter()
            .all(|reply| reply.status == 201 && !reply.is_replay())
    );
    let ann = shop.customer("ann").get("/api/orders").await;
    assert_eq!(ann.body["data"].as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn two_callers_with_one_key_never_see_each_others_order() {
    let shop = Shop::open().await;
    let mut body = order("NORMAL", &[("1", 1)]);
    body["user_id"] = json!("ann");
    let mut other = body.clone();
    other["user_id"] = json!("bob");

    let one = shop.service("one").place("same", &body).await.expect(201);
    let two = shop.service("two").place("same", &other).await.expect(201);

    assert_ne!(one.id(), two.id());
    let path = format!("/api/orders/{}", one.id());
    assert_eq!(
        shop.customer("bob").get(&path).await.expect(404).code(),
        "not_found"
    );
}

#[actix_web::test]
async fn an_order_whose_record_was_archived_is_not_made_again() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 1)]);
    let first = ann.place(&key, &body).await.expect(201);
    shop.execute("DELETE FROM idempotency_record").await;
    let shop = shop.restarted_without_memory().await;

    let replay = shop.customer("ann").place(&key, &body).await.expect(201);

    assert!(replay.is_replay());
    assert_eq!(replay.header("Idempotency-Layer"), Some("order_unique"));
    assert_eq!(replay.id(), first.id());
    assert_eq!(shop.stock("1").await, 999);
}

/// One created it, the others got the replay or were asked to wait; the data shows it once.
async fn assert_one_order(shop: &Shop, replies: &[Reply]) {
    let created: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
    let firsts = created.iter().filter(|reply| !reply.is_replay()).count();
    assert_eq!(firsts, 1);
    assert!(created.iter().all(|reply| reply.id() == created[0].id()));
    let others = replies.iter().filter(|reply| reply.status != 201);
    for reply in others {
        assert_eq!((reply.status, reply.code()), (409, "request_in_progress"));
        assert_eq!(reply.header("Retry-After"), Some("1"));
    }
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 1);
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM stock_ledger WHERE reason = 'DEDUCT'")
            .await,
        1
    );
    assert_eq!(shop.number("SELECT COUNT(*) FROM order_event").await, 1);
    assert_eq!(shop.stock("1").await, 998);
    shop.assert_audit_is_clean().await;
}
