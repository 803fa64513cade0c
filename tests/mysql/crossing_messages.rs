//! Messages that cross at two instances without any Redis: whatever comes first, the order and its attempts agree.

use std::slice;

use serde_json::json;

use super::payments::{deliver_until_accepted, ready_to_pay, status};
use crate::support::gateway::{Attempt, Message, accepted};
use crate::support::{Client, Reply, Shop};

const ROUNDS: usize = 20;
const NO_REDIS: [(&str, &str); 1] = [("redis.url", "")];

#[actix_web::test]
async fn a_success_that_crosses_its_refund_leaves_nothing_parked() {
    let (shop, other) = without_redis().await;
    for round in 0..ROUNDS {
        let instances = in_turn(round, &shop, &other);
        let (ann, attempt) = ready_to_pay(&shop, &format!("ann-{round}")).await;
        let paid = attempt.paid(&format!("paid-{round}"));
        let refunded = attempt.refunded(&format!("refunded-{round}"), "gw-1", attempt.amount);

        cross(instances, &paid, &refunded).await;

        assert_eq!(status(&ann, &attempt).await, "REFUNDED");
        let parked = "SELECT COUNT(*) FROM payment_callback WHERE outcome = 'PARKED'";
        assert_eq!(shop.number(parked).await, 0);
    }
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_success_that_crosses_the_end_of_another_attempt_pays_the_order() {
    let (shop, other) = without_redis().await;
    for round in 0..ROUNDS {
        let instances = in_turn(round, &shop, &other);
        let (ann, first) = failed_once(&shop, round).await;
        let second = Attempt::start(&ann, &first.order).await;
        let (winner, loser) = if round % 4 < 2 {
            (&second, &first)
        } else {
            (&first, &second)
        };
        let paid = winner.paid(&format!("paid-{round}"));
        let closed = loser.closed(&format!("closed-{round}"));

        cross(instances, &paid, &closed).await;

        assert_eq!(status(&ann, &first).await, "PAID");
        assert_eq!(forgotten(&shop).await, 0);
    }
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_late_success_that_crosses_the_end_of_the_last_attempt_pays_or_goes_back_once() {
    let (shop, other) = without_redis().await;
    for round in 0..ROUNDS {
        let instances = in_turn(round, &shop, &other);
        let (ann, first) = failed_once(&shop, round).await;
        let last = Attempt::start(&ann, &first.order).await;
        let ended = first.closed(&format!("first-closed-{round}"));
        assert!(accepted(&ended.deliver(&shop).await));
        let paid = first.paid(&format!("paid-{round}"));
        let closed = last.closed(&format!("last-closed-{round}"));

        cross(instances, &paid, &closed).await;

        let refunds = format!(
            "SELECT COUNT(*) FROM refund WHERE order_id = {}",
            first.order
        );
        let refunds = shop.number(&refunds).await;
        match status(&ann, &first).await.as_str() {
            "PAID" => assert_eq!(refunds, 0),
            "CLOSED" => assert_eq!(refunds, 1),
            other => panic!("{other}"),
        }
        assert_eq!(forgotten(&shop).await, 0);
    }
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_end_of_an_attempt_that_crosses_the_start_of_another_forgets_neither() {
    let (shop, other) = without_redis().await;
    for round in 0..ROUNDS {
        let [one, two] = in_turn(round, &shop, &other);
        let (ann, first) = failed_once(&shop, round).await;
        let closed = first.closed(&format!("closed-{round}"));

        let (started, heard) = tokio::join!(start(&ann, &first, one), closed.deliver(two));

        assert!(accepted(&heard));
        let last = match (started.status, status(&ann, &first).await.as_str()) {
            (201, "PAYING") => "LIVE",
            (409, "CLOSED") => "CLOSED",
            (code, status) => panic!("{code} {status}: {}", started.body),
        };
        let count = format!(
            "SELECT COUNT(*) FROM payment WHERE order_id = {} AND status = '{last}'",
            first.order
        );
        assert_eq!(shop.number(&count).await, 1);
        assert_eq!(forgotten(&shop).await, 0);
    }
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_success_that_crosses_the_start_of_another_attempt_leaves_none_to_pay_again() {
    let (shop, other) = without_redis().await;
    for round in 0..ROUNDS {
        let [one, two] = in_turn(round, &shop, &other);
        let (ann, first) = failed_once(&shop, round).await;
        let paid = first.paid(&format!("paid-{round}"));

        let (started, heard) = tokio::join!(start(&ann, &first, one), paid.deliver(two));

        assert!(accepted(&heard));
        assert!([201, 409].contains(&started.status), "{}", started.body);
        assert_eq!(status(&ann, &first).await, "PAID");
        assert_eq!(forgotten(&shop).await, 0);
    }
    shop.assert_audit_is_clean().await;
}

/// Two instances whose locks know nothing of each other.
async fn without_redis() -> (Shop, Shop) {
    let shop = Shop::open_with(&NO_REDIS).await;
    let (place, clock) = (shop.place.clone(), shop.app.clock.clone());
    let other = Shop::open_at(place, clock, &NO_REDIS).await;
    (shop, other)
}

fn in_turn<'a>(round: usize, shop: &'a Shop, other: &'a Shop) -> [&'a Shop; 2] {
    if round.is_multiple_of(2) {
        [shop, other]
    } else {
        [other, shop]
    }
}

/// Two messages at once, each at an instance of its own.
async fn cross([one, two]: [&Shop; 2], left: &Message, right: &Message) {
    let (one, two) = ([one], [two]);
    tokio::join!(
        deliver_until_accepted(&one, slice::from_ref(left)),
        deliver_until_accepted(&two, slice::from_ref(right)),
    );
}

/// Attempts that may still bring money to an order that wants none, and whose end nobody asked for.
async fn forgotten(shop: &Shop) -> i64 {
    shop.number(
        "SELECT COUNT(*) FROM payment p JOIN orders o ON o.id = p.order_id \
         WHERE o.status IN ('PAID', 'CLOSED') AND p.status IN ('CREATED', 'LIVE', 'FAILED') \
         AND p.close_requested_at IS NULL",
    )
    .await
}

/// A customer whose first attempt failed, so that he may start another.
async fn failed_once(shop: &Shop, round: usize) -> (Client, Attempt) {
    let (buyer, first) = ready_to_pay(shop, &format!("ann-{round}")).await;
    let failed = first.failed(&format!("failed-{round}"));
    assert!(accepted(&failed.deliver(shop).await));
    (buyer, first)
}

/// Asks for another attempt at an instance.
async fn start(buyer: &Client, first: &Attempt, shop: &Shop) -> Reply {
    let path = format!("/api/orders/{}/payments", first.order);
    let sandbox = json!({ "gateway": "sandbox" });
    buyer.at(&shop.base).post(&path, &sandbox).await
}
