//! SIGKILL in the middle of a stream of gateway messages, several times on the same data.

use std::collections::HashSet;
use std::future::ready;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use order_service::clock::Clock;
use order_service::settings::{Profile, Settings};
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::support::binary::{Binary, run};
use crate::support::entrance::eventually;
use crate::support::faults::Aside;
use crate::support::gateway::{Attempt, Message, accepted, secret};
use crate::support::order;
use crate::support::shop::Place;

const ROUNDS: usize = 4;
/// In each round, as many of each fate.
const NEWCOMERS: usize = 20;
const IN_FLIGHT: usize = 12;
/// So long a gateway repeats in vain: well beyond the ten seconds for which a killed holder keeps its lock.
const PATIENCE: Duration = Duration::from_secs(40);

/// What the gateway tells of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Paid,
    Closed,
    /// Paid, and all of it given back by the gateway.
    Refunded,
    /// Cancelled by its owner and paid all the same.
    PaidLate,
    /// Closed and paid, which contradict each other: the first to come decides.
    Crossed,
}

const FATES: [Fate; 5] = [
    Fate::Paid,
    Fate::Closed,
    Fate::Refunded,
    Fate::PaidLate,
    Fate::Crossed,
];

/// An order with all that will be said about it.
#[derive(Debug)]
struct Case {
    fate: Fate,
    attempt: Attempt,
    messages: Vec<Message>,
}

#[actix_web::test]
async fn killed_at_any_moment_it_loses_no_message_that_it_called_a_success() {
    let place = Place::fresh().await;

    let aside = through_crashes(&place, "false").await;

    let asked = "SELECT COUNT(*) FROM refund WHERE origin = 'AUTOMATIC' AND status <> 'REQUESTED'";
    assert_eq!(aside.number(asked).await, 0, "nobody asks without the loop");
}

#[actix_web::test]
async fn killed_with_its_loops_at_work_it_gives_late_money_back_once() {
    let place = Place::fresh().await;

    let aside = through_crashes(&place, "true").await;

    let late = "SELECT COUNT(*) FROM payment WHERE role = 'SURPLUS'";
    let late = aside.number(late).await;
    assert!(late >= 16, "{late} paid late");
    // Who was killed while he asked would wait for the next time.
    let due = "UPDATE refund SET next_ask_at = created_at";
    aside.execute(due).await;
    let _server = Binary::start(&place, &loops("true"));
    let open = "SELECT COUNT(*) FROM refund WHERE status IN ('REQUESTED', 'PROCESSING')";
    eventually(async || aside.number(open).await == 0).await;
    let ends = "SELECT status FROM refund WHERE origin = 'AUTOMATIC'";
    let ends = aside.texts(ends).await;
    assert!(ends.iter().all(|end| end == "SUCCEEDED"), "{ends:?}");
    assert_eq!(i64::try_from(ends.len()), Ok(late));
    let given = "SELECT COUNT(*) FROM sandbox_refund WHERE refund_no LIKE 'auto-%'";
    assert_eq!(aside.number(given).await, late);
    assert_audit_is_clean(&place);
}

/// Rounds of messages and kills; then all are delivered until accepted, and the books are looked at.
async fn through_crashes(place: &Place, jobs: &str) -> Aside {
    let jobs = loops(jobs);
    let mut cases = Vec::new();
    let mut promised = HashSet::new();
    for round in 0..ROUNDS {
        let mut server = Binary::start(place, &jobs);
        cases.extend(newcomers(&server, round).await);
        promised.extend(until_killed(&mut server, &cases).await);
        let aside = Aside::to(place).await;
        assert_kept(&aside, &promised).await;
    }
    assert!(!promised.is_empty(), "nothing was accepted before a kill");
    let mut server = Binary::start(place, &jobs);

    let messages: Vec<&Message> = cases.iter().flat_map(|case| &case.messages).collect();
    deliver_until_accepted(&server, &messages).await;

    server.kill();
    let aside = Aside::to(place).await;
    let all = messages.iter().map(|message| message.id.clone()).collect();
    assert_kept(&aside, &all).await;
    for case in &cases {
        assert_came_true(&aside, case).await;
    }
    assert_audit_is_clean(place);
    aside
}

/// Whether the loops run; what the dead held ends soon.
fn loops(enabled: &str) -> [(&str, &str); 4] {
    [
        ("ORDER__JOBS__ENABLED", enabled),
        ("ORDER__JOBS__LEASE", "1s"),
        ("ORDER__EVENTS__LEASE", "1s"),
        ("ORDER__JOBS__SCHEDULES__RETRY_REFUNDS", "* * * * * *"),
    ]
}

async fn newcomers(server: &Binary, round: usize) -> Vec<Case> {
    let cases = (0..NEWCOMERS).map(|number| async move {
        let name = format!("buyer-{round}-{number}");
        let buyer = server.sign_in(&name, "customer").await;
        let id = buyer.buy(&order("NORMAL", &[("1", 1)])).await;
        let attempt = Attempt::start(&buyer, &id).await;
        let fate = FATES[number % FATES.len()];
        if fate == Fate::PaidLate {
            buyer.delete(&format!("/api/orders/{id}")).await.expect(204);
        }
        Case::new(fate, attempt)
    });
    join_all(cases).await
}

impl Case {
    fn new(fate: Fate, attempt: Attempt) -> Self {
        let paid = attempt.paid(&format!("paid-{}", attempt.id));
        let closed = attempt.closed(&format!("closed-{}", attempt.id));
        let messages = match fate {
            Fate::Paid | Fate::PaidLate => vec![paid],
            Fate::Closed => vec![closed],
            Fate::Crossed => vec![closed, paid],
            Fate::Refunded => {
                let id = format!("refunded-{}", attempt.id);
                vec![attempt.refunded(&id, "gw-1", attempt.amount), paid]
            }
        };
        Self {
            fate,
            attempt,
            messages,
        }
    }
}

/// The gateway sends each message twice, the newcomers' first; the process is killed a random while after a random
/// number of answers. Tells which events heard success.
async fn until_killed(server: &mut Binary, cases: &[Case]) -> HashSet<String> {
    let answers = rand::rng().random_range(0..NEWCOMERS * 2);
    let moment = Duration::from_micros(rand::rng().random_range(0..20_000));
    let (earlier, new) = cases.split_at(cases.len() - NEWCOMERS);
    let messages = [shuffled_twice(new), shuffled_twice(earlier)].concat();
    let (door, secret) = (server.anonymous(), sandbox_secret());
    let sending = messages.iter().map(|message| async {
        let reply = message.try_deliver(&door, Clock::System.now(), &secret);
        (message.id.clone(), reply.await)
    });
    let mut replies = stream::iter(sending).buffer_unordered(IN_FLIGHT);
    let mut heard: Vec<_> = replies.by_ref().take(answers).collect().await;
    let more = replies.by_ref().for_each(|reply| {
        heard.push(reply);
        ready(())
    });
    let _ = tokio::time::timeout(moment, more).await;
    server.kill();
    heard.extend(replies.collect::<Vec<_>>().await);
    let successes = heard
        .into_iter()
        .filter(|(_, reply)| reply.as_ref().is_ok_and(accepted));
    successes.map(|(id, _)| id).collect()
}

fn shuffled_twice(cases: &[Case]) -> Vec<&Message> {
    let once = || cases.iter().flat_map(|case| &case.messages);
    let mut messages: Vec<&Message> = once().chain(once()).collect();
    messages.shuffle(&mut rand::rng());
    messages
}

async fn deliver_until_accepted(server: &Binary, messages: &[&Message]) {
    let (door, secret) = (server.anonymous(), sandbox_secret());
    let started = Instant::now();
    let mut waiting = messages.to_vec();
    while !waiting.is_empty() {
        assert!(started.elapsed() < PATIENCE, "never accepted: {waiting:?}");
        let sending = waiting.iter().map(|message| async {
            let reply = message.try_deliver(&door, Clock::System.now(), &secret);
            (!accepted(&reply.await.unwrap())).then_some(*message)
        });
        let replies = stream::iter(sending).buffer_unordered(IN_FLIGHT);
        waiting = replies.filter_map(ready).collect().await;
    }
}

fn sandbox_secret() -> Vec<u8> {
    secret(&Settings::of(Profile::Test, &[]).unwrap())
}

/// Each event has its record.
async fn assert_kept(aside: &Aside, events: &HashSet<String>) {
    let known = aside.texts("SELECT event_id FROM payment_callback").await;
    let known: HashSet<String> = known.into_iter().collect();
    let lost: Vec<&String> = events.difference(&known).collect();
    assert!(lost.is_empty(), "heard success and are lost: {lost:?}");
}

/// The order ended as the gateway said, and its money was counted once.
async fn assert_came_true(aside: &Aside, case: &Case) {
    let id = &case.attempt.order;
    let statuses = format!("SELECT status FROM orders WHERE id = {id}");
    let status = aside.texts(&statuses).await.remove(0);
    let events =
        format!("SELECT COUNT(*) FROM order_event WHERE order_id = {id} AND type = 'OrderPaid'");
    let refunds = format!(
        "SELECT COUNT(*) FROM refund WHERE order_id = {id} AND amount = {}",
        case.attempt.amount
    );
    let counted = (aside.number(&events).await, aside.number(&refunds).await);
    let right = match (case.fate, status.as_str()) {
        (Fate::Paid | Fate::Crossed, "PAID") => (1, 0),
        (Fate::Closed, "CLOSED") => (0, 0),
        (Fate::Refunded, "REFUNDED") => (1, 1),
        (Fate::PaidLate | Fate::Crossed, "CLOSED") => (0, 1),
        _ => panic!("{case:?} is {status}"),
    };
    assert_eq!(counted, right, "{case:?} is {status}");
}

fn assert_audit_is_clean(place: &Place) {
    let audit = run(place, &[], &["audit"]);
    assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
    assert_eq!(audit.status.code(), Some(0));
}
