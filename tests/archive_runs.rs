//! Runs of the archive that are cut off, paused, misled or in each other's way.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use chrono::TimeDelta;
use futures_util::future::{Either, select};
use futures_util::{FutureExt, future};
use order_service::clock::Clock;
use order_service::error::{Error, Result};
use order_service::services::archive::{self, LEASE, Options, Progress};
use order_service::services::operations::job_lease::{self, Held};

use crate::support::Shop;
use crate::support::archived::{
    archived, files, finished_order, old_callbacks, old_logs, old_records, paid_order_of, rows,
    verified, whereabouts,
};
use crate::support::binary::run;
use crate::support::entrance::eventually;
use crate::support::faults::Aside;
use crate::support::shop::Place;

/// Files of 100 rows that are deleted 30 at a time.
const SMALL: [(&str, &str); 3] = [
    ("archive.batch", "100"),
    ("archive.slice", "30"),
    ("archive.pause", "0ms"),
];

/// As if the process had died there: the run is dropped at each of its steps, one step further each time.
#[actix_web::test]
async fn a_run_that_ends_after_any_step_is_finished_by_the_next() {
    let shop = Shop::open_with(&SMALL).await;
    let aside = Aside::to(&shop.place).await;
    old_callbacks(&aside, 450, "2026-01-01").await;
    old_logs(&aside, 250, "2026-01-01").await;
    old_records(&aside, 250, "2026-01-01").await;
    let archive = shop.place.archive();

    for steps in 1..12 {
        stopped_after(&shop, steps).await;
        for (table, rows) in [
            ("payment_callback", 450),
            ("message_consume_log", 250),
            ("idempotency_record", 250),
        ] {
            whereabouts(&aside, &archive, table)
                .await
                .assert_none_is_lost(rows);
        }
    }
    let report = archived(&shop).await;

    assert!(report.is_complete && report.resumed > 0);
    for (table, rows) in [
        ("payment_callback", 450),
        ("message_consume_log", 250),
        ("idempotency_record", 250),
    ] {
        whereabouts(&aside, &archive, table)
            .await
            .assert_all_are_in_files(rows);
    }
    assert_eq!(verified(&shop), 0);
    let unfinished = "SELECT COUNT(*) FROM archive_file WHERE state <> 'DELETED'";
    assert_eq!(shop.number(unfinished).await, 0);
}

/// Paused where it waits for something: the first is not polled while another process runs the second.
#[actix_web::test]
async fn a_run_that_was_paused_while_another_took_over_doubles_nothing() {
    for stage in [
        Stage::Found,
        Stage::Written,
        Stage::Deleted,
        Stage::Finished,
    ] {
        // The pause keeps the paused run out of a transaction.
        let shop = Shop::open_with(&[SMALL[0], SMALL[1], ("archive.pause", "10ms")]).await;
        let aside = Aside::to(&shop.place).await;
        old_callbacks(&aside, 250, "2026-01-01").await;
        let paused = AtomicBool::new(false);
        let watch = |progress: &Progress<'_>| {
            paused.fetch_or(stage_of(progress) == stage, Ordering::SeqCst);
        };
        let options = Options::default();
        let mut first = Box::pin(archive::run(&shop.app, &options, &watch));
        let until_paused = future::poll_fn(|context| {
            assert!(first.poll_unpin(context).is_pending());
            if paused.load(Ordering::SeqCst) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        until_paused.await;

        let second = run(&shop.place, &[], &["archive", "run"]);
        let ended = first.await;

        assert!(second.status.success(), "{second:?}");
        let found = whereabouts(&aside, &shop.place.archive(), "payment_callback").await;
        found.assert_all_are_in_files(250);
        assert!(
            ended.is_err() || stage != Stage::Written,
            "{stage:?}: {ended:?}"
        );
        assert_eq!(verified(&shop), 0, "{stage:?}");
        shop.assert_audit_is_clean().await;
    }
}

#[actix_web::test]
async fn orders_and_callbacks_go_on_meanwhile() {
    let shop = Shop::open_with(&[
        ("archive.batch", "500"),
        ("archive.slice", "50"),
        ("archive.pause", "1ms"),
    ])
    .await;
    let aside = Aside::to(&shop.place).await;
    old_callbacks(&aside, 3_000, "2026-01-01").await;
    let is_done = Cell::new(false);

    let (report, placed) = future::join(
        async {
            let report = archived(&shop).await;
            is_done.set(true);
            report
        },
        async {
            let mut placed = 0;
            while !is_done.get() {
                paid_order_of(&shop, &format!("buyer-{placed}")).await;
                placed += 1;
            }
            placed
        },
    )
    .await;

    assert!(report.is_complete && placed > 0);
    assert_eq!(rows(&shop, "payment_callback").await, placed);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_damaged_file_is_told_of_and_nothing_is_deleted_for_it() {
    let shop = Shop::open_with(&SMALL).await;
    let aside = Aside::to(&shop.place).await;
    old_callbacks(&aside, 100, "2026-01-01").await;
    // Found, written, the first slice deleted.
    stopped_after(&shop, 3).await;
    let left = rows(&shop, "payment_callback").await;
    assert_eq!(left, 70);
    let path = files(&shop.place.archive()).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();

    let failure = archive::run(&shop.app, &Options::default(), &|_| {})
        .await
        .unwrap_err();

    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(failure.cause().contains(name), "{}", failure.cause());
    assert_eq!(rows(&shop, "payment_callback").await, left);
    assert_eq!(verified(&shop), 1);
}

#[actix_web::test]
async fn verify_tells_of_files_that_are_missing_and_of_files_that_nobody_knows() {
    let shop = Shop::open_with(&SMALL).await;
    let aside = Aside::to(&shop.place).await;
    old_callbacks(&aside, 250, "2026-01-01").await;
    archived(&shop).await;
    assert_eq!(verified(&shop), 0);

    let path = files(&shop.place.archive()).remove(0);
    fs::rename(&path, path.with_file_name("stray.ndjson.zst")).unwrap();

    assert_eq!(verified(&shop), 2);
}

#[actix_web::test]
async fn another_directory_than_the_archives_stops_the_run_with_a_sentence() {
    let shop = Shop::open().await;
    finished_order(&shop).await;
    shop.advance(TimeDelta::days(31));
    archived(&shop).await;
    let marker = shop.place.archive().join("archive.id");
    let id = fs::read_to_string(&marker).unwrap();

    fs::remove_file(&marker).unwrap();
    let missing = refused(&shop).await;
    fs::write(&marker, "another").unwrap();
    let foreign = refused(&shop).await;
    let looked = run(&shop.place, &[], &["archive", "verify"]);
    fs::write(&marker, &id).unwrap();

    for sentence in [&missing, &foreign] {
        assert!(sentence.contains("ORDER__ARCHIVE__DIRECTORY"), "{sentence}");
        assert!(sentence.contains(id.trim()), "{sentence}");
    }
    assert_eq!(looked.status.code(), Some(1));
    assert!(archived(&shop).await.is_complete);
}

#[actix_web::test]
async fn a_directory_that_holds_another_databases_archive_is_refused() {
    let (first, second) = (Shop::open().await, Place::fresh().await);
    finished_order(&first).await;
    first.advance(TimeDelta::days(31));
    archived(&first).await;
    let theirs = first.place.archive().display().to_string();
    let clock = Clock::manual(first.app.clock.now());

    let shop = Shop::open_at(second.into(), clock, &[("archive.directory", &theirs)]).await;

    assert!(refused(&shop).await.contains("another database"));
}

#[actix_web::test]
async fn when_the_window_is_over_the_rest_waits_for_the_next_run() {
    let shop = Shop::open_with(&SMALL).await;
    let aside = Aside::to(&shop.place).await;
    old_callbacks(&aside, 350, "2026-01-01").await;
    let clock = shop.app.clock.clone();
    let over = |progress: &Progress<'_>| {
        if let Progress::Deleted { .. } = progress {
            clock.advance(TimeDelta::hours(3));
        }
    };

    let cut = archive::run(&shop.app, &Options::default(), &over)
        .await
        .unwrap();
    let left = rows(&shop, "payment_callback").await;
    let rest = archived(&shop).await;

    assert!(!cut.is_complete && rest.is_complete);
    assert_eq!(left, 320);
    assert_eq!(rest.resumed, 1);
    whereabouts(&aside, &shop.place.archive(), "payment_callback")
        .await
        .assert_all_are_in_files(350);
}

#[actix_web::test]
async fn while_another_archives_the_command_says_who() {
    let shop = Shop::open().await;

    let refused = job_lease::hold(&shop.app, LEASE, async {
        Ok(run(&shop.place, &[], &["archive", "run"]))
    })
    .await
    .unwrap();

    let Held::Done(refused) = refused else {
        panic!("{refused:?}")
    };
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(shop.app.instance()), "{said}");
}

#[actix_web::test]
async fn a_lease_outlives_its_length_while_its_holder_works() {
    let shop = Shop::open_with(&[("jobs.lease", "900ms")]).await;
    let aside = Aside::to(&shop.place).await;
    let first = "SELECT until FROM lease WHERE name = 'job:probe'";

    let held = job_lease::hold(&shop.app, "job:probe", async {
        let until = aside.number(first).await;
        eventually(async || aside.number(first).await > until + 900).await;
        let second = job_lease::hold(&shop.app, "job:probe", future::ready(Ok(()))).await?;
        Ok(second)
    })
    .await
    .unwrap();

    assert_eq!(
        held,
        Held::Done(Held::ByAnother(shop.app.instance().to_owned()))
    );
}

#[actix_web::test]
async fn work_whose_lease_passed_to_another_ends() {
    let shop = Shop::open_with(&[("jobs.lease", "60ms")]).await;

    let ended = job_lease::hold(&shop.app, "job:probe", async {
        shop.execute("UPDATE lease SET holder = 'another'").await;
        future::pending::<Result<()>>().await
    })
    .await;

    assert!(matches!(ended, Err(Error::Internal(_))), "{ended:?}");
    assert_eq!(rows(&shop, "lease").await, 1, "the other's lease stays");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Found,
    Written,
    Deleted,
    Finished,
}

fn stage_of(progress: &Progress<'_>) -> Stage {
    match progress {
        Progress::Found { .. } => Stage::Found,
        Progress::Written { .. } => Stage::Written,
        Progress::Deleted { .. } => Stage::Deleted,
        Progress::Finished { .. } => Stage::Finished,
    }
}

/// The sentence that a run was stopped with.
async fn refused(shop: &Shop) -> String {
    let refused = archive::run(&shop.app, &Options::default(), &|_| {}).await;
    refused.unwrap_err().cause()
}

/// Runs until so many steps were told of, and no further.
async fn stopped_after(shop: &Shop, steps: usize) {
    let told = AtomicUsize::new(0);
    let watch = |_: &Progress<'_>| {
        told.fetch_add(1, Ordering::SeqCst);
    };
    let options = Options::default();
    let run = Box::pin(archive::run(&shop.app, &options, &watch));
    let enough = future::poll_fn(|context| {
        if told.load(Ordering::SeqCst) >= steps {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    });
    if let Either::Left((ended, _)) = select(run, enough).await {
        ended.unwrap();
    }
}
