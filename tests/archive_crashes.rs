//! SIGKILL at any moment while old rows are moved into files: none is lost, none is twice in the files.

use std::time::Duration;

use rand::RngExt;

use crate::support::archived::{
    Whereabouts, files, old_callbacks, old_logs, old_records, whereabouts,
};
use crate::support::binary::{run, spawn};
use crate::support::faults::Aside;
use crate::support::shop::Place;

const ROUNDS: usize = 40;
const ROWS: [(&str, usize); 3] = [
    ("payment_callback", 1_500),
    ("message_consume_log", 1_000),
    ("idempotency_record", 1_000),
];

/// Many files, each deleted in many transactions.
const SMALL: [(&str, &str); 3] = [
    ("ORDER__ARCHIVE__BATCH", "150"),
    ("ORDER__ARCHIVE__SLICE", "20"),
    ("ORDER__ARCHIVE__PAUSE", "0ms"),
];

#[actix_web::test]
async fn killed_at_any_moment_an_archive_loses_no_row_and_has_none_twice() {
    let place = Place::fresh().await;
    assert!(run(&place, &[], &["migrate"]).status.success());
    let aside = Aside::to(&place).await;
    old_callbacks(&aside, ROWS[0].1, "2026-01-01").await;
    old_logs(&aside, ROWS[1].1, "2026-01-01").await;
    old_records(&aside, ROWS[2].1, "2026-01-01").await;

    let mut interrupted = 0;
    for _ in 0..ROUNDS {
        run_until_killed(&place).await;
        // As the lease does by itself after a while.
        aside.execute("DELETE FROM lease").await;
        let open = "SELECT COUNT(*) FROM archive_file WHERE state <> 'DELETED'";
        interrupted += aside.number(open).await;
        for (table, rows) in ROWS {
            found(&place, &aside, table).await.assert_none_is_lost(rows);
        }
    }
    assert!(interrupted > 0, "no kill came while a file was open");

    let last = run(&place, &SMALL, &["archive", "run"]);
    assert!(last.status.success(), "{last:?}");
    for (table, rows) in ROWS {
        let found = found(&place, &aside, table).await;
        found.assert_all_are_in_files(rows);
    }
    let known = "SELECT COUNT(*) FROM archive_file WHERE state = 'DELETED'";
    let lying = i64::try_from(files(&place.archive()).len()).unwrap();
    assert_eq!(aside.number(known).await, lying);
    let verified = run(&place, &[], &["archive", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

/// The kill comes a random while after the start, which takes a part of it.
async fn run_until_killed(place: &Place) {
    let mut archive = spawn(place, &SMALL, &["archive", "run"]);
    let moment = Duration::from_micros(rand::rng().random_range(10_000..200_000));
    tokio::time::sleep(moment).await;
    archive.kill().unwrap();
    archive.wait().unwrap();
}

async fn found(place: &Place, aside: &Aside, table: &str) -> Whereabouts {
    whereabouts(aside, &place.archive(), table).await
}
