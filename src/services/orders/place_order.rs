//! Placing an order: check the order token, pass the gate, take the rush locks, then one transaction, whose unique keys
//! refuse every repeat.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use entity::ProductId;
use sha2::{Digest, Sha256};

use super::placement::{self, Placement, Refused};
use super::pricing::quote;
use super::ticket::{Request, Ticket};
use crate::app::App;
use crate::auth::Role;
use crate::error::{Error, Result};
use crate::idempotency::token::OrderToken;
use crate::metrics::Layer;
use crate::repositories;
use crate::repositories::order::Whose;
use crate::services::keyed_requests::admission;
use crate::services::keyed_requests::replay::{self, Answer};

/// How often a creation is tried when a unique key refused it but the row behind that key is gone afterwards.
const TRIES: u32 = 5;
/// How long a finished request is remembered at the gate beyond its token's life.
const MEMORY: Duration = Duration::from_hours(1);

/// Places the order of `request` once, however often and wherever it arrives.
pub async fn place(app: &App, request: &Request) -> Result<Answer> {
    let ticket = ticket(app, request).await?;
    let memory = app.settings.token.ttl + MEMORY;
    let look = async || replay::look(app, request, Layer::Gate).await;
    let work = async || place_once(app, request, &ticket).await;
    admission::once(app, request, memory, look, work).await
}

/// Which order the request may create: a customer's token says so; for a service's own key an id is minted.
async fn ticket(app: &App, request: &Request) -> Result<Ticket> {
    let caller = &request.caller;
    let buyer = request.body.buyer(caller)?;
    if caller.role == Role::Service {
        return Ok(Ticket {
            order_id: app.ids.mint().await?,
            buyer,
            expires_at: None,
        });
    }
    let secret = app.settings.token.secret.as_bytes();
    let Some(token) = OrderToken::verify(request.key.as_str(), secret, &caller.user) else {
        app.metrics.intercepted(Layer::Token, request.operation);
        return Err(Error::TokenInvalid);
    };
    Ok(Ticket {
        order_id: token.order_id,
        buyer,
        expires_at: Some(token.expires_at),
    })
}

async fn place_once(app: &App, request: &Request, ticket: &Ticket) -> Result<Answer> {
    if !app.settings.rules(request.body.order_type).lock {
        return attempt(app, request, ticket).await;
    }
    let mut products: Vec<ProductId> = request
        .body
        .items
        .iter()
        .map(|item| item.product_id)
        .collect();
    products.sort_unstable();
    under_locks(app, request, ticket, &products).await
}

/// Creates the order under one lock for each product, taken in the order of the products. A lock that is not free in
/// time is skipped, since the unique key decides.
async fn under_locks(
    app: &App,
    request: &Request,
    ticket: &Ticket,
    products: &[ProductId],
) -> Result<Answer> {
    let Some((product, others)) = products.split_first() else {
        return attempt(app, request, ticket).await;
    };
    let kind = request.body.order_type;
    // A lock's name may appear in the log, a customer's id must not: so it is hashed.
    let buyer = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(ticket.buyer.as_str()));
    let name = format!("order:{kind:?}:{buyer}:{product}");
    let held = app
        .locks
        .hold(&name, Box::pin(under_locks(app, request, ticket, others)))
        .await;
    match held {
        Ok(answer) => answer,
        Err(_held_by_another) => {
            app.metrics.intercepted(Layer::Lock, request.operation);
            Box::pin(under_locks(app, request, ticket, others)).await
        }
    }
}

async fn attempt(app: &App, request: &Request, ticket: &Ticket) -> Result<Answer> {
    for _ in 0..TRIES {
        let obstacle = if ticket.is_expired(app.clock.now()) {
            Refused::Expired
        } else {
            let quote = match quote(app, &request.body).await {
                Ok(quote) => quote,
                Err(refusal) => return or_replay(app, request, refusal).await,
            };
            match placement::run(&Placement {
                app,
                request,
                ticket,
                quote: &quote,
            })
            .await
            {
                Ok(order) => return Ok(Answer::first(order)),
                Err(obstacle) => obstacle,
            }
        };
        if let Some(answer) = meaning_of(app, request, ticket, obstacle).await? {
            return Ok(answer);
        }
    }
    Err(Error::Busy)
}

/// Before a refusal outside the transaction, looks up the record once, so that a repeat gets its replay instead.
async fn or_replay(app: &App, request: &Request, refusal: Error) -> Result<Answer> {
    match replay::look(app, request, Layer::IdempotencyRecord).await? {
        Some(answer) => Ok(answer),
        None => Err(refusal),
    }
}

/// Reads, after the rollback, which row refused the creation; `None` when it is gone and another try helps.
async fn meaning_of(
    app: &App,
    request: &Request,
    ticket: &Ticket,
    obstacle: Refused,
) -> Result<Option<Answer>> {
    match obstacle {
        Refused::Because(error) => Err(error),
        Refused::Repeated => replay::look(app, request, Layer::IdempotencyRecord).await,
        Refused::StillRunning => {
            if let Some(answer) = replay::look(app, request, Layer::IdempotencyRecord).await? {
                Ok(Some(answer))
            } else {
                let layer = Layer::IdempotencyRecord;
                app.metrics.intercepted(layer, request.operation);
                Err(Error::InProgress { layer })
            }
        }
        Refused::Expired => bury(app, request, ticket).await,
        Refused::IdTaken => order_of_ticket(app, request, ticket).await,
        Refused::SlotTaken => slot_holder(app, request, ticket).await,
    }
}

/// Writes the tombstone of an expired token, unless its order exists, even with its record archived.
async fn bury(app: &App, request: &Request, ticket: &Ticket) -> Result<Option<Answer>> {
    let whose = Whose::Of(&ticket.buyer);
    if let Some(order) = repositories::order::find(app.db.read(), ticket.order_id, whose).await? {
        let recorded = replay::look(app, request, Layer::IdempotencyRecord).await?;
        let replay = || Answer::replay(app, request.operation, order, Layer::OrderUnique);
        return Ok(Some(recorded.unwrap_or_else(replay)));
    }
    match placement::bury(app, request, ticket).await {
        Ok(()) => Err(Error::TokenExpired),
        Err(Refused::Because(error)) => Err(error),
        Err(Refused::StillRunning) => Err(Error::InProgress {
            layer: Layer::IdempotencyRecord,
        }),
        Err(_repeated) => replay::look(app, request, Layer::IdempotencyRecord).await,
    }
}

/// The order that the token created, whose idempotency record was archived; its owner gets it.
async fn order_of_ticket(app: &App, request: &Request, ticket: &Ticket) -> Result<Option<Answer>> {
    let whose = Whose::Of(&ticket.buyer);
    let order = repositories::order::find(app.db.read(), ticket.order_id, whose).await?;
    let order = order.ok_or(Error::TokenInvalid)?;
    Ok(Some(Answer::replay(
        app,
        request.operation,
        order,
        Layer::OrderUnique,
    )))
}

async fn slot_holder(app: &App, request: &Request, ticket: &Ticket) -> Result<Option<Answer>> {
    let products: Vec<ProductId> = request
        .body
        .items
        .iter()
        .map(|item| item.product_id)
        .collect();
    let kind = request.body.order_type;
    let holder =
        repositories::order_item::slot_holder(app.db.read(), &ticket.buyer, kind, &products)
            .await?;
    match holder {
        Some(order_id) => {
            app.metrics
                .intercepted(Layer::OrderUnique, request.operation);
            Err(Error::OrderExists { order_id })
        }
        None => Ok(None),
    }
}
