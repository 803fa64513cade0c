//! Calls to gateways that consumers leave behind: a few at once, beside the messages, lost without harm.

use std::sync::Arc;

use log::log;
use tokio::sync::Semaphore;

use super::gateway_calls::{self, Errand};
use crate::app::App;

/// How many calls one instance makes at once; what is beyond stays due in the database.
const AT_ONCE: u32 = 16;

/// The calls under way at this instance.
#[derive(Debug, Clone)]
pub struct Errands(Arc<Semaphore>);

impl Default for Errands {
    fn default() -> Self {
        let places = usize::try_from(AT_ONCE).unwrap_or(1);
        Self(Arc::new(Semaphore::new(places)))
    }
}

impl Errands {
    /// Returns once no call is under way.
    pub async fn done(&self) {
        // Fails only when the semaphore is closed, which nobody does.
        let _all = self.0.acquire_many(AT_ONCE).await;
    }
}

/// Calls the gateway in a task of its own. When all places are taken, or this process dies, the job
/// that asks gateways again does it: the row says that it is due.
pub fn send_off(app: &Arc<App>, errand: Errand) {
    let Ok(place) = Arc::clone(&app.errands.0).try_acquire_owned() else {
        return;
    };
    let app = Arc::clone(app);
    actix_web::rt::spawn(async move {
        if let Err(error) = gateway_calls::run(&app, &errand).await {
            log!(error.level(), cause = error.cause(); "a gateway's answer was not settled; it is asked again");
        }
        drop(place);
    });
}
