//! Many instances on one MariaDB and one Redis, and what happens when one of these fails: it costs time, never an order.

use futures_util::StreamExt;
use futures_util::stream::{self, Stream};
use serde_json::Value;

use crate::support::faults::asks_to_repeat;
use crate::support::{Client, Reply, Shop};

mod broker;
mod broker_away;
mod broker_blocked;
mod broker_outages;
mod commit_faults;
mod crossing_messages;
mod database_away;
mod database_still;
mod database_trouble;
mod event_steps;
mod killed_steps;
mod payments;
mod redis_away;
mod stopped_instance;
mod three_closers;
mod two_instances;
mod two_relays;

/// A hundred identical creations of ann's, at each instance in turn; their answers as they come.
fn hundred<'a>(
    instances: &'a [&Shop],
    key: &'a str,
    body: &'a Value,
) -> impl Stream<Item = Reply> + 'a {
    let callers: Vec<Client> = instances.iter().map(|shop| shop.customer("ann")).collect();
    let requests = (0..100).map(move |number| {
        let caller = callers[number % callers.len()].clone();
        async move { caller.place(key, body).await }
    });
    stream::iter(requests).buffer_unordered(100)
}

/// One reply is the first, the others are replays or asked to repeat; the data shows one order of two pieces; later all
/// are replays.
async fn assert_one_order(instances: &[&Shop], key: &str, body: &Value, replies: &[Reply]) {
    let created: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
    let firsts = created.iter().filter(|reply| !reply.is_replay()).count();
    assert_eq!(firsts, 1);
    assert!(created.iter().all(|reply| reply.id() == created[0].id()));
    let mut others = replies.iter().filter(|reply| reply.status != 201);
    assert!(others.all(|reply| reply.status == 409 && asks_to_repeat(reply)));
    let later: Vec<Reply> = hundred(instances, key, body).collect().await;
    let replayed = |reply: &Reply| reply.is_replay() && reply.id() == created[0].id();
    assert!(later.iter().all(replayed));
    let shop = instances[0];
    for table in ["orders", "order_item", "order_event", "idempotency_record"] {
        let rows = shop.number(&format!("SELECT COUNT(*) FROM {table}")).await;
        assert_eq!(rows, 1, "{table}");
    }
    assert_eq!(shop.stock("1").await, 998);
    shop.assert_audit_is_clean().await;
}
