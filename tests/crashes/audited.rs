//! `order-service audit`, as an operator runs it.

use std::process::Output;

use tempfile::TempDir;

use crate::support::binary::run;
use crate::support::shop::Place;
use crate::support::{Shop, order};

/// What is done to the data of one order of two pieces, and what the audit says to it.
const TAMPERINGS: [(&str, &str); 7] = [
    (
        "UPDATE stock SET quantity = quantity + 1 WHERE product_id = 1",
        "a stock is not the sum of its ledger: product 1: 999 pieces",
    ),
    (
        "UPDATE stock_ledger SET biz_key = 'order:7' WHERE reason = 'DEDUCT'",
        "a deduction has no item: order:7, product 1",
    ),
    (
        "UPDATE order_item SET quantity = 3",
        "an item was not deducted: order {id}, product 1",
    ),
    (
        "UPDATE order_item SET active_slot = order_id",
        "a slot is not what policy and status say: order {id}",
    ),
    (
        "UPDATE orders SET amount = amount + 1",
        "an order's amount is not the sum of its items: order {id}",
    ),
    (
        "UPDATE orders SET status = 'CLOSED'",
        "the stock of a closed or refunded order was not restored: order {id}, product 1",
    ),
    (
        "DELETE FROM order_event",
        "an order's events are all gone although it has not come to its end: order {id}",
    ),
];

#[actix_web::test]
async fn the_audit_of_a_shop_that_is_open_is_clean() {
    let shop = Shop::open().await;
    shop.customer("ann")
        .buy(&order("NORMAL", &[("1", 2)]))
        .await;

    let audit = run(&shop.place, &[], &["audit"]);

    assert_eq!(answer(&audit), (Some(0), "audit: clean\n".to_owned()));
}

#[actix_web::test]
async fn the_audit_names_each_row_that_was_tampered_with() {
    let mut silent = Vec::new();
    for (tampering, finding) in TAMPERINGS {
        let shop = Shop::open().await;
        let id = shop
            .customer("ann")
            .buy(&order("NORMAL", &[("1", 2)]))
            .await;
        shop.execute(tampering).await;

        let audit = run(&shop.place, &[], &["audit"]);

        let (code, printed) = answer(&audit);
        if code != Some(1) || !printed.contains(&finding.replace("{id}", &id)) {
            silent.push(format!("{tampering}: exit code {code:?}\n{printed}"));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[actix_web::test]
async fn the_audit_of_a_database_that_is_not_there_makes_none() {
    let (place, folder) = (Place::fresh().await, TempDir::new().unwrap());
    let file = folder.path().join("misspelt.db");
    let url = format!("sqlite://{}", file.display());

    let audit = run(&place, &[("ORDER__DATABASE__URL", &url)], &["audit"]);

    let told = String::from_utf8_lossy(&audit.stderr);
    assert_eq!(audit.status.code(), Some(1));
    assert!(told.contains("ORDER__DATABASE__URL"), "{told}");
    assert!(!file.exists());
}

fn answer(audit: &Output) -> (Option<i32>, String) {
    let printed = String::from_utf8_lossy(&audit.stdout).into_owned();
    (audit.status.code(), printed)
}
