//! A product's stock: orders take pieces and give them back, operators set what they counted. A buyer is refused only
//! when too few pieces are left, never because another was faster.

use chrono::{DateTime, Utc};
use entity::stock_ledger::Reason;
use entity::{OrderId, ProductId, order_item};

use crate::app::App;
use crate::database::{OnDuplicate, Transaction};
use crate::error::{Error, Result};
use crate::repositories;
use crate::repositories::stock_ledger::Change;
use crate::services::api::requests::StockQuantity;
use crate::services::api::responses::StockView;

/// Takes `pieces`; [`Error::OutOfStock`] when there are too few.
///
/// The first update requires the version that was read. If another transaction was faster, a second one requires only
/// enough pieces, so that nobody is refused for a lost race and nothing loops.
pub async fn take(
    tx: &Transaction,
    product_id: ProductId,
    pieces: i64,
    seen_version: i64,
    now: DateTime<Utc>,
) -> Result<()> {
    let taken = repositories::stock::take_unchanged(tx, product_id, pieces, seen_version, now)
        .await?
        || repositories::stock::take(tx, product_id, pieces, now).await?;
    if taken {
        Ok(())
    } else {
        Err(Error::OutOfStock { product_id })
    }
}

/// The ledger's row for what `order` takes or gives back of a product.
pub fn change_of(order: OrderId, reason: Reason, product: ProductId, pieces: i64) -> Change {
    Change {
        product,
        pieces,
        reason,
        biz_key: format!("order:{order}"),
    }
}

/// Gives back all that an order took; `items` are in the order of their products.
///
/// The second time, the stock ledger's unique key makes the transaction fail.
pub async fn restore(
    tx: &Transaction,
    order: OrderId,
    items: &[order_item::Model],
    now: DateTime<Utc>,
) -> Result<()> {
    let changes = items
        .iter()
        .map(|item| change_of(order, Reason::Restore, item.product_id, item.quantity));
    let twice = Error::Internal(format!("the stock of order {order} was restored before"));
    repositories::stock_ledger::insert(tx, changes, now)
        .await
        .on_duplicate("uk_stock_ledger", twice)?;
    for item in items {
        repositories::stock::give_back(tx, item.product_id, item.quantity, now).await?;
    }
    Ok(())
}

/// What is left of a product.
pub async fn read(app: &App, product: ProductId) -> Result<StockView> {
    let stock = repositories::stock::find(app.db.read(), product).await?;
    stock.map(StockView::from).ok_or(Error::NotFound)
}

/// Sets the quantity that an operator counted, if the stock still has the version that he saw; an equal quantity
/// changes nothing. The ledger notes the difference under that version.
///
/// [`Error::VersionConflict`] when the stock has changed since, [`Error::VersionRequired`] without a version.
pub async fn set(
    app: &App,
    product: ProductId,
    counted: &StockQuantity,
    seen: Option<i64>,
) -> Result<StockView> {
    let now = app.clock.now();
    app.db
        .transaction(async |tx| {
            let stock = repositories::stock::lock(tx, product)
                .await?
                .ok_or(Error::NotFound)?;
            if stock.quantity == counted.quantity {
                return Ok(stock.into());
            }
            let version = seen.ok_or(Error::VersionRequired)?;
            if version != stock.version {
                return Err(Error::VersionConflict);
            }
            let change = Change {
                product,
                pieces: counted.quantity - stock.quantity,
                reason: Reason::Adjust,
                biz_key: format!("version:{version}"),
            };
            repositories::stock_ledger::insert(tx, [change], now)
                .await
                .on_duplicate("uk_stock_ledger", Error::VersionConflict)?;
            if !repositories::stock::set_quantity(tx, product, counted.quantity, version, now)
                .await?
            {
                return Err(Error::VersionConflict);
            }
            Ok(StockView {
                quantity: counted.quantity,
                version: version + 1,
            })
        })
        .await
}
