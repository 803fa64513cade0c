//! The doors: HTTP in, HTTP out, nothing but translation.

mod alerts;
mod answers;
mod body;
mod callbacks;
mod callers;
mod development;
mod door;
mod failed_messages;
mod health;
mod jobs;
mod loyalty;
mod openapi;
mod operations;
mod order_tokens;
mod orders;
mod pages;
mod path;
mod payments;
mod problem;
mod products;
mod refunds;
mod refusals;
mod sandbox;
mod shipments;
mod site;
mod turned_away;

use actix_web::web;

use crate::error::Error;
use crate::settings::Settings;

/// Bodies of requests end here, in bytes.
const LARGEST_BODY: usize = 64 * 1024;

/// Opens every door; those of development only where the settings say so.
pub fn configure(config: &mut web::ServiceConfig, settings: &Settings) {
    config.app_data(web::PayloadConfig::new(LARGEST_BODY));
    config.configure(order_tokens::configure);
    config.configure(orders::configure);
    config.configure(payments::configure);
    config.configure(callbacks::configure);
    config.configure(refunds::configure);
    config.configure(shipments::configure);
    config.configure(alerts::configure);
    config.configure(failed_messages::configure);
    config.configure(jobs::configure);
    config.configure(loyalty::configure);
    config.configure(products::configure);
    if settings.is_development() {
        config.configure(development::configure);
        config.configure(sandbox::configure);
    }
    config.configure(health::configure);
    config.configure(operations::configure);
    config.configure(openapi::configure);
    config.configure(site::configure);
    config.default_service(web::to(nothing_here));
}

async fn nothing_here() -> Result<&'static str, Error> {
    Err(Error::NotFound)
}
