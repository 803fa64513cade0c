//! The one test binary; `TEST_PROFILE` says which parts it runs on.
//!
//! What needs servers lies in modules named `mysql` or `redis`, which the profile `sqlite` leaves out.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::as_conversions,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    reason = "a test that meets the unexpected has failed"
)]

mod architecture;
mod cancel_order;
mod change_address;
mod gate;
mod locks;
mod order_policies;
mod order_tokens;
mod place_order;
mod products;
mod races;
mod read_orders;
mod redis_outages;
mod support;
