//! The one test binary; `TEST_PROFILE` says which parts it runs on.
//!
//! What needs servers lies in modules named `mysql` or `redis`, which the profile `sqlite` leaves out.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that meets the unexpected has failed"
)]

mod alerts;
mod architecture;
mod archive;
mod archive_crashes;
mod archive_repeats;
mod archive_runs;
mod audit_of_events;
mod bearer_tokens;
mod cancel_order;
mod change_address;
mod clock_steps;
mod close_unpaid;
mod consumers;
mod contract;
mod crashes;
mod disk_trouble;
mod docs;
mod documents;
mod doors;
mod event_crashes;
mod failed_messages;
mod fields;
mod gate;
mod headers;
mod hostile;
mod ids;
mod inputs;
mod jobs;
mod locks;
mod message_orders;
mod migrations;
mod mysql;
mod observability;
mod order_policies;
mod order_tokens;
mod outbox;
mod payment_callbacks;
mod payment_crashes;
mod payments;
mod place_order;
mod points;
mod production;
mod products;
mod races;
mod read_orders;
mod reconcile;
mod redis_outages;
mod redis_store;
mod refunds;
mod requests;
mod settings;
mod sqlite_faults;
mod support;
