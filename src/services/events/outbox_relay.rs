//! The outbox relay hands the events of the outbox over to the bus, in order per order, at least once.
//!
//! One relay at a time holds an order's events by a lease; a crash anywhere leaves them waiting, and what was
//! handed over but not marked is handed over again.

use std::cell::Cell;

use chrono::TimeDelta;
use entity::{OrderId, order_event};
use futures_util::StreamExt;
use futures_util::stream;
use log::{error, warn};
use rand::seq::SliceRandom;
use sea_orm::ActiveEnum;

use crate::app::App;
use crate::database::Refusal;
use crate::domain::events::{self, Consumer};
use crate::error::Result;
use crate::events::{Bus, Message};
use crate::repositories;
use crate::repositories::lease::Claim;
use crate::repositories::order_event::claim_name;

/// How many orders one pass looks at, and how many events of each.
const BATCH: u64 = 256;
/// How long a bus may keep a message before it counts as lost, and for how long lost ones are looked for.
const LOST_AFTER: TimeDelta = TimeDelta::minutes(10);
const LOST_SINCE: TimeDelta = TimeDelta::hours(6);
/// How many orders are relayed at once.
const AT_ONCE: usize = 8;

/// What one pass over the outbox did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Relayed {
    /// Events that were handed over.
    pub events: usize,
    /// The bus did not take an event; the pass ended there.
    pub is_cut_short: bool,
}

/// Hands over the events that wait in the outbox, of a few hundred orders at most.
pub async fn relay(
    app: &App,
    take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
) -> Result<Relayed> {
    let mut orders = repositories::order_event::waiting_orders(app.db.read(), BATCH).await?;
    // Instances that look at the same moment begin at different orders.
    orders.shuffle(&mut rand::rng());
    let events = Cell::new(0);
    let is_cut_short = Cell::new(false);
    let mut relays = stream::iter(orders)
        .map(async |order| {
            if is_cut_short.get() || app.is_stopping() {
                return Ok(());
            }
            let relayed = match relay_order(app, order, take).await {
                Ok(relayed) => relayed,
                Err(error) if error.is_passing() => return Err(error),
                Err(error) => {
                    // The relay's lease on the order stays; after its end the events are looked at again.
                    error!(order:% = order, cause = error.cause(); "the events of an order cannot be handed over");
                    Relayed::default()
                }
            };
            events.update(|sum| sum + relayed.events);
            is_cut_short.update(|cut| cut || relayed.is_cut_short);
            Ok(())
        })
        .buffer_unordered(AT_ONCE);
    let mut first_error = Ok(());
    while let Some(result) = relays.next().await {
        first_error = first_error.and(result);
    }
    drop(relays);
    first_error.map(|()| Relayed {
        events: events.get(),
        is_cut_short: is_cut_short.get(),
    })
}

/// Delivers to the consumers directly, past the bus, the events that were handed over a while ago but on which
/// they neither acted nor failed: a broker that was wiped, or a queue that somebody deleted, has lost them. Returns how many.
/// Also removes the leases that crashed relays left behind.
pub async fn bring_lost(
    app: &App,
    take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
) -> Result<usize> {
    repositories::lease::delete_expired(app.db.write(), repositories::order_event::CLAIM).await?;
    let now = app.clock.now();
    let between = (now - LOST_SINCE, now - LOST_AFTER);
    let mut brought = 0;
    for consumer in Consumer::ALL {
        let db = app.db.read();
        for event in repositories::order_event::unconsumed(db, consumer, between, BATCH).await? {
            if app.is_stopping() {
                return Ok(brought);
            }
            take(consumer, &message(event)).await?;
            brought += 1;
        }
    }
    Ok(brought)
}

/// The message made of an event; its id is the same each time.
pub fn message(event: order_event::Model) -> Message {
    // An instance of an earlier version that runs beside us leaves the subject of its events empty.
    let subject = if event.subject.is_empty() {
        events::subject(&event.payload, event.seq)
    } else {
        event.subject
    };
    Message {
        message_id: format!("event-{}", event.id),
        event_id: event.id,
        order_id: event.order_id,
        seq: event.seq,
        kind: event.kind,
        subject,
        from: event.from_status.map(|from| from.to_value()),
        to: event.to_status.to_value(),
        payload: event.payload,
        created_at: event.created_at,
    }
}

async fn relay_order(
    app: &App,
    order: OrderId,
    take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
) -> Result<Relayed> {
    let name = claim_name(order);
    let claim = Claim {
        name: &name,
        holder: app.instance(),
        length: app.settings.events.lease,
        reserved: 0,
    };
    if !repositories::lease::take(app.db.write(), &claim).await? {
        return Ok(Relayed::default());
    }
    let relayed = publish_in_turn(app, order, &claim, take).await?;
    repositories::lease::delete(app.db.write(), &name, app.instance()).await?;
    Ok(relayed)
}

/// Publishes an order's events in their order and stops at the first that is not handed over, so that none overtakes it.
async fn publish_in_turn(
    app: &App,
    order: OrderId,
    claim: &Claim<'_>,
    take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
) -> Result<Relayed> {
    let waiting = repositories::order_event::waiting(app.db.write(), order, BATCH).await?;
    let mut relayed = Relayed::default();
    for (place, event) in waiting.into_iter().enumerate() {
        // The first event comes right after the lease was taken, so nothing has to be renewed.
        if place > 0 && !repositories::lease::renew(app.db.write(), claim).await? {
            break;
        }
        let id = event.id;
        if let Err(problem) = app.bus.publish(&message(event), take).await {
            app.metrics.events.publish_failures.inc();
            warn!(order:% = order, problem:% = problem; "an event was not handed over; it waits in the outbox");
            relayed.is_cut_short = true;
            break;
        }
        let now = app.clock.now();
        repositories::order_event::mark_published(app.db.write(), id, now).await?;
        app.metrics.events.published.inc();
        relayed.events += 1;
    }
    Ok(relayed)
}
