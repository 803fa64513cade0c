//! RabbitMQ is killed or hangs while the bus is in use: it costs time, never a message.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use order_service::domain::events::{Consumer, PAYMENT_RETIRED};
use order_service::error::Error;
use order_service::events::{Bus, Message};

use crate::support::bench::{Bench, Taken, in_the_end, message};
use crate::support::rabbitmq_server::RabbitMqServer;

const RETIRED_BY: Consumer = Consumer::AttemptClosing;

#[actix_web::test]
async fn a_killed_broker_costs_time_and_no_message() {
    let mut server = RabbitMqServer::start();
    let bench = Bench::of(&server, Duration::from_secs(10));
    bench.hand_over(&message(PAYMENT_RETIRED, 0)).await;
    server.settle();
    let (taken, up) = (Taken::default(), Rc::new(Cell::new(true)));
    let (record, flag) = (taken.clone(), Rc::clone(&up));
    let delivering = bench.deliver(async move |consumer, message: &Message| {
        if flag.get() && message.event_id == 20 {
            return Err(Error::Busy);
        }
        record.push(consumer, message);
        Ok(())
    });
    for event in 1..=20 {
        bench.hand_over(&message(PAYMENT_RETIRED, event)).await;
    }
    taken.sees(RETIRED_BY, 19).await;

    server.kill();
    in_the_end(async || bench.bus.trouble() == Some("unreachable")).await;
    let started = Instant::now();
    for event in 21..=60 {
        let refused = bench.publish(&message(PAYMENT_RETIRED, event)).await;
        refused.unwrap_err();
    }
    let waited = started.elapsed();
    up.set(false);
    server.restart();
    for event in 21..=60 {
        bench.hand_over(&message(PAYMENT_RETIRED, event)).await;
    }

    assert!(waited < Duration::from_secs(5), "{waited:?}");
    for event in 0..=60 {
        taken.sees(RETIRED_BY, event).await;
    }
    assert_eq!(bench.bus.trouble(), None);
    delivering.abort();
    bench.holds(RETIRED_BY, 0).await;
}

#[actix_web::test]
async fn while_the_broker_hangs_few_publishes_wait_for_it() {
    let server = RabbitMqServer::start();
    let bench = Bench::of(&server, Duration::from_secs(1));
    bench.hand_over(&message(PAYMENT_RETIRED, 1)).await;

    server.pause();
    let started = Instant::now();
    for event in 2..=40 {
        bench
            .publish(&message(PAYMENT_RETIRED, event))
            .await
            .unwrap_err();
    }
    let waited = started.elapsed();
    server.resume();

    assert!(waited < Duration::from_secs(5), "{waited:?}");
    bench.hand_over(&message(PAYMENT_RETIRED, 41)).await;
}
