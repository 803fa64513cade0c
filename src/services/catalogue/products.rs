//! The catalogue: products and their prices, which anybody may read and operators may change.

use entity::{ProductId, product};

use crate::app::App;
use crate::error::{Error, Result};
use crate::repositories;
use crate::repositories::product::Offer;
use crate::services::api::requests::ProductOffer;
use crate::services::api::responses::ProductView;

pub async fn list(app: &App) -> Result<Vec<ProductView>> {
    let products = repositories::product::list(app.db.read()).await?;
    Ok(products.into_iter().map(ProductView::from).collect())
}

pub async fn read(app: &App, id: ProductId) -> Result<ProductView> {
    let found = repositories::product::of_ids(app.db.read(), &[id]).await?;
    found
        .into_iter()
        .next()
        .map(ProductView::from)
        .ok_or(Error::NotFound)
}

/// Replaces a product's name, price and availability; values equal to the present ones change nothing.
///
/// [`Error::VersionConflict`] when the product has changed since version `seen`; without `seen` the last request wins.
pub async fn change(
    app: &App,
    id: ProductId,
    offer: &ProductOffer,
    seen: Option<i64>,
) -> Result<ProductView> {
    let now = app.clock.now();
    app.db
        .transaction(async |tx| {
            let product = repositories::product::lock(tx, id)
                .await?
                .ok_or(Error::NotFound)?;
            let wanted = wanted(offer);
            if current(&product) == wanted {
                return Ok(());
            }
            if seen.is_some_and(|version| version != product.version) {
                return Err(Error::VersionConflict);
            }
            if repositories::product::set_offer(tx, id, product.version, wanted, now).await? {
                Ok(())
            } else {
                Err(Error::VersionConflict)
            }
        })
        .await?;
    read(app, id).await
}

fn wanted(offer: &ProductOffer) -> Offer {
    Offer {
        name: offer.name.clone(),
        price: offer.price,
        currency: offer.currency.clone(),
        on_sale: offer.on_sale,
    }
}

fn current(product: &product::Model) -> Offer {
    Offer {
        name: product.name.clone(),
        price: product.price,
        currency: product.currency.clone(),
        on_sale: product.on_sale,
    }
}
