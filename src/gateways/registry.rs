//! Which gateways there are, by the name that stands in paths and tables.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::gateway::PaymentGateway;
use super::sandbox::Sandbox;

/// The gateways that this build knows.
pub const KNOWN: [&str; 1] = [Sandbox::NAME];

/// Those that are set up here.
#[derive(Clone, Default)]
pub struct Gateways(BTreeMap<&'static str, Arc<dyn PaymentGateway>>);

impl Gateways {
    /// Adds one under its name, one of [`KNOWN`].
    pub fn add(&mut self, name: &'static str, gateway: Arc<dyn PaymentGateway>) {
        self.0.insert(name, gateway);
    }

    /// `None` for one that is not set up here.
    pub fn named(&self, name: &str) -> Option<&dyn PaymentGateway> {
        self.0.get(name).map(Arc::as_ref)
    }
}

impl fmt::Debug for Gateways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
