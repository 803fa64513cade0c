//! Payment providers: what each must be able to do ([`PaymentGateway`]), and which there are.

mod gateway;
mod registry;
pub mod sandbox;

pub use gateway::{PaymentGateway, RefundStanding, Rejected, Silence, Standing, Words};
pub use registry::{Gateways, KNOWN};
pub use sandbox::Sandbox;
