//! Fills an empty catalogue with six products, for development.

use chrono::{DateTime, Utc};
use entity::stock;
use entity::stock_ledger::Reason;

use crate::app::App;
use crate::database::Transaction;
use crate::error::{Error, Result};
use crate::repositories;
use crate::repositories::product::Offer;
use crate::repositories::stock_ledger::Change;

const PIECES: i64 = 1_000;
const CURRENCY: &str = "CNY";

/// SKU, name, price in fen.
const PRODUCTS: [(&str, &str, i64); 6] = [
    ("TEA-LONGJING-100", "Longjing green tea, 100 g", 12_800),
    ("CUP-CELADON", "Celadon tea cup", 4_900),
    ("POT-YIXING", "Yixing clay teapot", 36_000),
    ("TRAY-BAMBOO", "Bamboo tea tray", 15_900),
    ("SCALE-POCKET", "Pocket scale, 0.1 g", 6_900),
    ("GIFT-BOX", "Gift box with ribbon", 1_000),
];

/// Fills an empty catalogue; true when it did. The opening stock is the ledger's first line.
pub async fn fill_empty_catalogue(app: &App) -> Result<bool> {
    let now = app.clock.now();
    app.db
        .transaction(async |tx| {
            if repositories::product::count(tx).await? > 0 {
                return Ok(false);
            }
            for (sku, name, price) in PRODUCTS {
                add(tx, sku, offer(name, price), now).await?;
            }
            Ok::<_, Error>(true)
        })
        .await
}

fn offer(name: &str, price: i64) -> Offer {
    Offer {
        name: name.to_owned(),
        price,
        currency: CURRENCY.to_owned(),
        on_sale: true,
    }
}

async fn add(tx: &Transaction, sku: &str, offer: Offer, now: DateTime<Utc>) -> Result<()> {
    let product = repositories::product::insert(tx, sku, offer, now).await?;
    let opening = Change {
        product,
        pieces: PIECES,
        reason: Reason::Adjust,
        biz_key: "opening".to_owned(),
    };
    repositories::stock_ledger::insert(tx, [opening], now).await?;
    let stock = stock::Model {
        product_id: product,
        quantity: PIECES,
        version: 1,
        updated_at: now,
    };
    Ok(repositories::stock::insert(tx, stock).await?)
}
