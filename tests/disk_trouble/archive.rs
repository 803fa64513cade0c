//! The archive on a full disk: no row is lost, none is twice in files, and the run says why it ended.

use std::time::Duration;

use super::Ground;
use crate::support::archived::{Whereabouts, old_callbacks, whereabouts};
use crate::support::binary::run;
use crate::support::disk_faults::Fault;
use crate::support::entrance::{eventually, eventually_within};

const ROWS: usize = 3_000;
const NO_ROOM: &str = "No space left on device";
/// What each file of the archive has in its name.
const FILE: &str = ".zst";
/// A busy machine that writes, reads back and deletes.
const PATIENT: Duration = Duration::from_mins(1);

/// Files of 1,000 rows that are deleted 200 at a time.
const SMALL: [(&str, &str); 3] = [
    ("ORDER__ARCHIVE__BATCH", "1000"),
    ("ORDER__ARCHIVE__SLICE", "200"),
    ("ORDER__ARCHIVE__PAUSE", "0ms"),
];
/// One file, which takes many writes.
const NIGHTLY: [(&str, &str); 5] = [
    SMALL[1],
    SMALL[2],
    ("ORDER__JOBS__ENABLED", "true"),
    ("ORDER__JOBS__SCHEDULES__ARCHIVE", "* * * * * *"),
    ("ORDER__EVENTS__POLL", "50ms"),
];

#[actix_web::test]
async fn a_run_that_finds_no_room_for_its_file_says_so_and_the_next_one_loses_nothing() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };
    old_callbacks(&ground.aside, ROWS, "2026-01-01").await;
    let environment = ground.disk.environment(&SMALL);
    ground.disk.meets_at(Fault::Full, FILE);
    let failed = run(&ground.place, &environment, &["archive", "run"]);
    assert!(ground.disk.met() > 0, "no call met the fault");
    let meanwhile = found(&ground).await;

    ground.disk.recovers();
    let done = run(&ground.place, &environment, &["archive", "run"]);

    let said = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1));
    assert!(said.contains(NO_ROOM), "{said}");
    meanwhile.assert_none_is_lost(ROWS);
    assert_eq!(meanwhile.in_table.len(), ROWS, "rows left for no file");
    assert!(done.status.success(), "{done:?}");
    assert_archived_once(&ground).await;
}

#[actix_web::test]
async fn whatever_call_finds_no_room_the_archive_loses_no_row_and_has_none_twice() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };
    old_callbacks(&ground.aside, ROWS, "2026-01-01").await;
    let environment = ground.disk.environment(&SMALL);
    let mut cut_short = 0;
    for call in [3, 9, 20, 40, 70, 110] {
        ground.disk.fills_up_after(call);
        let ended = run(&ground.place, &environment, &["archive", "run"]);
        cut_short += usize::from(!ended.status.success());
        ground.disk.recovers();
        // As the lease does by itself after a while.
        ground.aside.execute("DELETE FROM lease").await;
        found(&ground).await.assert_none_is_lost(ROWS);
    }

    let last = run(&ground.place, &environment, &["archive", "run"]);

    assert!(cut_short >= 3, "{cut_short} runs met the fault");
    assert!(last.status.success(), "{last:?}");
    assert_archived_once(&ground).await;
}

/// Room ends while a file is written: the end of the run cannot be noted then, and is noted later.
#[actix_web::test]
async fn a_job_whose_disk_filled_up_on_the_way_says_why_once_there_is_room() {
    let Some(ground) = Ground::open(&NIGHTLY).await else {
        return;
    };
    ground.disk.meets_at(Fault::Hanging, FILE);
    old_callbacks(&ground.aside, ROWS, "2026-01-01").await;
    ground.disk.is_met().await;
    ground.disk.meets_everywhere(Fault::Full);
    eventually(async || met_its_file_and_then_the_database(&ground)).await;
    let meanwhile = found(&ground).await;

    ground.disk.recovers();
    let open = "SELECT COUNT(*) FROM payment_callback";
    eventually_within(PATIENT, async || ground.number(open).await == 0).await;
    let unfinished = "SELECT COUNT(*) FROM archive_file WHERE state <> 'DELETED'";
    eventually(async || ground.number(unfinished).await == 0).await;

    meanwhile.assert_none_is_lost(ROWS);
    assert_archived_once(&ground).await;
    // The table remembers more runs than an operator is shown at once.
    let noted = format!(
        "SELECT COUNT(*) FROM job_run WHERE job = 'archive' AND outcome = 'FAILED' \
         AND finished_at IS NOT NULL AND done LIKE '%{NO_ROOM}%'"
    );
    let runs = "SELECT outcome || ' ' || done FROM job_run WHERE job = 'archive'";
    let is_noted = ground.number(&noted).await == 1;
    assert!(is_noted, "{:#?}", ground.aside.texts(runs).await);
}

/// The file finds no room, which ends the run, and then its end finds none.
fn met_its_file_and_then_the_database(ground: &Ground) -> bool {
    let places = ground.disk.places_met();
    let mut after = places.iter().skip_while(|place| !place.contains(FILE));
    after.any(|place| place.contains("orders.db"))
}

async fn found(ground: &Ground) -> Whereabouts {
    whereabouts(&ground.aside, &ground.place.archive(), "payment_callback").await
}

async fn assert_archived_once(ground: &Ground) {
    found(ground).await.assert_all_are_in_files(ROWS);
    let verified = run(&ground.place, &[], &["archive", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
    ground.assert_audit_is_clean();
}
