//! Shipping an order and confirming its receipt; the same request a second time changes nothing.

use entity::OrderId;
use entity::order::OrderStatus;
use serde_json::json;

use super::manage_orders;
use super::order_status::{self, Note};
use crate::app::App;
use crate::auth::Caller;
use crate::domain::order_flow::Move;
use crate::error::{Error, Result};
use crate::repositories;
use crate::services::api::responses::OrderView;
use crate::services::api::shipment::Shipment;

/// Ships a paid order; the same shipment again changes nothing.
///
/// [`Error::ShipmentDiffers`] when it was shipped by another carrier or number, [`Error::StateConflict`] unless it is paid.
pub async fn ship(
    app: &App,
    caller: &Caller,
    id: OrderId,
    shipment: &Shipment,
) -> Result<OrderView> {
    let now = app.clock.now();
    app.db
        .transaction(async |tx| {
            let order = repositories::order::lock(tx, id, manage_orders::reach(caller)).await?;
            let order = order.ok_or(Error::NotFound)?;
            if order.shipped_at.is_some() {
                let known = (order.carrier.as_str(), order.tracking_no.as_str());
                let same = known == (shipment.carrier.as_str(), shipment.tracking_no.as_str());
                return if same {
                    Ok(())
                } else {
                    Err(Error::ShipmentDiffers)
                };
            }
            let payload = json!({ "carrier": shipment.carrier });
            let note = Note::new(caller.role.name(), payload);
            order_status::change(tx, order, Move::Ship, note, now).await?;
            let Shipment {
                carrier,
                tracking_no,
            } = shipment;
            repositories::order::set_shipment(tx, id, carrier, tracking_no).await?;
            Ok(())
        })
        .await?;
    manage_orders::read(app, caller, id).await
}

/// Confirms that a shipped order arrived; a second time changes nothing.
pub async fn receive(app: &App, caller: &Caller, id: OrderId) -> Result<OrderView> {
    let now = app.clock.now();
    app.db
        .transaction(async |tx| {
            let order = repositories::order::lock(tx, id, manage_orders::reach(caller)).await?;
            let order = order.ok_or(Error::NotFound)?;
            if order.status == OrderStatus::Finished {
                return Ok(());
            }
            let note = Note::new(caller.role.name(), json!({}));
            order_status::change(tx, order, Move::Receive, note, now).await?;
            Ok::<_, Error>(())
        })
        .await?;
    manage_orders::read(app, caller, id).await
}
