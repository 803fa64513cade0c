//! Where a parcel is: said by operators, shown to customers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

/// Where a parcel is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Shipment {
    #[validate(length(min = 1, max = 64, message = "is 1 to 64 characters"))]
    #[schema(min_length = 1, max_length = 64)]
    pub carrier: String,
    #[validate(length(min = 1, max = 64, message = "is 1 to 64 characters"))]
    #[schema(min_length = 1, max_length = 64)]
    pub tracking_no: String,
}
