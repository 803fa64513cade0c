//! What tests know of the archive: generated old rows, and what files hold, read without the service's own reader.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use order_service::services::archive::{self, Options, Report};
use sea_orm::DbBackend;
use serde_json::{Value, json};

use super::binary::run;
use super::client::order;
use super::faults::Aside;
use super::gateway::{Attempt, accepted, paid_order};
use super::shop::Shop;

/// Rows of one statement.
const CHUNK: usize = 500;

/// Inserts callbacks that came at midnight of `day`, with the ids and event ids 1 to `count`.
pub async fn old_callbacks(aside: &Aside, count: usize, day: &str) {
    let at = time(aside, day);
    let ids: Vec<usize> = (1..=count).collect();
    for chunk in ids.chunks(CHUNK) {
        let rows = chunk.iter().map(|id| {
            format!(
                "({id}, 'sandbox', 'evt-{id}', 'paid:{id}', 'paid', {id}, {id}, 'T{id}', '', 100, 'CNY', \
                 '{at}', 'APPLIED', 1, '{{\"id\":\"evt-{id}\",\"note\":\"早上好\"}}', '{at}', '{at}')"
            )
        });
        let rows: Vec<String> = rows.collect();
        aside
            .execute(&format!(
                "INSERT INTO payment_callback (id, gateway, event_id, biz_key, kind, payment_id, order_id, \
                 trade_no, refund_no, amount, currency, event_time, outcome, deliveries, raw, created_at, \
                 updated_at) VALUES {}",
                rows.join(", ")
            ))
            .await;
    }
}

/// Inserts logs of the same kind.
pub async fn old_logs(aside: &Aside, count: usize, day: &str) {
    let at = time(aside, day);
    let ids: Vec<usize> = (1..=count).collect();
    for chunk in ids.chunks(CHUNK) {
        let row = |id| format!("({id}, 'probe', '{id}:Probe:1', '{id}', 'APPLIED', '{at}')");
        let rows: Vec<String> = chunk.iter().map(row).collect();
        aside
            .execute(&format!(
                "INSERT INTO message_consume_log (id, consumer, biz_key, message_id, status, created_at) \
                 VALUES {}",
                rows.join(", ")
            ))
            .await;
    }
}

/// Inserts records whose keys ran out on the day they were made.
pub async fn old_records(aside: &Aside, count: usize, day: &str) {
    let at = time(aside, day);
    let ids: Vec<usize> = (1..=count).collect();
    let bytes = |id: usize| format!("x'{id:064x}'");
    for chunk in ids.chunks(CHUNK) {
        let row = |id: &usize| format!("({0}, {0}, 0, 410, '{at}', '{at}')", bytes(*id));
        let rows: Vec<String> = chunk.iter().map(row).collect();
        aside
            .execute(&format!(
                "INSERT INTO idempotency_record (id, fingerprint, resource_id, status_code, created_at, \
                 expires_at) VALUES {}",
                rows.join(", ")
            ))
            .await;
    }
}

/// Midnight, as the service writes it.
fn time(aside: &Aside, day: &str) -> String {
    match aside.backend() {
        DbBackend::Sqlite => format!("{day}T00:00:00+00:00"),
        _ => format!("{day} 00:00:00"),
    }
}

/// All finished files below the archive's directory.
pub fn files(archive: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(archive).into_iter().flatten();
    let files = folders.filter_map(|folder| fs::read_dir(folder.unwrap().path()).ok());
    let paths = files.flatten().map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "zst"))
        .collect();
    paths.sort();
    paths
}

/// What a file holds, a JSON document a line.
pub fn lines(path: &Path) -> Vec<Value> {
    let decoder = zstd::Decoder::new(File::open(path).unwrap()).unwrap();
    let lines = BufReader::new(decoder).lines();
    lines
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect()
}

/// Where each row of a table is, by id; fails when a row is twice in files.
pub async fn whereabouts(aside: &Aside, archive: &Path, table: &str) -> Whereabouts {
    let id = match table {
        "idempotency_record" => "LOWER(HEX(id))",
        _ if aside.backend() == DbBackend::Sqlite => "CAST(id AS TEXT)",
        _ => "CAST(id AS CHAR)",
    };
    let in_table = aside.texts(&format!("SELECT {id} FROM {table}")).await;
    let files = aside
        .texts(&format!(
            "SELECT state || ' ' || path FROM archive_file WHERE table_name = '{table}' \
             AND state IN ('VERIFIED', 'DELETED')"
        ))
        .await;
    let mut in_files = BTreeMap::new();
    for file in files {
        let (state, path) = file.split_once(' ').unwrap();
        for line in lines(&archive.join(path)) {
            let id = line["id"].as_str().unwrap().to_owned();
            let before = in_files.insert(id.clone(), state.to_owned());
            assert_eq!(before, None, "{table} {id} is twice in the files");
        }
    }
    Whereabouts {
        in_table: in_table.into_iter().collect(),
        in_files,
    }
}

/// The rows of a table by id.
#[derive(Debug)]
pub struct Whereabouts {
    pub in_table: BTreeSet<String>,
    /// With the state of the file.
    pub in_files: BTreeMap<String, String>,
}

impl Whereabouts {
    /// Fails unless `count` rows are there and those that are in both places are in a file that is to be finished.
    pub fn assert_none_is_lost(&self, count: usize) {
        let archived = self.in_files.keys().cloned().collect();
        assert_eq!(self.in_table.union(&archived).count(), count);
        for id in self.in_table.intersection(&archived) {
            assert_eq!(self.in_files[id], "VERIFIED", "{id} is in a finished file");
        }
    }

    /// Fails unless all of `count` rows are in files alone.
    pub fn assert_all_are_in_files(&self, count: usize) {
        assert_eq!(self.in_table, BTreeSet::new());
        assert_eq!(self.in_files.len(), count);
    }
}

/// An order of ann's that is paid, shipped and received, with all its events handed over.
pub async fn finished_order(shop: &Shop) -> Attempt {
    let paid = paid_order(shop, 10_000).await;
    finish(shop, "ann", &paid).await;
    shop.run_jobs().await;
    paid
}

/// The same of another customer, with its events still waiting.
pub async fn finished_order_of(shop: &Shop, user: &str) -> Attempt {
    let paid = paid_order_of(shop, user).await;
    finish(shop, user, &paid).await;
    paid
}

/// An order that is paid by the message `evt-{id}`.
pub async fn paid_order_of(shop: &Shop, user: &str) -> Attempt {
    let buyer = shop.customer(user);
    let id = buyer.buy(&order("NORMAL", &[("3", 1)])).await;
    let attempt = Attempt::start(&buyer, &id).await;
    let paid = attempt.paid(&format!("evt-{id}"));
    assert!(accepted(&paid.deliver(shop).await));
    attempt
}

/// A run as the settings have it.
pub async fn archived(shop: &Shop) -> Report {
    archive::run(&shop.app, &Options::default(), &|_| {})
        .await
        .unwrap()
}

/// How many files `archive verify` says are not right.
pub fn verified(shop: &Shop) -> usize {
    let output = run(&shop.place, &[], &["archive", "verify"]);
    let said = String::from_utf8_lossy(&output.stdout);
    let differ = said
        .trim_end()
        .strip_suffix(" differ")
        .unwrap_or_else(|| panic!("{output:?}"));
    let count = differ.rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(output.status.success(), count == 0, "{said}");
    count
}

pub async fn rows(shop: &Shop, table: &str) -> i64 {
    shop.number(&format!("SELECT COUNT(*) FROM {table}")).await
}

async fn finish(shop: &Shop, user: &str, paid: &Attempt) {
    let shipment = json!({ "carrier": "SF", "tracking_no": "1" });
    let path = format!("/api/orders/{}", paid.order);
    let operator = shop.operator();
    operator
        .put(&format!("{path}/shipment"), &shipment, None)
        .await
        .expect(200);
    let receipt = format!("{path}/receipt");
    shop.customer(user)
        .put(&receipt, &json!({}), None)
        .await
        .expect(200);
}
