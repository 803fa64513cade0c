//! Bodies of requests. The controller validates each once, so that a use case can rely on it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use entity::order::OrderType;
use entity::{Address, ProductId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::{Validate, ValidationError, ValidationErrors, ValidationErrorsKind};

use super::schema;
use crate::auth::{Caller, Role};
use crate::domain::money::MAX_AMOUNT;
use crate::error::{Error, FieldError, Result};
use crate::idempotency::Command;

/// An order that somebody wants to place.
#[derive(Debug, Clone, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    #[schema(value_type = schema::OrderType)]
    pub order_type: OrderType,
    /// 1 to 20 products, each once.
    #[validate(length(min = 1, max = 20, message = "has 1 to 20 entries"), nested)]
    #[schema(min_items = 1, max_items = 20)]
    pub items: Vec<NewItem>,
    #[validate(nested)]
    pub address: PostalAddress,
    /// The total that the client expects, in minor units; if it differs from the present prices, nothing is bought.
    #[validate(range(min = 0, max = "MAX_AMOUNT", message = "is an amount in minor units"))]
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    pub expected_amount: Option<i64>,
    /// The customer who orders: required from a service, refused from others.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64)]
    pub user_id: Option<String>,
    /// For callers that cannot set headers; the header `Idempotency-Key` wins.
    #[serde(default, skip_serializing)]
    #[schema(min_length = 1, max_length = 255)]
    pub idempotency_key: Option<String>,
}

/// One product of a new order.
#[derive(Debug, Clone, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewItem {
    #[schema(value_type = String, example = "1", pattern = "^(0|[1-9][0-9]{0,17})$")]
    pub product_id: ProductId,
    #[validate(range(min = 1, max = 1000, message = "is 1 to 1000"))]
    #[schema(minimum = 1, maximum = 1000)]
    pub quantity: i64,
}

/// Where the order goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PostalAddress {
    #[validate(custom(function = "line_of_100"))]
    #[schema(min_length = 1, max_length = 100)]
    pub recipient: String,
    /// 5 to 20 digits, blanks, `+`, `-`, `(` or `)`.
    #[validate(custom(function = "phone"))]
    #[schema(
        min_length = 5,
        max_length = 20,
        pattern = r"^[-0-9 +()]*([0-9][- +()]*){5}$"
    )]
    pub phone: String,
    /// ISO 3166-1 alpha-2, in capitals.
    #[validate(custom(function = "country"))]
    #[schema(min_length = 2, max_length = 2, pattern = "^[A-Z]{2}$")]
    pub country: String,
    #[validate(custom(function = "line_of_100"))]
    #[schema(min_length = 1, max_length = 100)]
    pub region: String,
    #[validate(custom(function = "line_of_100"))]
    #[schema(min_length = 1, max_length = 100)]
    pub city: String,
    #[validate(custom(function = "line_of_200"))]
    #[schema(min_length = 1, max_length = 200)]
    pub line1: String,
    #[validate(custom(function = "line_of_200"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub line2: Option<String>,
    /// 1 to 16 letters, digits, blanks or hyphens.
    #[validate(custom(function = "postal_code"))]
    #[schema(
        min_length = 1,
        max_length = 16,
        pattern = "^[-0-9A-Za-z ]*[0-9A-Za-z-]+[-0-9A-Za-z ]*$"
    )]
    pub postal_code: String,
}

/// How an operator wants to offer a product: its name, price and availability.
#[derive(Debug, Clone, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProductOffer {
    #[validate(custom(function = "line_of_200"))]
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// In minor units of `currency`.
    #[validate(range(min = 0, max = "MAX_AMOUNT", message = "is 0 to 1000000000000"))]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    pub price: i64,
    /// ISO 4217.
    #[validate(custom(function = "currency"))]
    #[schema(min_length = 3, max_length = 3, pattern = "^[A-Z]{3}$")]
    pub currency: String,
    pub on_sale: bool,
}

/// The quantity that an operator counted.
#[derive(Debug, Clone, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StockQuantity {
    #[validate(range(min = 0, max = 1_000_000_000, message = "is 0 to 1000000000"))]
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub quantity: i64,
}

impl Command for NewOrder {
    const OPERATION: &'static str = "create_order";
    const KEY_REQUIRED: bool = true;
    const ROLES: &'static [Role] = &[Role::Customer, Role::Service];

    fn key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn check(&self, caller: &Caller) -> Result<()> {
        checked(self)?;
        let mut seen = HashSet::new();
        if let Some(at) = self
            .items
            .iter()
            .position(|item| !seen.insert(item.product_id))
        {
            let field = format!("items[{at}].product_id");
            return Err(Error::invalid(
                field,
                "is there twice; send one entry with the sum",
            ));
        }
        self.buyer(caller).map(|_| ())
    }
}

impl NewOrder {
    /// For whom the order is: the caller himself, or the customer that a service names.
    pub fn buyer(&self, caller: &Caller) -> Result<UserId> {
        match (caller.role, &self.user_id) {
            (Role::Service, Some(user)) => UserId::parse(user.clone())
                .ok_or_else(|| Error::invalid("user_id", "is text of 1 to 64 bytes")),
            (Role::Service, None) => Err(Error::invalid("user_id", "says for whom the order is")),
            (_, Some(_)) => Err(Error::invalid("user_id", "is for services; leave it out")),
            (_, None) => Ok(caller.user.clone()),
        }
    }
}

impl From<PostalAddress> for Address {
    fn from(address: PostalAddress) -> Self {
        Self {
            recipient: address.recipient,
            phone: address.phone,
            country: address.country,
            region: address.region,
            city: address.city,
            line1: address.line1,
            line2: address.line2,
            postal_code: address.postal_code,
        }
    }
}

impl From<Address> for PostalAddress {
    fn from(address: Address) -> Self {
        Self {
            recipient: address.recipient,
            phone: address.phone,
            country: address.country,
            region: address.region,
            city: address.city,
            line1: address.line1,
            line2: address.line2,
            postal_code: address.postal_code,
        }
    }
}

/// Validates a body; the error lists all fields that cannot be used, so that a form can show them together.
pub fn checked(body: &impl Validate) -> Result<()> {
    body.validate().map_err(|errors| {
        let mut fields = Vec::new();
        collect(&errors, "", &mut fields);
        fields.sort_by(|one, two| one.field.cmp(&two.field));
        Error::Invalid(fields)
    })
}

fn collect(errors: &ValidationErrors, prefix: &str, fields: &mut Vec<FieldError>) {
    for (name, kind) in errors.errors() {
        let field = format!("{prefix}{name}");
        match kind {
            ValidationErrorsKind::Struct(inner) => collect(inner, &format!("{field}."), fields),
            ValidationErrorsKind::List(entries) => {
                for (at, inner) in entries {
                    collect(inner, &format!("{field}[{at}]."), fields);
                }
            }
            ValidationErrorsKind::Field(errors) => {
                fields.extend(errors.iter().map(|error| {
                    let message = error.message.as_deref().unwrap_or("cannot be used");
                    FieldError::new(&field, message)
                }));
            }
        }
    }
}

fn refusal(message: impl Into<Cow<'static, str>>) -> ValidationError {
    ValidationError::new("refused").with_message(message.into())
}

fn line(text: &str, longest: usize) -> std::result::Result<(), ValidationError> {
    if text.chars().any(hides) {
        return Err(refusal("holds characters that do not show"));
    }
    if text.trim().is_empty() || text.chars().count() > longest {
        return Err(refusal(format!(
            "is 1 to {longest} characters, not only blanks"
        )));
    }
    Ok(())
}

/// Control characters, ends of lines, and invisible marks that reverse or hide text: with them a printed label would
/// show another address than the one that was read. The joiners and direction marks that scripts need (U+200C to
/// U+200F) are allowed.
fn hides(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn line_of_100(text: &str) -> std::result::Result<(), ValidationError> {
    line(text, 100)
}

fn line_of_200(text: &str) -> std::result::Result<(), ValidationError> {
    line(text, 200)
}

fn phone(text: &str) -> std::result::Result<(), ValidationError> {
    let allowed = text
        .chars()
        .all(|char| char.is_ascii_digit() || " +-()".contains(char));
    let digits = text.chars().filter(char::is_ascii_digit).count();
    if allowed && (5..=20).contains(&text.len()) && digits >= 5 {
        Ok(())
    } else {
        Err(refusal(
            "is a phone number of 5 to 20 digits, blanks, +, -, ( or )",
        ))
    }
}

fn country(text: &str) -> std::result::Result<(), ValidationError> {
    if text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase()) {
        Ok(())
    } else {
        Err(refusal("is a country code of two capitals, like CN"))
    }
}

fn postal_code(text: &str) -> std::result::Result<(), ValidationError> {
    let allowed = text
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || " -".contains(char));
    if allowed && (1..=16).contains(&text.len()) && !text.trim().is_empty() {
        Ok(())
    } else {
        Err(refusal("is 1 to 16 letters, digits, blanks or hyphens"))
    }
}

/// The currencies that have minor units of the usual 100, 1 or 1,000 parts and are in use.
static CURRENCIES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("currencies.txt").split_whitespace().collect());

fn currency(text: &str) -> std::result::Result<(), ValidationError> {
    if CURRENCIES.contains(text) {
        Ok(())
    } else {
        Err(refusal("is a currency code of ISO 4217, like CNY"))
    }
}
