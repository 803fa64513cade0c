//! The schema's steps: forward, back and forward again, and what the keys of its tables tell apart.

use std::process::Output;

use migration::{Migrator, MigratorTrait};
use sea_orm::DbBackend;
use tempfile::TempDir;

use crate::support::binary::{Binary, run};
use crate::support::faults::Aside;
use crate::support::order;
use crate::support::shop::Place;

/// Rows that break no rule but the one that is tried: `{}` is a value of a key.
const PROBES: [(&str, &str); 7] = [
    (
        "product.sku",
        "INSERT INTO product (sku, name, price, currency, on_sale, version, created_at, updated_at) \
         VALUES ({}, 'n', 1, 'CNY', TRUE, 1, '2026-01-01', '2026-01-01')",
    ),
    (
        "stock_ledger.biz_key",
        "INSERT INTO stock_ledger (product_id, `change`, reason, biz_key, created_at) \
         VALUES (1, 0, 'ADJUST', {}, '2026-01-01')",
    ),
    (
        "stock_ledger.reason",
        "INSERT INTO stock_ledger (product_id, `change`, reason, biz_key, created_at) \
         VALUES (1, 0, {}, 'probe', '2026-01-01')",
    ),
    (
        "order_item.user_id",
        "INSERT INTO order_item (order_id, user_id, product_id, order_type, active_slot, quantity, price, sku, name) \
         SELECT id, {}, 2, 'NORMAL', 0, 1, 1, 's', 'n' FROM orders",
    ),
    (
        "order_item.order_type",
        "INSERT INTO order_item (order_id, user_id, product_id, order_type, active_slot, quantity, price, sku, name) \
         SELECT id, 'bob', 2, {}, 0, 1, 1, 's', 'n' FROM orders",
    ),
    (
        "job_run.job",
        "INSERT INTO job_run (job, scheduled_at, instance, started_at, outcome, done) \
         VALUES ({}, '2026-01-01', 'i', '2026-01-01', '', '')",
    ),
    (
        "lease.name",
        "INSERT INTO lease (name, holder, until, epoch, reserved) VALUES ({}, 'h', 0, 1, 0)",
    ),
];

#[actix_web::test]
async fn each_step_goes_forward_back_and_forward_again_on_an_empty_database() {
    let place = Place::fresh().await;
    command(&place, &["migrate"]);

    assert_steps_are_reversible(&place).await;
}

#[actix_web::test]
async fn each_step_goes_forward_back_and_forward_again_on_a_filled_database() {
    let place = Place::fresh().await;
    filled(&place).await;

    assert_steps_are_reversible(&place).await;

    filled(&place).await;
    let printed = command(&place, &["audit"]).stdout;
    assert_eq!(String::from_utf8_lossy(&printed), "audit: clean\n");
}

#[actix_web::test]
async fn a_step_forward_that_is_done_changes_nothing() {
    let place = Place::fresh().await;
    filled(&place).await;
    let aside = Aside::to(&place).await;
    let before = schema(&aside).await;

    command(&place, &["migrate"]);
    command(&place, &["seed"]);

    assert_eq!(schema(&aside).await, before);
    assert_eq!(aside.number("SELECT COUNT(*) FROM orders").await, 1);
    assert_eq!(aside.number("SELECT COUNT(*) FROM product").await, 6);
}

#[actix_web::test]
async fn a_step_that_was_killed_half_way_is_finished_by_the_next_start() {
    let place = Place::fresh().await;
    command(&place, &["migrate"]);
    let aside = Aside::to(&place).await;
    let whole = schema(&aside).await;
    let steps = i64::try_from(Migrator::migrations().len()).unwrap();
    // Of the last step one table is there and one is not; of the others all, but nobody wrote it down.
    aside.execute("DROP TABLE job_run").await;
    aside.execute("DELETE FROM seaql_migrations").await;

    command(&place, &["migrate"]);

    assert_eq!(schema(&aside).await, whole);
    let applied = "SELECT COUNT(*) FROM seaql_migrations";
    assert_eq!(aside.number(applied).await, steps);
}

#[actix_web::test]
async fn a_step_back_that_was_killed_half_way_is_finished_by_the_next() {
    let place = Place::fresh().await;
    command(&place, &["migrate"]);
    let aside = Aside::to(&place).await;
    aside.execute("DROP TABLE job_run").await;

    command(&place, &["migrate", "--down", "1"]);

    let left = "SELECT COUNT(*) FROM archive_file";
    assert!(aside.try_execute(left).await.is_err());
}

#[actix_web::test]
async fn no_column_of_a_unique_key_may_be_null() {
    let place = Place::fresh().await;
    command(&place, &["migrate"]);
    let aside = Aside::to(&place).await;

    let nullable = aside.texts(match aside.backend() {
        DbBackend::Sqlite => {
            "SELECT t.name || '.' || c.name FROM sqlite_master t, pragma_index_list(t.name) k, \
             pragma_index_info(k.name) i, pragma_table_info(t.name) c WHERE t.type = 'table' \
             AND t.name <> 'seaql_migrations' AND k.\"unique\" AND c.name = i.name AND c.\"notnull\" = 0"
        }
        _ => {
            "SELECT CONCAT(table_name, '.', column_name) FROM information_schema.statistics \
             WHERE table_schema = DATABASE() AND non_unique = 0 AND nullable = 'YES'"
        }
    });

    assert_eq!(nullable.await, Vec::<String>::new());
}

#[actix_web::test]
async fn keys_tell_apart_what_differs_in_case_or_in_a_trailing_blank() {
    let place = Place::fresh().await;
    filled(&place).await;
    let aside = Aside::to(&place).await;

    let mut merged = Vec::new();
    for (key, insert) in PROBES {
        for value in ["'key'", "'KEY'", "'key '", "'kéy'"] {
            let row = insert.replace("{}", value);
            if let Err(error) = aside.try_execute(&row).await {
                merged.push(format!("{key}: {value}: {error}"));
            }
        }
        let again = insert.replace("{}", "'key'");
        assert!(aside.try_execute(&again).await.is_err(), "{key} is no key");
    }

    assert!(merged.is_empty(), "{}", merged.join("\n"));
}

#[actix_web::test]
async fn a_second_server_on_the_same_sqlite_file_is_refused_with_a_sentence() {
    let (place, folder) = (Place::fresh().await, TempDir::new().unwrap());
    let url = format!("sqlite://{}/shop.db", folder.path().display());
    let embedded = [
        ("ORDER__DATABASE__URL", url.as_str()),
        ("ORDER__REDIS__URL", ""),
    ];
    let mut first = Binary::start(&place, &embedded);

    let refused: Vec<Output> = ["serve", "migrate", "seed"]
        .map(|name| run(&place, &embedded, &[name]))
        .into();
    let audit = run(&place, &embedded, &["audit"]);
    first.kill();
    let migrated = run(&place, &embedded, &["migrate"]);

    for output in refused {
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("another server uses"), "{told}");
        assert!(told.contains("ORDER__DATABASE__URL"), "{told}");
    }
    assert!(audit.status.success(), "a look is free");
    assert!(migrated.status.success(), "{migrated:?}");
}

mod mysql {
    use super::*;

    #[actix_web::test]
    async fn instances_that_start_together_migrate_and_seed_once() {
        let place = Place::fresh().await;

        let instances: Vec<Binary> = std::thread::scope(|threads| {
            let starts: Vec<_> = (0..4)
                .map(|_| threads.spawn(|| Binary::start(&place, &[])))
                .collect();
            starts
                .into_iter()
                .map(|start| start.join().unwrap())
                .collect()
        });

        let aside = Aside::to(&place).await;
        for instance in &instances {
            let ann = instance.sign_in("ann", "customer").await;
            let products = ann.get("/api/products").await.expect(200);
            assert_eq!(products.body["data"].as_array().unwrap().len(), 6);
        }
        let steps = i64::try_from(Migrator::migrations().len()).unwrap();
        let applied = "SELECT COUNT(*) FROM seaql_migrations";
        assert_eq!(aside.number(applied).await, steps);
        assert_eq!(aside.number("SELECT COUNT(*) FROM stock_ledger").await, 6);
    }
}

/// A database with a catalogue and an order in it.
async fn filled(place: &Place) {
    let mut server = Binary::start(place, &[]);
    let ann = server.sign_in("ann", "customer").await;
    ann.buy(&order("NORMAL", &[("1", 2), ("3", 1)])).await;
    server.kill();
}

/// Goes back one step further each time and forward again; at last nothing is left, and all comes back.
async fn assert_steps_are_reversible(place: &Place) {
    let aside = Aside::to(place).await;
    let whole = schema(&aside).await;
    let steps = Migrator::migrations().len();
    for back in 1..=steps {
        let count = back.to_string();
        command(place, &["migrate", "--down", &count]);
        let applied = aside.number("SELECT COUNT(*) FROM seaql_migrations").await;
        assert_eq!(applied, i64::try_from(steps - back).unwrap());
        if back == steps {
            assert_eq!(schema(&aside).await, Vec::<String>::new());
        }
        command(place, &["migrate"]);
        assert_eq!(schema(&aside).await, whole, "{back} steps back and forward");
    }
}

/// A command that must succeed.
#[track_caller]
fn command(place: &Place, arguments: &[&str]) -> Output {
    let output = run(place, &[], arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
    output
}

/// All tables, columns, keys and checks but the list of steps, as text.
async fn schema(aside: &Aside) -> Vec<String> {
    let queries: &[&str] = match aside.backend() {
        DbBackend::Sqlite => &[
            "SELECT name || COALESCE(sql, '') FROM sqlite_master WHERE tbl_name NOT IN \
             ('seaql_migrations', 'sqlite_sequence') ORDER BY name",
        ],
        _ => &[
            "SELECT CONCAT_WS(' ', table_name, column_name, column_type, is_nullable, collation_name) \
             FROM information_schema.columns WHERE table_schema = DATABASE() \
             AND table_name <> 'seaql_migrations' ORDER BY 1",
            "SELECT CONCAT_WS(' ', table_name, index_name, non_unique, seq_in_index, column_name) \
             FROM information_schema.statistics WHERE table_schema = DATABASE() \
             AND table_name <> 'seaql_migrations' ORDER BY 1",
            "SELECT CONCAT_WS(' ', table_name, constraint_type, constraint_name) \
             FROM information_schema.table_constraints WHERE table_schema = DATABASE() \
             AND table_name <> 'seaql_migrations' ORDER BY 1",
        ],
    };
    let mut lines = Vec::new();
    for query in queries {
        lines.extend(aside.texts(query).await);
    }
    lines
}
