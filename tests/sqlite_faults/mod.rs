//! BEGIN, a statement, COMMIT and ROLLBACK fail under every door that says success: what was said is stored, once, and
//! the same request has its effect when the fault is gone.

mod doors;

use chrono::TimeDelta;
use futures_util::future::join_all;

use crate::support::entrance::eventually;
use crate::support::faults::crowd;
use crate::support::place::Profile;
use crate::support::{Shop, order};
use doors::{Case, Door};

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// One of the last statements, which alone is undone.
    Statement,
    /// The same; what it changed before stays.
    HalfStatement,
    /// The same, and `SQLite` rolls all back by itself: the ROLLBACK that follows finds no transaction.
    Rollback,
    /// COMMIT, which leaves the transaction open.
    Commit,
}

#[actix_web::test]
async fn of_a_begin_that_finds_the_file_locked_nothing_is_promised_and_nothing_stays() {
    if Profile::current() == Profile::Mysql {
        return;
    }
    let mut cases = Vec::new();
    for door in Door::ALL {
        cases.push(Case::ready(door).await);
    }
    let blockades = join_all(cases.iter().map(|case| case.aside.block(1))).await;

    let said = join_all(cases.iter().map(Case::knock)).await;

    for (case, said) in cases.iter().zip(said) {
        assert!(!said, "{:?} said success", case.door);
        assert_eq!(case.effects().await, 0, "{:?}", case.door);
    }
    for (case, blockade) in cases.iter().zip(blockades) {
        blockade.lift().await;
        assert_it_goes_on(case, Fault::Statement).await;
    }
}

#[actix_web::test]
async fn of_a_statement_that_fails_nothing_is_promised_and_nothing_stays() {
    every_door_meets(Fault::Statement).await;
    every_door_meets(Fault::HalfStatement).await;
}

#[actix_web::test]
async fn of_a_transaction_that_the_database_ended_by_itself_nothing_is_promised_and_nothing_stays()
{
    every_door_meets(Fault::Rollback).await;
}

#[actix_web::test]
async fn of_a_commit_that_fails_nothing_is_promised_and_nothing_stays() {
    every_door_meets(Fault::Commit).await;
}

#[actix_web::test]
async fn a_connection_that_found_no_page_is_closed_and_its_order_is_made_on_another() {
    if Profile::current() == Profile::Mysql {
        return;
    }
    let shop = Shop::open().await;
    let buyers = crowd(&shop, 40).await;
    // Of the one connection that writes: as large as the file is now.
    shop.execute("PRAGMA max_page_count = 1").await;

    let body = order("NORMAL", &[("1", 1)]);
    let replies = join_all(buyers.iter().map(|buyer| buyer.place(&body))).await;

    assert!(replies.iter().all(|reply| reply.status == 201));
    // SQLite had rolled back by itself, so the ROLLBACK that followed failed.
    assert_eq!(closed(&shop, "in_transaction").await, 1);
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 40);
    shop.assert_audit_is_clean().await;
}

async fn every_door_meets(fault: Fault) {
    if Profile::current() == Profile::Mysql {
        return;
    }
    for door in Door::ALL {
        let case = Case::ready(door).await;
        strike(&case, fault).await;
        let first = case.knock().await;
        let second = case.knock().await;
        let effects = case.effects().await;
        let left_open = closed(&case.shop, "in_transaction").await;

        mend(&case).await;

        assert!(!first && !second, "{door:?} said success at {fault:?}");
        assert_eq!(effects, door.stays(), "{door:?} {fault:?}");
        let closes = door.is_transaction() && [Fault::Rollback, Fault::Commit].contains(&fault);
        assert_eq!(
            left_open > 0,
            closes,
            "{door:?} {fault:?}: {left_open} closed"
        );
        assert_it_goes_on(&case, fault).await;
    }
}

/// The same request has its effect once, however often it comes now, and others are served too.
async fn assert_it_goes_on(case: &Case, fault: Fault) {
    let about = format!("{:?} after {fault:?}", case.door);
    if case.door == Door::Relay {
        // It left its claim, which ends by itself.
        eventually(async || case.knock().await).await;
    }
    for _ in 0..3 {
        assert!(case.knock().await, "{about}");
        assert_eq!(case.effects().await, 1, "{about}");
    }
    if case.door == Door::Consumer {
        case.shop.advance(TimeDelta::hours(2));
        case.shop.retry_messages().await;
        let failures = "SELECT COUNT(*) FROM message_failure";
        assert_eq!(case.shop.number(failures).await, 0, "{about}");
        assert_eq!(case.effects().await, 1, "{about}");
    }
    let zoe = case.shop.customer("zoe");
    let id = zoe.buy(&order("NORMAL", &[("6", 1)])).await;
    zoe.get(&format!("/api/orders/{id}")).await.expect(200);
    case.shop.assert_audit_is_clean().await;
}

/// From now on the door's last change meets this.
async fn strike(case: &Case, fault: Fault) {
    let change = case.door.late_change();
    let raised = |how| format!("SELECT RAISE({how}, 'a fault of the test')");
    let (moment, act) = match fault {
        Fault::Statement => ("BEFORE", raised("ABORT")),
        Fault::HalfStatement => ("AFTER", raised("FAIL")),
        Fault::Rollback => ("AFTER", raised("ROLLBACK")),
        Fault::Commit => ("AFTER", "INSERT INTO fault_child VALUES (1)".to_owned()),
    };
    case.aside
        .execute(&format!(
            "CREATE TABLE fault_parent (id INTEGER PRIMARY KEY);
             CREATE TABLE fault_child
                 (parent INTEGER REFERENCES fault_parent (id) DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER fault {moment} {change} BEGIN {act}; END"
        ))
        .await;
}

async fn mend(case: &Case) {
    case.aside
        .execute("DROP TRIGGER fault; DROP TABLE fault_child; DROP TABLE fault_parent")
        .await;
}

/// How many connections were closed for this reason.
async fn closed(shop: &Shop, reason: &str) -> i64 {
    let metrics = reqwest::get(format!("{}/metrics", shop.base)).await;
    let text = metrics.unwrap().text().await.unwrap();
    let name = format!("database_connections_closed_total{{reason=\"{reason}\"}} ");
    text.lines()
        .find_map(|line| line.strip_prefix(&name))
        .map_or(0, |count| count.parse().unwrap())
}
