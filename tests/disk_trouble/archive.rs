//! The archive on a full disk: no row is lost, none is twice in files, and the run says why it ended.

use super::Ground;
use crate::support::archived::{old_callbacks, whereabouts};
use crate::support::binary::run;
use crate::support::disk_faults::Fault;

const ROWS: usize = 3_000;
const NO_ROOM: &str = "No space left on device";
/// What each file of the archive has in its name.
const FILE: &str = ".zst";
/// Files of 1,000 rows that are deleted 200 at a time.
const SMALL: [(&str, &str); 3] = [
    ("ORDER__ARCHIVE__BATCH", "1000"),
    ("ORDER__ARCHIVE__SLICE", "200"),
    ("ORDER__ARCHIVE__PAUSE", "0ms"),
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

async fn found(ground: &Ground) -> crate::support::archived::Whereabouts {
    whereabouts(&ground.aside, &ground.place.archive(), "payment_callback").await
}

async fn assert_archived_once(ground: &Ground) {
    found(ground).await.assert_all_are_in_files(ROWS);
    let verified = run(&ground.place, &[], &["archive", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
    ground.assert_audit_is_clean();
}
