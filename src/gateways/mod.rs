//! Payment providers: what each must be able to do ([`PaymentGateway`]), and which there are.

mod gateway;
pub mod sandbox;

pub use gateway::{PaymentGateway, RefundStanding, Rejected, Silence, Standing, Words};
pub use sandbox::Sandbox;
