//! Bodies of answers; database entities are never sent as they are.

use chrono::{DateTime, Utc};
use entity::order::{OrderStatus, OrderType};
use entity::payment::PaymentStatus;
use entity::{OrderId, PaymentId, ProductId, UserId, order, order_item, payment, stock};
use serde::Serialize;
use utoipa::ToSchema;

use super::requests::PostalAddress;
use super::schema;
use super::shipment::Shipment;
use crate::auth::Role;
use crate::domain::order_flow::{self, Actor};
use crate::repositories::product::WithStock;

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
    /// The booked attempt, else the newest one.
    pub payment: Option<PaymentSummary>,
    pub shipment: Option<Shipment>,
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

/// The attempt that counts for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PaymentSummary {
    #[schema(value_type = String)]
    pub id: PaymentId,
    pub gateway: String,
    #[schema(value_type = schema::PaymentStatus)]
    pub status: PaymentStatus,
    /// Whether it should end at its gateway.
    pub close_requested: bool,
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

/// A whole list, without pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct List<T> {
    pub data: Vec<T>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Page<T> {
    pub data: Vec<T>,
    /// Send it back as `cursor`; `null` when the list ends here.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The first `limit` of `rows`, which were read one beyond it.
    pub fn cut(mut rows: Vec<T>, limit: u64, cursor: impl Fn(&T) -> String) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| more);
        Self {
            next_cursor: last.map(cursor),
            data: rows,
        }
    }

    /// The same page with each entry converted.
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Page<U> {
        Page {
            next_cursor: self.next_cursor,
            data: self.data.into_iter().map(each).collect(),
        }
    }
}

impl OrderView {
    pub fn new(order: order::Model, items: Vec<order_item::Model>) -> Self {
        Self {
            id: order.id,
            user_id: order.user_id,
            order_type: order.order_type,
            status: order.status,
            allowed_actions: order_flow::allowed_actions(order.status, Actor::Customer),
            items: items.into_iter().map(ItemView::from).collect(),
            amount: order.amount,
            currency: order.currency,
            refunded_amount: order.refunded_amount,
            payment: None,
            shipment: (!order.carrier.is_empty()).then_some(Shipment {
                carrier: order.carrier,
                tracking_no: order.tracking_no,
            }),
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

impl OrderView {
    /// Adds the actions that `role` may ask for, and the attempt among `payments` that counts.
    #[must_use]
    pub fn seen_by(mut self, role: Role, payments: &[payment::Model]) -> Self {
        let actor = match role {
            Role::Operator => Actor::Operator,
            Role::Customer | Role::Service => Actor::Customer,
        };
        self.allowed_actions = order_flow::allowed_actions(self.status, actor);
        let own = || {
            payments
                .iter()
                .filter(|payment| payment.order_id == self.id)
        };
        let booked = own().find(|payment| payment.role == payment::Role::Booked);
        self.payment = booked.or(own().next_back()).map(PaymentSummary::from);
        self
    }
}

impl From<&payment::Model> for PaymentSummary {
    fn from(payment: &payment::Model) -> Self {
        Self {
            id: payment.id,
            gateway: payment.gateway.clone(),
            status: payment.status,
            close_requested: payment.close_requested_at.is_some(),
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
