//! Scheduled jobs: when their schedule says so, one instance at a time, each planned run once, visible to operators.

use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use order_service::domain::jobs::Job;
use order_service::error::Error;
use order_service::jobs::{self, Ran};
use order_service::repositories;
use order_service::services::operations::job_runs;
use order_service::settings::{Profile, Settings};

use crate::support::archived::{files, finished_order, rows};
use crate::support::binary::{Binary, run};
use crate::support::entrance::eventually;
use crate::support::faults::Aside;
use crate::support::shop::Place;
use crate::support::{Shop, order};

#[actix_web::test]
async fn of_many_runs_planned_for_the_same_moment_one_is_run() {
    let shop = Shop::open().await;
    let at = Utc::now();

    let runs = join_all((0..10).map(|_| jobs::run(&shop.app, Job::CloseUnpaid, at))).await;

    let done = runs.iter().filter(|run| matches!(run, Ok(Ran::Done(_))));
    assert_eq!(done.count(), 1);
    assert!(runs.iter().all(Result::is_ok), "{runs:?}");
    assert_eq!(shop.number("SELECT COUNT(*) FROM job_run").await, 1);
}

#[actix_web::test]
async fn a_job_that_another_instance_is_at_is_left_to_it() {
    let shop = Shop::open().await;
    let until = Utc::now().timestamp_millis() + 60_000;
    shop.execute(&format!(
        "INSERT INTO lease (name, holder, until, epoch, reserved) \
         VALUES ('job:reconcile', 'another', {until}, 1, 0)",
    ))
    .await;

    let ran = jobs::run(&shop.app, Job::Reconcile, Utc::now())
        .await
        .unwrap();

    assert_eq!(ran, Ran::ByAnother("another".to_owned()));
    shop.execute("UPDATE lease SET until = 1 WHERE name = 'job:reconcile'")
        .await;
    let ran = jobs::run(&shop.app, Job::Reconcile, Utc::now())
        .await
        .unwrap();
    assert!(matches!(ran, Ran::Done(_)));
    let held = "SELECT COUNT(*) FROM lease WHERE name LIKE 'job:%'";
    assert_eq!(shop.number(held).await, 0, "given back");
}

#[actix_web::test]
async fn a_run_that_was_killed_is_seen_as_abandoned_once_the_job_runs_again() {
    let shop = Shop::open().await;
    let run = job_runs::planned(&shop.app, Job::Reconcile, Utc::now());
    job_runs::begin(&shop.app, &run).await.unwrap();

    shop.run_job(Job::Reconcile).await;

    let jobs = shop.operator().get("/api/jobs").await.expect(200);
    let reconcile = jobs.body["data"].as_array().unwrap().iter();
    let reconcile = reconcile
        .clone()
        .find(|job| job["name"] == "reconcile")
        .unwrap();
    let outcomes: Vec<&str> = reconcile["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["SUCCEEDED", "ABANDONED"]);
    assert_eq!(reconcile["schedule"], "*/15 * * * * *");
    assert_eq!(
        reconcile["runs"][0]["done"],
        "0 asked about, 0 paid, 0 ended, 0 unknown"
    );
    for other in [shop.customer("ann"), shop.service("crm")] {
        other.get("/api/jobs").await.expect(403);
    }
}

#[actix_web::test]
async fn what_cannot_be_written_down_about_a_run_is_written_down_later() {
    let shop = Shop::open().await;
    let mut run = job_runs::planned(&shop.app, Job::Archive, Utc::now());
    run.id = job_runs::begin(&shop.app, &run).await.unwrap().unwrap();
    let failed = Err(Error::Internal("no room is left".to_owned()));
    shop.execute("ALTER TABLE job_run RENAME TO away").await;
    job_runs::finish(&shop.app, run, &failed).await;
    let unbegun = jobs::run(&shop.app, Job::Reconcile, Utc::now()).await;
    shop.execute("ALTER TABLE away RENAME TO job_run").await;

    shop.run_job(Job::RetryRefunds).await;

    assert!(unbegun.is_err());
    let told = "SELECT COUNT(*) FROM job_run WHERE outcome = 'FAILED' AND finished_at IS NOT NULL";
    let ended = format!("{told} AND job = 'archive' AND done = 'no room is left'");
    assert_eq!(shop.number(&ended).await, 1);
    let unbegun = format!("{told} AND job = 'reconcile' AND done LIKE '%job_run%'");
    assert_eq!(shop.number(&unbegun).await, 1);
}

#[actix_web::test]
async fn a_run_that_could_not_begin_here_is_left_to_the_instance_that_ran_it() {
    let shop = Shop::open().await;
    let at = Utc::now();
    shop.execute("ALTER TABLE job_run RENAME TO away").await;
    jobs::run(&shop.app, Job::Reconcile, at).await.unwrap_err();
    shop.execute("ALTER TABLE away RENAME TO job_run").await;
    let elsewhere = job_runs::planned(&shop.app, Job::Reconcile, at);
    let id = repositories::job_run::insert(shop.app.db.write(), elsewhere)
        .await
        .unwrap();

    shop.run_job(Job::RetryRefunds).await;

    let runs = "SELECT MAX(id) FROM job_run WHERE job = 'reconcile'";
    assert_eq!(shop.number(runs).await, id);
}

#[actix_web::test]
async fn a_run_that_fails_says_why_and_the_next_one_goes_on() {
    let shop = Shop::open().await;
    shop.execute("ALTER TABLE payment RENAME TO away").await;
    let failed = jobs::run(&shop.app, Job::Reconcile, Utc::now()).await;
    shop.execute("ALTER TABLE away RENAME TO payment").await;

    assert!(failed.is_err());
    let told = "SELECT COUNT(*) FROM job_run WHERE outcome = 'FAILED' AND done LIKE '%payment%'";
    assert_eq!(shop.number(told).await, 1);
    shop.run_job(Job::Reconcile).await;
}

#[actix_web::test]
async fn runs_of_long_ago_are_forgotten() {
    let shop = Shop::open().await;

    for _ in 0..60 {
        shop.run_job(Job::RetryRefunds).await;
    }

    assert_eq!(shop.number("SELECT COUNT(*) FROM job_run").await, 50);
}

#[actix_web::test]
async fn the_archive_is_a_job_like_the_others() {
    let shop = Shop::open().await;
    finished_order(&shop).await;
    shop.advance(TimeDelta::days(31));

    let done = shop.run_job(Job::Archive).await;

    assert!(
        done.ends_with("rows left the tables; nothing old is left"),
        "{done}"
    );
    assert_eq!(rows(&shop, "payment_callback").await, 0);
    assert!(!files(&archive_of(&shop)).is_empty());
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_archive_whose_instance_stops_ends_between_two_files_and_is_gone_on_with() {
    let shop = Shop::open().await;
    finished_order(&shop).await;
    shop.advance(TimeDelta::days(31));
    shop.app.stop();

    let done = shop.run_job(Job::Archive).await;

    assert_eq!(done, "0 rows left the tables; the next run goes on");
    assert!(rows(&shop, "payment_callback").await > 0);
}

#[test]
fn schedules_are_read_by_the_clock_of_the_shop() {
    let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
    let changes = [
        ("jobs.schedules.reconcile", "0 30 3 * * *"),
        ("jobs.utc_offset", "+08:00"),
        ("jobs.schedules.close_unpaid", ""),
    ];
    let settings = Settings::of(Profile::Test, &changes).unwrap();

    let next = job_runs::next(&settings, Job::Reconcile, at("2026-12-01T12:00:00Z"));
    let by_hand = job_runs::next(&settings, Job::CloseUnpaid, at("2026-12-01T12:00:00Z"));
    let soon = job_runs::next(&settings, Job::RetryRefunds, at("2026-12-01T12:00:02.5Z"));

    assert_eq!(next, Some(at("2026-12-01T19:30:00Z")));
    assert_eq!(by_hand, None);
    assert_eq!(soon, Some(at("2026-12-01T12:00:05Z")));
}

#[actix_web::test]
async fn a_schedule_runs_its_job_and_a_shutdown_gives_everything_back() {
    let place = Place::fresh().await;
    let loops = [
        ("ORDER__JOBS__ENABLED", "true"),
        ("ORDER__ORDERS__PAYMENT_WINDOW", "1s"),
        ("ORDER__JOBS__SCHEDULES__CLOSE_UNPAID", "* * * * * *"),
    ];
    let mut server = Binary::start(&place, &loops);
    let ann = server.sign_in("ann", "customer").await;
    ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let aside = Aside::to(&place).await;

    let closed = "SELECT COUNT(*) FROM orders WHERE status = 'CLOSED'";
    eventually(async || aside.number(closed).await == 1).await;
    let code = server.terminate();

    assert_eq!(code, Some(0));
    let held = "SELECT COUNT(*) FROM lease WHERE name LIKE 'job:%' OR name LIKE 'relay:%'";
    assert_eq!(aside.number(held).await, 0);
    let running = "SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING'";
    assert_eq!(aside.number(running).await, 0);
    let audit = run(&place, &[], &["audit"]);
    assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
}

#[actix_web::test]
async fn the_command_line_runs_a_job_beside_a_running_server() {
    let place = Place::fresh().await;
    let server = Binary::start(&place, &[("ORDER__ORDERS__PAYMENT_WINDOW", "10ms")]);
    let ann = server.sign_in("ann", "customer").await;
    ann.buy(&order("NORMAL", &[("1", 1)])).await;

    let done = run(&place, &[], &["job", "run", "close_unpaid"]);
    let listed = run(&place, &[], &["job", "list"]);
    let unknown = run(&place, &[], &["job", "run", "tea"]);

    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.starts_with("close_unpaid: 1 closed"), "{text}");
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(text.contains("SUCCEEDED  1 closed"), "{text}");
    assert!(!unknown.status.success());
    let text = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(text.contains("there is no job tea"), "{text}");
    assert_eq!(run(&place, &[], &["audit"]).stdout, b"audit: clean\n");
}

fn archive_of(shop: &Shop) -> PathBuf {
    shop.app.settings.archive.directory.clone().into()
}
