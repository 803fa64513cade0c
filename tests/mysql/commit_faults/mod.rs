//! What the network and the server can do to a BEGIN, a statement, a COMMIT and a ROLLBACK, at every door that says
//! success: what heard success is there, what is there is single.

mod background;
mod doors;
mod vanished;

use futures_util::future::join_all;

use crate::support::faults::{crowd, insist_all};
use crate::support::order;
use crate::support::sql_proxy::{Fault, Moment, Rule};
use doors::{CHANGES, Door, Pair, Request};

const FAILED_COMMITS: [Fault; 6] = [
    Fault::Cut,
    Fault::CutAfter,
    // As Galera and group replication do; an error during COMMIT; an error of the disk.
    Fault::Answer(1213),
    Fault::Answer(3100),
    Fault::Answer(1180),
    Fault::Answer(1026),
];

/// More often than a transaction is tried.
const STUBBORN: usize = 9;

#[actix_web::test]
async fn a_commit_that_fails_once_is_found_or_done_again() {
    let pair = Pair::open(&[]).await;
    for door in CHANGES {
        for fault in FAILED_COMMITS {
            assert_heals(&pair, door, Moment::Commit, fault).await;
        }
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn a_begin_that_fails_once_is_done_again_on_another_connection() {
    let pair = Pair::open(&[]).await;
    for door in [&CHANGES[..], &[Door::Repeat]].concat() {
        for fault in [Fault::Cut, Fault::CutAfter, Fault::Answer(1047)] {
            assert_heals(&pair, door, Moment::Begin, fault).await;
        }
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn a_statement_that_fails_once_undoes_those_before_it_and_all_is_done_again() {
    let pair = Pair::open(&[]).await;
    for door in CHANGES {
        for fault in [
            Fault::Cut,
            Fault::CutAfter,
            Fault::Answer(1213),
            Fault::Answer(1026),
        ] {
            assert_heals(&pair, door, Moment::Statement(1), fault).await;
            assert_heals(&pair, door, Moment::Statement(2), fault).await;
        }
    }
    assert_heals(&pair, Door::Repeat, Moment::Statement(1), Fault::CutAfter).await;
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn a_rollback_that_fails_leaves_nothing_behind() {
    let pair = Pair::open(&[]).await;
    for door in CHANGES {
        for fault in [Fault::Cut, Fault::CutAfter, Fault::Answer(1180)] {
            let conflict = Rule::new(Moment::Statement(2), Fault::Answer(1213)).times(1);
            let conflict = pair.proxy.arm(conflict);
            assert_heals(&pair, door, Moment::Rollback, fault).await;
            assert_eq!(conflict.met(), 1, "{door:?}");
        }
    }
    for fault in [Fault::Cut, Fault::CutAfter, Fault::Answer(1180)] {
        assert_heals(&pair, Door::Repeat, Moment::Rollback, fault).await;
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn a_statement_outside_any_transaction_that_fails_once_is_read_again() {
    let pair = Pair::open(&[]).await;
    for door in [Door::Order, Door::Replay, Door::Repeat, Door::Callback] {
        for fault in [Fault::Cut, Fault::CutAfter, Fault::Answer(1047)] {
            assert_heals(&pair, door, Moment::Alone, fault).await;
        }
    }
    let record = Moment::Text("FROM `idempotency_record`");
    for door in [Door::Replay, Door::Repeat] {
        assert_heals(&pair, door, record, Fault::CutAfter).await;
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn commits_that_fail_for_as_long_as_they_are_tried_lose_and_double_nothing() {
    let pair = Pair::open(&[]).await;
    for door in CHANGES {
        for fault in FAILED_COMMITS {
            assert_comes_to_one(&pair, door, Moment::Commit, fault).await;
        }
        assert_comes_to_one(&pair, door, Moment::Begin, Fault::Cut).await;
        assert_comes_to_one(&pair, door, Moment::Statement(2), Fault::CutAfter).await;
        assert_comes_to_one(&pair, door, Moment::Statement(2), Fault::Answer(1213)).await;
    }
    for fault in [Fault::Cut, Fault::Answer(1047)] {
        assert_comes_to_one(&pair, Door::Replay, Moment::Alone, fault).await;
        assert_comes_to_one(&pair, Door::Repeat, Moment::Begin, fault).await;
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn what_is_never_answered_is_unknown_at_the_deadline_and_single_afterwards() {
    let pair = Pair::open(&[("server.deadline", "500ms")]).await;
    for door in CHANGES {
        for (moment, fault) in [
            (Moment::Begin, Fault::Swallow),
            (Moment::Statement(2), Fault::SwallowAfter),
            (Moment::Commit, Fault::Swallow),
            (Moment::Commit, Fault::SwallowAfter),
        ] {
            assert_comes_to_one(&pair, door, moment, fault).await;
        }
    }
    assert_comes_to_one(&pair, Door::Repeat, Moment::Rollback, Fault::Swallow).await;
    assert_comes_to_one(&pair, Door::Replay, Moment::Alone, Fault::Swallow).await;
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn eight_at_once_through_commits_that_fail_are_one() {
    let pair = Pair::open(&[]).await;
    for door in CHANGES {
        for fault in [
            Fault::Cut,
            Fault::CutAfter,
            Fault::Answer(1213),
            Fault::Answer(3100),
        ] {
            let request = Request::prepare(&pair, door).await;
            let rule = pair.proxy.arm(Rule::new(Moment::Commit, fault).times(3));

            let heard = join_all((0..8).map(|_| request.send())).await;

            pair.proxy.lift();
            assert!(rule.met() > 0, "{door:?} {fault:?}");
            if heard.iter().filter(|reply| request.is_done(reply)).count() > 0 {
                request.assert_done_once().await;
            }
            request.insist().await;
            request.assert_done_once().await;
        }
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn of_64_buyers_each_has_one_order_although_every_third_commit_fails() {
    for fault in FAILED_COMMITS {
        let pair = Pair::open(&[]).await;
        let buyers = crowd(&pair.faulty, 64).await;
        let body = order("NORMAL", &[("1", 2)]);
        let rule = pair.proxy.arm(Rule::new(Moment::Commit, fault).every(3));

        let heard = insist_all(&buyers, &body).await;

        pair.proxy.lift();
        assert!(rule.met() >= 20, "{fault:?}: {}", rule.met());
        let mut ids: Vec<String> = heard.iter().map(|reply| reply.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 64, "{fault:?}");
        for (buyer, reply) in buyers.iter().zip(&heard) {
            let again = buyer.place(&body).await.expect(201);
            assert!(again.is_replay() && again.id() == reply.id(), "{fault:?}");
        }
        let orders = "SELECT COUNT(*) FROM orders";
        assert_eq!(pair.healthy.number(orders).await, 64, "{fault:?}");
        assert_eq!(pair.healthy.stock("1").await, 872, "{fault:?}");
        pair.assert_is_well().await;
    }
}

#[actix_web::test]
async fn while_each_commit_is_refused_the_instance_is_not_ready_and_says_why() {
    let pair = Pair::open(&[]).await;
    let ready = pair.faulty.anonymous();
    for (number, reason) in [
        (1180, "commit_fails"),
        (3100, "commit_fails"),
        (1026, "io_error"),
    ] {
        let request = Request::prepare(&pair, Door::Order).await;
        pair.proxy
            .arm(Rule::new(Moment::Commit, Fault::Answer(number)));

        let refused = request.send().await.expect(503);
        let readiness = ready.get("/readyz").await.expect(503);
        let kind = format!("database_trouble{{kind=\"{reason}\"}}");
        let during = pair.faulty.metric(&kind).await;

        assert_eq!(refused.code(), "database_unavailable", "{number}");
        assert_eq!(refused.header("Retry-After"), Some("1"), "{number}");
        assert_eq!(readiness.body["reasons"]["database"], reason, "{number}");
        assert_eq!(during, 1, "{number}");
        pair.proxy.lift();
        assert!(request.is_done(&request.send().await), "{number}");
        request.assert_done_once().await;
        ready.get("/readyz").await.expect(200);
        assert_eq!(pair.faulty.metric(&kind).await, 0, "{number}");
    }
    pair.assert_is_well().await;
}

/// The server says no and leaves the transaction open: whoever had the connection next would be inside it.
#[actix_web::test]
async fn a_connection_that_an_error_left_in_a_transaction_is_closed() {
    let pair = Pair::open(&[]).await;
    let closed = async |reason| {
        let counter = format!("database_connections_closed_total{{reason=\"{reason}\"}}");
        pair.faulty.try_metric(&counter).await.unwrap_or_default()
    };
    for (door, moment, number, reason) in [
        (Door::Order, Moment::Commit, 1213, "in_transaction"),
        (Door::Callback, Moment::Commit, 1213, "in_transaction"),
        (Door::Order, Moment::Commit, 3100, "broken"),
        (Door::Repeat, Moment::Rollback, 1213, "in_transaction"),
        (Door::Repeat, Moment::Rollback, 1180, "broken"),
        (Door::Order, Moment::Begin, 1213, "in_transaction"),
    ] {
        let before = closed(reason).await;

        assert_heals(&pair, door, moment, Fault::Refuse(number)).await;

        let after = closed(reason).await;
        assert_eq!(after, before + 1, "{door:?}, {moment:?}, {number}");
    }
    pair.assert_is_well().await;
}

/// The fault happens once: the service itself finds out or tries again, and the client hears success at once.
async fn assert_heals(pair: &Pair, door: Door, moment: Moment, fault: Fault) {
    let request = Request::prepare(pair, door).await;
    let rule = pair.proxy.arm(Rule::new(moment, fault).times(1));

    let heard = request.send().await;

    pair.proxy.lift();
    let case = format!("{door:?}, {moment:?}, {fault:?}");
    assert_eq!(rule.met(), 1, "{case}");
    // The sandbox does not try again: its buyer does.
    let is_heard = request.is_done(&heard) || heard.code() == "gateway_unknown";
    assert!(is_heard, "{case}: {heard:?}");
    request.insist().await;
    request.assert_done_once().await;
}

/// The fault outlasts the tries; whatever the client hears, the same request comes to one effect once it is over.
async fn assert_comes_to_one(pair: &Pair, door: Door, moment: Moment, fault: Fault) {
    let request = Request::prepare(pair, door).await;
    let rule = pair.proxy.arm(Rule::new(moment, fault).times(STUBBORN));

    let heard = request.send().await;

    pair.proxy.lift();
    assert!(rule.met() > 0, "{door:?}, {moment:?}, {fault:?}");
    if request.is_done(&heard) {
        request.assert_done_once().await;
    }
    request.insist().await;
    request.assert_done_once().await;
}
