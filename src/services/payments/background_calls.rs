//! Runs the gateway call that a consumer asked for in the background, so that the consumer need not wait for the gateway.

use std::sync::Arc;

use log::log;

use super::gateway_calls::{self, GatewayCall};
use crate::app::App;

/// Calls the gateway in a task of its own. When too many calls are under way, or this process dies, a
/// scheduled job makes the call later, because the row stays due.
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
