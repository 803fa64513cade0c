//! What crosses the wire on the way out; entities never do.

use chrono::{DateTime, Utc};
use entity::order::{OrderStatus, OrderType};
use entity::{OrderId, ProductId, UserId, order, order_event, order_item, stock};
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::order_flow;
use crate::repositories::product::WithStock;
use crate::services::commands::PostalAddress;

/// An order as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OrderView {
    #[schema(value_type = String, example = "123456789012345")]
    pub id: OrderId,
    #[schema(value_type = String)]
    pub user_id: UserId,
    #[schema(value_type = schema::OrderType)]
    pub order_type: OrderType,
    #[schema(value_type = schema::OrderStatus)]
    pub status: OrderStatus,
    /// What the owner or an operator may ask for now.
    pub allowed_actions: Vec<&'static str>,
    pub items: Vec<ItemView>,
    /// In minor units of `currency`.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// In minor units.
    pub refunded_amount: i64,
    pub address: PostalAddress,
    /// Send it back in `If-Match`.
    pub version: i64,
    pub created_at: DateTime<Utc>,
    /// Until when a payment may be started.
    pub expires_at: DateTime<Utc>,
    pub paid_at: Option<DateTime<Utc>>,
    pub shipped_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
    pub closed_at: Option<DateTime<Utc>>,
}

/// One product of an order, as it was bought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ItemView {
    #[schema(value_type = String)]
    pub product_id: ProductId,
    pub sku: String,
    pub name: String,
    /// Of one piece, in minor units of the order's currency.
    pub unit_price: i64,
    pub quantity: i64,
}

/// One step of an order's history.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TimelineEntry {
    /// `event`.
    pub kind: &'static str,
    /// 1, 2, 3 … without gaps.
    pub seq: i64,
    #[serde(rename = "type")]
    pub event_type: String,
    #[schema(value_type = Option<schema::OrderStatus>)]
    pub from: Option<OrderStatus>,
    #[schema(value_type = schema::OrderStatus)]
    pub to: OrderStatus,
    /// `customer`, `operator`, `service` or the name of a job.
    pub actor: String,
    #[schema(value_type = Object)]
    pub payload: serde_json::Value,
    pub created_at: DateTime<Utc>,
}

/// A product and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProductView {
    #[schema(value_type = String, example = "1")]
    pub id: ProductId,
    pub sku: String,
    pub name: String,
    /// In minor units of `currency`.
    pub price: i64,
    /// ISO 4217.
    pub currency: String,
    pub on_sale: bool,
    /// Send it back in `If-Match`.
    pub version: i64,
    pub stock: StockView,
}

/// How many pieces are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct StockView {
    pub quantity: i64,
    /// Send it back in `If-Match`.
    pub version: i64,
}

/// A list that ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct List<T> {
    pub data: Vec<T>,
}

/// A list that may go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Page<T> {
    pub data: Vec<T>,
    /// Send it back as `cursor`; `null` when the list ends here.
    pub next_cursor: Option<String>,
}

impl OrderView {
    pub fn new(order: order::Model, items: Vec<order_item::Model>) -> Self {
        Self {
            id: order.id,
            user_id: order.user_id,
            order_type: order.order_type,
            status: order.status,
            allowed_actions: order_flow::allowed_actions(order.status),
            items: items.into_iter().map(ItemView::from).collect(),
            amount: order.amount,
            currency: order.currency,
            refunded_amount: order.refunded_amount,
            address: order.address.into(),
            version: order.version,
            created_at: order.created_at,
            expires_at: order.expires_at,
            paid_at: order.paid_at,
            shipped_at: order.shipped_at,
            finished_at: order.finished_at,
            closed_at: order.closed_at,
        }
    }
}

impl From<order_item::Model> for ItemView {
    fn from(item: order_item::Model) -> Self {
        Self {
            product_id: item.product_id,
            sku: item.sku,
            name: item.name,
            unit_price: item.price,
            quantity: item.quantity,
        }
    }
}

impl From<order_event::Model> for TimelineEntry {
    fn from(event: order_event::Model) -> Self {
        Self {
            kind: "event",
            seq: event.seq,
            event_type: event.kind,
            from: event.from_status,
            to: event.to_status,
            actor: event.actor,
            payload: event.payload,
            created_at: event.created_at,
        }
    }
}

impl From<WithStock> for ProductView {
    fn from((product, stock): WithStock) -> Self {
        Self {
            id: product.id,
            sku: product.sku,
            name: product.name,
            price: product.price,
            currency: product.currency,
            on_sale: product.on_sale,
            version: product.version,
            stock: stock.map_or(
                StockView {
                    quantity: 0,
                    version: 0,
                },
                StockView::from,
            ),
        }
    }
}

impl From<stock::Model> for StockView {
    fn from(stock: stock::Model) -> Self {
        Self {
            quantity: stock.quantity,
            version: stock.version,
        }
    }
}

/// How the API's description shows types that the tables own.
pub mod schema {
    use utoipa::ToSchema;

    /// What kind of sale it is.
    #[derive(Debug, ToSchema)]
    #[schema(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum OrderType {
        Normal,
        FlashSale,
        GroupBuy,
    }

    /// Where an order stands.
    #[derive(Debug, ToSchema)]
    #[schema(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum OrderStatus {
        PendingPayment,
        Paying,
        Paid,
        Shipped,
        Finished,
        Closed,
        Refunding,
        Refunded,
    }
}
