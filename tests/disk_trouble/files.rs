//! The database's file is taken away, comes back, or another lies in its place.

use std::fs;
use std::path::PathBuf;

use super::{Ground, assert_all_are_asked_to_repeat, assert_each_has_his_order, place_all};
use crate::support::order;

const BUYERS: usize = 40;
const FILES: [&str; 3] = ["orders.db", "orders.db-wal", "orders.db-shm"];

#[actix_web::test]
async fn a_file_that_was_removed_takes_no_order_and_all_goes_on_when_it_is_back() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };
    let buyers = ground.buyers(BUYERS).await;
    rename(&ground, "", ".away");
    let turned_away = place_all(&buyers).await;
    let read = buyers[0].client.get("/api/products").await;
    let down = ground.readyz().await;
    let nothing_is_made = !file(&ground, FILES[0]).exists();

    rename(&ground, ".away", "");
    let served = place_all(&buyers).await;

    assert_all_are_asked_to_repeat(&turned_away);
    assert_all_are_asked_to_repeat(&[read]);
    assert_eq!(down.expect(503).body["reasons"]["database"], "file_gone");
    assert!(nothing_is_made, "an empty database was made in its place");
    assert_each_has_his_order(&ground, &buyers, &served).await;
    ground.readyz().await.expect(200);
    ground.assert_told_once("file_gone", "removed").await;
    ground.assert_audit_is_clean();
}

#[actix_web::test]
async fn a_backup_that_is_put_in_its_place_is_the_database_from_then_on() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };
    let buyers = ground.buyers(3).await;
    let before = place_all(&buyers[..1]).await.remove(0).expect(201);
    let backup = file(&ground, "backup.db");
    let copy = format!("VACUUM INTO '{}'", backup.display());
    ground.aside.execute(&copy).await;
    let after = place_all(&buyers[1..2]).await.remove(0).expect(201);

    rename(&ground, "", ".away");
    fs::rename(&backup, file(&ground, FILES[0])).unwrap();
    let lost = get(&ground, &after.id()).await;
    let kept = get(&ground, &before.id()).await;
    let body = order("NORMAL", &[("1", 1)]);
    let again = buyers[1].place(&body).await;
    let newcomer = buyers[2].place(&body).await;

    assert_eq!((kept, lost), (200, 404));
    assert_eq!(again.expect(201).id(), after.id());
    newcomer.expect(201);
    let aside = crate::support::faults::Aside::to(&ground.place).await;
    assert_eq!(aside.number("SELECT COUNT(*) FROM orders").await, 3);
    let left = "SELECT quantity FROM stock WHERE product_id = 1";
    assert_eq!(aside.number(left).await, 997);
    ground.readyz().await.expect(200);
    ground.assert_audit_is_clean();
}

async fn get(ground: &Ground, order: &str) -> u16 {
    let operator = ground.server.sign_in("olga", "operator").await;
    operator.get(&format!("/api/orders/{order}")).await.status
}

fn file(ground: &Ground, name: &str) -> PathBuf {
    ground.place.archive().with_file_name(name)
}

/// Renames the three files of the database by what follows their names.
fn rename(ground: &Ground, from: &str, to: &str) {
    for name in FILES {
        let (from, to) = (format!("{name}{from}"), format!("{name}{to}"));
        fs::rename(file(ground, &from), file(ground, &to)).unwrap();
    }
}
