//! What an order costs now: prices, names and stock in one read.

use std::collections::HashMap;

use entity::{ProductId, product, stock};

use crate::app::App;
use crate::domain::money::{self, Money, TotalError};
use crate::error::{Error, Result};
use crate::repositories;
use crate::services::api::requests::{NewItem, NewOrder};

/// The order's lines, sorted by product, and what they cost together.
#[derive(Debug, Clone)]
pub struct Quote {
    pub lines: Vec<Line>,
    pub total: Money,
}

/// One product as it was read.
#[derive(Debug, Clone)]
pub struct Line {
    pub product: product::Model,
    pub quantity: i64,
    pub stock_version: i64,
}

/// Prices an order; refuses a product that is unknown, not for sale or sold out, and a total other than the client
/// expected.
pub async fn quote(app: &App, order: &NewOrder) -> Result<Quote> {
    let ids: Vec<ProductId> = order.items.iter().map(|item| item.product_id).collect();
    let found = repositories::product::of_ids(app.db.read(), &ids).await?;
    let mut found: HashMap<ProductId, _> = found
        .into_iter()
        .map(|(product, stock)| (product.id, (product, stock)))
        .collect();
    let mut lines = Vec::with_capacity(order.items.len());
    for (at, item) in order.items.iter().enumerate() {
        let product = found.remove(&item.product_id);
        lines.push(line(at, item, product)?);
    }
    lines.sort_by_key(|line| line.product.id);
    let total = total(&lines)?;
    match order.expected_amount {
        Some(expected) if expected != total.minor => Err(Error::PriceChanged {
            amount: total.minor,
            currency: total.currency,
        }),
        _ => Ok(Quote { lines, total }),
    }
}

fn line(
    at: usize,
    item: &NewItem,
    found: Option<(product::Model, Option<stock::Model>)>,
) -> Result<Line> {
    let (product, stock) = found
        .ok_or_else(|| Error::invalid(format!("items[{at}].product_id"), "names no product"))?;
    if !product.on_sale {
        return Err(Error::NotOnSale {
            product_id: product.id,
        });
    }
    match stock {
        Some(stock) if stock.quantity >= item.quantity => Ok(Line {
            product,
            quantity: item.quantity,
            stock_version: stock.version,
        }),
        _ => Err(Error::OutOfStock {
            product_id: product.id,
        }),
    }
}

fn total(lines: &[Line]) -> Result<Money> {
    let priced = lines.iter().map(|line| {
        (
            line.quantity,
            line.product.price,
            line.product.currency.as_str(),
        )
    });
    money::total(priced).map_err(|error| {
        Error::invalid(
            "items",
            match error {
                TotalError::TooLarge => "cost more than an order may",
                TotalError::MixedCurrencies => {
                    "are priced in different currencies; order them apart"
                }
                TotalError::Nothing => "are empty",
            },
        )
    })
}
