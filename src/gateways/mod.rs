//! Payment providers: what each must be able to do ([`PaymentGateway`]), and those that are set up here.

mod gateway;
pub mod sandbox;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::clock::Clock;
use crate::database::Database;
use crate::error::{Error, Result};
use crate::settings::Settings;

pub use gateway::{PaymentGateway, RefundStanding, Rejected, Silence, Standing, Words};
pub use sandbox::Sandbox;

/// The gateways that this build knows, by the names that stand in paths and tables.
pub const KNOWN: [&str; 1] = [Sandbox::NAME];

/// Those whose settings are there.
pub struct Gateways {
    by_name: BTreeMap<&'static str, Arc<dyn PaymentGateway>>,
    /// Itself, for its cashier and its messages.
    sandbox: Option<Arc<Sandbox>>,
}

impl Gateways {
    /// Fails with a sentence that names the setting which cannot be used.
    pub fn set_up(settings: &Settings, db: &Database, clock: &Clock) -> Result<Self> {
        let mut by_name: BTreeMap<_, Arc<dyn PaymentGateway>> = BTreeMap::new();
        let sandbox = set_up_sandbox(settings, db, clock)?;
        if let Some(sandbox) = &sandbox {
            by_name.insert(Sandbox::NAME, Arc::<Sandbox>::clone(sandbox));
        }
        Ok(Self { by_name, sandbox })
    }

    /// [`Error::NotFound`] where it is not set up.
    pub fn named(&self, name: &str) -> Result<&dyn PaymentGateway> {
        let gateway = self.by_name.get(name).ok_or(Error::NotFound)?;
        Ok(gateway.as_ref())
    }

    /// [`Error::NotFound`] where there is none.
    pub fn sandbox(&self) -> Result<&Sandbox> {
        self.sandbox.as_deref().ok_or(Error::NotFound)
    }
}

impl fmt::Debug for Gateways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// Where no secret is set there is no sandbox: nobody in production pays with play money.
fn set_up_sandbox(
    settings: &Settings,
    db: &Database,
    clock: &Clock,
) -> Result<Option<Arc<Sandbox>>> {
    if settings.sandbox.secret.is_empty() {
        return Ok(None);
    }
    let sandbox = Sandbox::new(&settings.sandbox.secret, db.clone(), clock.clone());
    let problem = "ORDER__SANDBOX__SECRET must read whsec_ and base64";
    let sandbox = sandbox.ok_or_else(|| Error::Start(problem.to_owned()))?;
    Ok(Some(Arc::new(sandbox)))
}
