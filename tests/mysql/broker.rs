//! The bus over RabbitMQ: what it calls handed over arrives at each consumer, and none of them waits for another.

use std::cell::Cell;
use std::rc::Rc;

use entity::order::OrderStatus;
use futures_util::future::join_all;
use lapin::types::{FieldTable, LongString};
use order_service::domain::events::{
    Consumer, ORDER_PAID, PAYMENT_RETIRED, REFUND_REQUESTED, of_arrival,
};
use order_service::error::Error;
use order_service::events::Message;
use tokio::sync::Notify;

use crate::support::bench::{Bench, Taken, in_the_end, message};

const RETIRED_BY: Consumer = Consumer::AttemptClosing;

#[actix_web::test]
async fn a_message_reaches_each_of_its_consumers_as_it_was_and_comes_once() {
    let bench = Bench::with_prefetch(1);
    let sent = message(ORDER_PAID, 1);
    let (taken, expected) = (Taken::default(), sent.clone());
    let record = taken.clone();
    let delivering = bench.deliver(async move |consumer, message: &Message| {
        assert_eq!(*message, expected);
        record.push(consumer, message);
        Ok(())
    });

    for _ in 0..3 {
        bench.publish(&sent).await.unwrap();
    }

    for consumer in Consumer::ALL {
        let times = if consumer.interests().contains(&ORDER_PAID) {
            3
        } else {
            0
        };
        in_the_end(async || taken.of(consumer).len() == times).await;
    }
    delivering.abort();
}

#[actix_web::test]
async fn a_message_waits_for_its_consumers() {
    let bench = Bench::open();

    bench.publish(&message(REFUND_REQUESTED, 1)).await.unwrap();

    bench.holds(Consumer::RefundExecution, 1).await;
    bench.holds(Consumer::Notifications, 1).await;
    bench.holds(Consumer::LoyaltyPoints, 0).await;
}

#[actix_web::test]
async fn a_message_that_nobody_here_acts_on_is_handed_over_too() {
    let bench = Bench::open();
    let kind = of_arrival(OrderStatus::Finished);
    assert_eq!(Consumer::of(kind).next(), None);

    let published = bench.publish(&message(kind, 1)).await;

    assert_eq!(published, Ok(()));
}

#[actix_web::test]
async fn a_message_without_its_queue_is_not_handed_over_and_the_next_one_finds_the_queue_again() {
    let bench = Bench::open();
    bench.publish(&message(PAYMENT_RETIRED, 1)).await.unwrap();
    bench.delete_queue(RETIRED_BY).await;

    let returned = bench.publish(&message(PAYMENT_RETIRED, 2)).await;
    let next = bench.publish(&message(PAYMENT_RETIRED, 3)).await;

    let refusal = returned.unwrap_err().to_string();
    assert_eq!(refusal, "the broker has no queue for it");
    assert_eq!(next, Ok(()));
    bench.holds(RETIRED_BY, 1).await;
}

#[actix_web::test]
async fn of_many_published_at_once_each_learns_of_itself_whether_it_was_handed_over() {
    for _ in 0..5 {
        let bench = Bench::open();
        bench.publish(&message(ORDER_PAID, 0)).await.unwrap();
        bench.delete_queue(RETIRED_BY).await;
        let kind = |event| [ORDER_PAID, PAYMENT_RETIRED][usize::from(event > 100)];
        let messages: Vec<Message> = (1..=200).map(|event| message(kind(event), event)).collect();

        let published = join_all(messages.iter().map(|message| bench.publish(message))).await;

        let handed_over = |kind: &str| {
            let all = messages.iter().zip(&published);
            let own = all.filter(|(message, result)| message.kind == kind && result.is_ok());
            u32::try_from(own.count()).unwrap()
        };
        assert!(handed_over(PAYMENT_RETIRED) < 100);
        assert_eq!(handed_over(ORDER_PAID), 100);
        bench.holds(Consumer::LoyaltyPoints, 101).await;
        // The one that comes now sees to the queue, should nobody have needed it since.
        bench.hand_over(&message(PAYMENT_RETIRED, 201)).await;
        let retired = handed_over(PAYMENT_RETIRED) + 1;
        bench.holds(RETIRED_BY, retired).await;
    }
}

#[actix_web::test]
async fn what_cannot_be_taken_is_tried_until_it_can_and_then_acknowledged() {
    let bench = Bench::with_prefetch(1);
    let (taken, tries) = (Taken::default(), Rc::new(Cell::new(0)));
    let (record, counter) = (taken.clone(), Rc::clone(&tries));
    let delivering = bench.deliver(async move |consumer, message: &Message| {
        if message.event_id == 1 && counter.replace(counter.get() + 1) < 2 {
            return Err(Error::Busy);
        }
        record.push(consumer, message);
        Ok(())
    });

    for event in 1..=3 {
        bench
            .publish(&message(PAYMENT_RETIRED, event))
            .await
            .unwrap();
    }

    taken.sees(RETIRED_BY, 3).await;
    assert_eq!(taken.of(RETIRED_BY), [1, 2, 3]);
    assert_eq!(tries.get(), 3);
    delivering.abort();
}

#[actix_web::test]
async fn what_cannot_be_taken_holds_up_nothing_else() {
    let bench = Bench::open();
    let taken = Taken::default();
    let record = taken.clone();
    let delivering = bench.deliver(async move |consumer, message: &Message| {
        if message.event_id == 1 && consumer == Consumer::Notifications {
            return Err(Error::Busy);
        }
        record.push(consumer, message);
        Ok(())
    });

    for event in 1..=40 {
        bench.publish(&message(ORDER_PAID, event)).await.unwrap();
    }

    for event in 2..=40 {
        taken.sees(Consumer::Notifications, event).await;
    }
    taken.sees(Consumer::LoyaltyPoints, 1).await;
    delivering.abort();
    bench.holds(Consumer::Notifications, 1).await;
}

#[actix_web::test]
async fn a_slow_one_holds_up_no_other() {
    let bench = Bench::open();
    let (taken, go_on) = (Taken::default(), Rc::new(Notify::new()));
    let (record, gate) = (taken.clone(), Rc::clone(&go_on));
    let delivering = bench.deliver(async move |consumer, message: &Message| {
        if message.event_id == 1 {
            gate.notified().await;
        }
        record.push(consumer, message);
        Ok(())
    });
    bench.publish(&message(ORDER_PAID, 1)).await.unwrap();

    for event in 2..=40 {
        bench
            .publish(&message(PAYMENT_RETIRED, event))
            .await
            .unwrap();
        bench.publish(&message(ORDER_PAID, event)).await.unwrap();
    }

    taken.sees(RETIRED_BY, 40).await;
    taken.sees(Consumer::LoyaltyPoints, 40).await;
    assert!(!taken.of(Consumer::LoyaltyPoints).contains(&1));
    go_on.notify_waiters();
    taken.sees(Consumer::LoyaltyPoints, 1).await;
    delivering.abort();
}

#[actix_web::test]
async fn what_is_not_taken_when_delivering_ends_comes_again() {
    let bench = Bench::open();
    let called = Rc::new(Cell::new(false));
    let flag = Rc::clone(&called);
    let delivering = bench.deliver(async move |_, _: &Message| {
        flag.set(true);
        Err(Error::Busy)
    });
    bench.publish(&message(PAYMENT_RETIRED, 1)).await.unwrap();
    in_the_end(async || called.get()).await;

    delivering.abort();

    bench.holds(RETIRED_BY, 1).await;
    let taken = Taken::default();
    let delivering = bench.deliver_to(&taken);
    taken.sees(RETIRED_BY, 1).await;
    delivering.abort();
}

#[actix_web::test]
async fn a_body_that_cannot_be_read_is_counted_and_holds_up_nothing() {
    let bench = Bench::open();
    let taken = Taken::default();
    let delivering = bench.deliver_to(&taken);
    bench.publish(&message(PAYMENT_RETIRED, 1)).await.unwrap();

    for _ in 0..40 {
        bench.slip_in(PAYMENT_RETIRED, b"{\"event_id\":2}").await;
    }
    bench.publish(&message(PAYMENT_RETIRED, 3)).await.unwrap();

    taken.sees(RETIRED_BY, 3).await;
    in_the_end(async || bench.bus.unreadable() == 40).await;
    delivering.abort();
    bench.holds(RETIRED_BY, 0).await;
    assert_eq!(taken.of(RETIRED_BY), [1, 3]);
}

#[actix_web::test]
async fn a_queue_that_is_deleted_while_it_is_consumed_is_made_again() {
    let bench = Bench::open();
    let taken = Taken::default();
    let delivering = bench.deliver_to(&taken);
    bench.publish(&message(PAYMENT_RETIRED, 1)).await.unwrap();
    taken.sees(RETIRED_BY, 1).await;

    bench.delete_queue(RETIRED_BY).await;
    bench.hand_over(&message(PAYMENT_RETIRED, 2)).await;

    taken.sees(RETIRED_BY, 2).await;
    delivering.abort();
}

#[actix_web::test]
async fn a_queue_that_an_operator_gave_a_limit_is_used_as_it_is() {
    let bench = Bench::open();
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), LongString::from("quorum").into());
    arguments.insert("x-delivery-limit".into(), 7.into());
    bench.declare_queue(RETIRED_BY, arguments).await;

    let published = bench.publish(&message(PAYMENT_RETIRED, 1)).await;

    assert_eq!(published, Ok(()));
    bench.holds(RETIRED_BY, 1).await;
}
