//! The same for what runs behind the doors: the relay, the consumers of either bus, a job.

use order_service::jobs::relay;
use order_service::services::archive::{self, Options};

use super::doors::Pair;
use super::{FAILED_COMMITS, STUBBORN};
use crate::support::archived::{
    files, finished_order_of, old_callbacks, old_logs, verified, whereabouts,
};
use crate::support::entrance::eventually_within;
use crate::support::faults::{Aside, PATIENCE};
use crate::support::shop::unsettled;
use crate::support::sql_proxy::{Fault, Moment, Rule};

/// What a relay claimed when it broke off is free again soon.
const BROKER: [(&str, &str); 1] = [("events.lease", "1s")];
const IN_PROCESS: [(&str, &str); 2] = [("rabbitmq.url", ""), BROKER[0]];
/// Files of 100 rows that are deleted 30 at a time.
const SMALL: [(&str, &str); 3] = [
    ("archive.batch", "100"),
    ("archive.slice", "30"),
    ("archive.pause", "0ms"),
];
const WAITING: &str = "SELECT COUNT(*) FROM order_event WHERE published_at IS NULL";

#[actix_web::test]
async fn events_in_process_have_one_effect_each_through_commits_that_fail() {
    let pair = Pair::open(&IN_PROCESS).await;
    for (number, fault) in FAILED_COMMITS.into_iter().enumerate() {
        for every in [1, 3] {
            let buyer = format!("buyer-{number}-{every}");
            assert_relayed_once(&pair, &buyer, Moment::Commit, fault, every).await;
        }
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn events_in_process_have_one_effect_each_through_statements_that_fail() {
    let pair = Pair::open(&IN_PROCESS).await;
    for (number, moment) in [Moment::Begin, Moment::Statement(1), Moment::Alone]
        .into_iter()
        .enumerate()
    {
        for fault in [Fault::Cut, Fault::CutAfter] {
            let buyer = format!("buyer-{number}-{fault:?}");
            assert_relayed_once(&pair, &buyer, moment, fault, 2).await;
        }
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn messages_of_the_broker_are_acknowledged_once_their_effect_is_stored() {
    let pair = Pair::open(&BROKER).await;
    for (number, fault) in FAILED_COMMITS.into_iter().enumerate() {
        for every in [1, 3] {
            let buyer = format!("buyer-{number}-{every}");
            assert_relayed_once(&pair, &buyer, Moment::Commit, fault, every).await;
        }
    }
    pair.assert_is_well().await;
}

#[actix_web::test]
async fn an_archive_through_commits_that_fail_has_each_row_once() {
    for fault in [
        Fault::Cut,
        Fault::CutAfter,
        Fault::Answer(1213),
        Fault::Answer(1180),
    ] {
        assert_archived_once(Moment::Commit, fault, 2).await;
    }
}

#[actix_web::test]
async fn an_archive_through_statements_that_fail_has_each_row_once() {
    assert_archived_once(Moment::Begin, Fault::CutAfter, 3).await;
    assert_archived_once(Moment::Statement(1), Fault::Answer(1026), 3).await;
    assert_archived_once(Moment::Alone, Fault::CutAfter, 4).await;
}

/// A finished order's events, handed over and acted on while each so-manieth command of a kind fails for a while.
async fn assert_relayed_once(pair: &Pair, buyer: &str, moment: Moment, fault: Fault, every: usize) {
    finished_order_of(&pair.healthy, buyer).await;
    let rule = Rule::new(moment, fault).every(every).times(STUBBORN);
    let rule = pair.proxy.arm(rule);
    let shop = &pair.faulty;
    shop.deliver();

    eventually_within(PATIENCE, async || {
        let relayed = relay::relay(&shop.app).await;
        let is_settled = pair.healthy.number(&unsettled()).await == 0;
        relayed.is_ok() && is_settled && pair.healthy.number(WAITING).await == 0
    })
    .await;

    pair.proxy.lift();
    let case = format!("{moment:?}, {fault:?}, {every}");
    assert!(rule.met() > 0, "{case}");
    let shop = &pair.healthy;
    let told = format!("SELECT COUNT(*) FROM notification WHERE user_id = '{buyer}'");
    assert_eq!(shop.number(&told).await, 3, "placed, paid, shipped: {case}");
    let movements = format!("SELECT COUNT(*) FROM points_ledger WHERE user_id = '{buyer}'");
    assert_eq!(shop.number(&movements).await, 1, "{case}");
    // A database in trouble is no failure of a message.
    let failed = "SELECT COUNT(*) FROM message_failure";
    assert_eq!(shop.number(failed).await, 0, "{case}");
    shop.assert_audit_is_clean().await;
}

/// Runs until one comes to its end; each row is in one file and in no table.
async fn assert_archived_once(moment: Moment, fault: Fault, every: usize) {
    let pair = Pair::open(&SMALL).await;
    let aside = Aside::to(&pair.healthy.place).await;
    old_callbacks(&aside, 450, "2026-01-01").await;
    old_logs(&aside, 250, "2026-01-01").await;
    let archive = pair.healthy.place.archive();
    let rule = Rule::new(moment, fault).every(every).times(2 * STUBBORN);
    let rule = pair.proxy.arm(rule);

    eventually_within(PATIENCE, async || {
        let ran = archive::run(&pair.faulty.app, &Options::default(), &|_| {}).await;
        for (table, rows) in [("payment_callback", 450), ("message_consume_log", 250)] {
            let found = whereabouts(&aside, &archive, table).await;
            found.assert_none_is_lost(rows);
        }
        ran.is_ok_and(|report| report.is_complete)
    })
    .await;

    pair.proxy.lift();
    assert!(rule.met() > 1, "{moment:?}, {fault:?}");
    for (table, rows) in [("payment_callback", 450), ("message_consume_log", 250)] {
        let found = whereabouts(&aside, &archive, table).await;
        found.assert_all_are_in_files(rows);
    }
    let finished = "SELECT COUNT(*) FROM archive_file WHERE state = 'DELETED'";
    let lying = i64::try_from(files(&archive).len()).unwrap();
    assert_eq!(aside.number(finished).await, lying, "{moment:?}, {fault:?}");
    assert_eq!(verified(&pair.healthy), 0, "{moment:?}, {fault:?}");
    pair.assert_is_well().await;
}
