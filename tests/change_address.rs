//! `PUT /api/orders/{id}/address`: the same again changes nothing.

use futures_util::future::join_all;
use order_service::domain::order_flow::Move;

use crate::support::client::address;
use crate::support::{Shop, order};

#[actix_web::test]
async fn the_same_address_a_hundred_times_is_one_change_and_one_event() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}/address");
    let new = address("Lake View 2");

    let replies = join_all((0..100).map(|_| ann.put(&path, &new, Some(1)))).await;

    assert!(
        replies
            .iter()
            .all(|reply| reply.status == 200 && reply.body["version"] == 2)
    );
    assert!(
        replies
            .iter()
            .all(|reply| reply.body["address"]["line1"] == "Lake View 2")
    );
    assert_eq!(shop.number("SELECT COUNT(*) FROM order_event").await, 2);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_old_version_changes_nothing_and_an_equal_address_needs_none() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}/address");
    let changed = ann
        .put(&path, &address("Lake View 2"), Some(1))
        .await
        .expect(200);
    assert_eq!(changed.header("ETag"), Some("\"2\""));

    let old = ann
        .put(&path, &address("Hill Road 3"), Some(1))
        .await
        .expect(412);
    let equal = ann
        .put(&path, &address("Lake View 2"), Some(1))
        .await
        .expect(200);
    let last_wins = ann
        .put(&path, &address("Hill Road 3"), None)
        .await
        .expect(200);

    assert_eq!(old.code(), "version_conflict");
    assert_eq!(equal.body["version"], 2);
    assert_eq!(last_wins.body["version"], 3);
}

#[actix_web::test]
async fn of_two_different_addresses_at_once_one_wins() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}/address");

    let replies = join_all((0..20).map(|n| {
        let (ann, path) = (ann.clone(), path.clone());
        async move {
            ann.put(&path, &address(&format!("House {n}")), Some(1))
                .await
        }
    }))
    .await;

    assert_eq!(
        replies.iter().filter(|reply| reply.status == 200).count(),
        1
    );
    assert!(
        replies
            .iter()
            .all(|reply| reply.status == 200 || reply.code() == "version_conflict")
    );
}

#[actix_web::test]
async fn once_the_parcel_has_left_another_address_is_refused() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}/address");
    shop.simulate(&id, &[Move::Pay]).await;
    ann.put(&path, &address("Lake View 2"), None)
        .await
        .expect(200);
    shop.simulate(&id, &[Move::Ship]).await;

    let late = ann
        .put(&path, &address("Hill Road 3"), None)
        .await
        .expect(409);
    let equal = ann.put(&path, &address("Lake View 2"), None).await;

    assert_eq!(
        (late.code(), &late.body["order_status"]),
        ("order_state_conflict", &"SHIPPED".into())
    );
    assert_eq!(equal.status, 200);
}

#[actix_web::test]
async fn only_the_owner_and_operators_may_readdress() {
    let shop = Shop::open().await;
    let id = shop
        .customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    let path = format!("/api/orders/{id}/address");
    let new = address("Lake View 2");

    let stranger = shop.customer("bob").put(&path, &new, None).await;
    let program = shop.service("ann").put(&path, &new, None).await;
    let operator = shop.operator().put(&path, &new, None).await;

    assert_eq!(
        [stranger.status, program.status, operator.status],
        [404, 403, 200]
    );
}
