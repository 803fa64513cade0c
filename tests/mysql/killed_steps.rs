//! SIGKILL between two given statements of a callback: a row or key that the next one needs is held by the test.

use order_service::clock::Clock;
use order_service::settings::{Profile, Settings};

use crate::support::binary::{Binary, run};
use crate::support::entrance::eventually;
use crate::support::faults::{Aside, Blockade};
use crate::support::gateway::{Attempt, Message, accepted, secret};
use crate::support::order;
use crate::support::shop::Place;

/// The dead process's lock on the order ends with its lease; till then the gateway hears failure.
const SHORT: [(&str, &str); 1] = [("ORDER__LOCK__LEASE", "1s")];

/// The statement before which the process is killed.
#[derive(Debug, Clone, Copy)]
enum Before {
    OrderIsLocked,
    RecordIsInserted,
    SlotsAreFreed,
    StockIsGivenBack,
}

#[actix_web::test]
async fn killed_before_the_order_is_locked_a_success_is_booked_later() {
    killed(Before::OrderIsLocked, "PAID").await;
}

#[actix_web::test]
async fn killed_before_the_record_is_inserted_a_success_is_booked_later() {
    killed(Before::RecordIsInserted, "PAID").await;
}

#[actix_web::test]
async fn killed_when_payment_and_order_are_moved_a_success_is_booked_later() {
    killed(Before::SlotsAreFreed, "PAID").await;
}

#[actix_web::test]
async fn killed_when_all_but_the_stock_is_written_an_order_closes_later() {
    killed(Before::StockIsGivenBack, "CLOSED").await;
}

/// The first delivery dies with the process and hears nothing; nothing of it stays. The second one is applied.
async fn killed(before: Before, end: &str) {
    let place = Place::fresh().await;
    let mut server = Binary::start(&place, &SHORT);
    let ann = server.sign_in("ann", "customer").await;
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &id).await;
    let message = match before {
        Before::StockIsGivenBack => attempt.closed("evt-1"),
        _ => attempt.paid("evt-1"),
    };
    let aside = Aside::to(&place).await;
    let blockade = blockade(&aside, before, &attempt).await;
    let door = server.anonymous();
    let kill = async {
        eventually(async || aside.number(waiting(before)).await == 1).await;
        server.kill();
    };
    let (heard, ()) = tokio::join!(deliver(&message, &door), kill);
    drop(blockade);

    let server = Binary::start(&place, &SHORT);
    let kept = aside.number("SELECT COUNT(*) FROM payment_callback").await;
    let door = server.anonymous();
    eventually(async || {
        deliver(&message, &door)
            .await
            .is_some_and(|reply| accepted(&reply))
    })
    .await;

    assert!(heard.is_none(), "{before:?}: {heard:?}");
    assert_eq!(kept, 0, "{before:?}");
    let ann = server.sign_in("ann", "customer").await;
    let order = ann.get(&format!("/api/orders/{id}")).await.expect(200);
    assert_eq!(order.body["status"], end, "{before:?}");
    assert_eq!(run(&place, &[], &["audit"]).stdout, b"audit: clean\n");
}

/// What the next statement needs, in the test's hands.
async fn blockade(aside: &Aside, before: Before, attempt: &Attempt) -> Blockade {
    let id = &attempt.order;
    let sql = match before {
        Before::OrderIsLocked => format!("SELECT id FROM orders WHERE id = {id} FOR UPDATE"),
        Before::SlotsAreFreed => {
            format!("SELECT id FROM order_item WHERE order_id = {id} FOR UPDATE")
        }
        Before::StockIsGivenBack => {
            "SELECT quantity FROM stock WHERE product_id = 1 FOR UPDATE".to_owned()
        }
        Before::RecordIsInserted => "SELECT 1".to_owned(),
    };
    let blockade = aside.block_by(&sql).await;
    if let Before::RecordIsInserted = before {
        // The same event's key, in a transaction that never commits.
        blockade
            .execute(
                "INSERT INTO payment_callback (gateway, event_id, biz_key, kind, payment_id, order_id, trade_no, \
                 refund_no, amount, currency, event_time, outcome, deliveries, raw, created_at, updated_at) \
                 VALUES ('sandbox', 'evt-1', 'event:evt-1', 'paid', 0, 0, '', '', 0, 'CNY', NOW(), 'STALE', 1, '', \
                 NOW(), NOW())",
            )
            .await;
    }
    blockade
}

/// How many callbacks have come to the statement that is blocked.
const fn waiting(before: Before) -> &'static str {
    match before {
        Before::OrderIsLocked => {
            "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND command <> 'Sleep' AND info LIKE 'SELECT `orders`%FOR UPDATE%'"
        }
        Before::RecordIsInserted => {
            "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND command <> 'Sleep' AND info LIKE 'INSERT INTO `payment_callback`%'"
        }
        Before::SlotsAreFreed => {
            "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND command <> 'Sleep' AND info LIKE 'UPDATE `order_item`%'"
        }
        Before::StockIsGivenBack => {
            "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND command <> 'Sleep' AND info LIKE 'UPDATE `stock`%'"
        }
    }
}

/// `None` when the server went away before it had answered.
async fn deliver(
    message: &Message,
    door: &crate::support::Client,
) -> Option<crate::support::Reply> {
    let secret = secret(&Settings::of(Profile::Test, &[]).unwrap());
    message
        .try_deliver(door, Clock::System.now(), &secret)
        .await
        .ok()
}
