//! Calls to gateways that consumers leave behind: a few at once, beside the messages, lost without harm.

use std::sync::Arc;

use log::log;

use super::gateway_calls::{self, GatewayCall};
use crate::app::App;

/// Calls the gateway in a task of its own. When all places are taken, or this process dies, the job
/// that asks gateways again does it: the row says that it is due.
pub fn send_off(app: &Arc<App>, call: GatewayCall) {
    let Some(place) = app.background_calls.try_place() else {
        return;
    };
    let app = Arc::clone(app);
    actix_web::rt::spawn(async move {
        if let Err(error) = gateway_calls::run(&app, &call).await {
            log!(error.level(), cause = error.cause(); "a gateway's answer was not settled; it is asked again");
        }
        drop(place);
    });
}
