//! SIGKILL in the middle of a stream of creations, several times on the same data.

use std::collections::{HashMap, HashSet};
use std::future::ready;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use rand::RngExt;
use serde_json::Value;
use tokio::time::timeout;

use crate::support::binary::{Binary, run};
use crate::support::faults::{Aside, Buyer, insist_all};
use crate::support::shop::Place;
use crate::support::{Reply, order};

const ROUNDS: usize = 4;
/// In each round.
const NEWCOMERS: usize = 30;
const IN_FLIGHT: usize = 12;
/// A killed request keeps its repeats out for so long.
const LEASE: (&str, &str) = ("ORDER__GATE__LEASE", "500ms");

#[actix_web::test]
async fn killed_at_any_moment_it_leaves_each_token_with_one_order() {
    let place = Place::fresh().await;
    let body = order("NORMAL", &[("1", 2)]);
    let mut buyers = Vec::new();
    let mut promised = HashMap::new();
    for round in 0..ROUNDS {
        let mut server = Binary::start(&place, &[LEASE]);
        buyers.extend(newcomers(&server, round).await);
        promised.extend(until_killed(&mut server, &buyers, &body).await);
    }
    let server = Binary::start(&place, &[LEASE]);

    let survivors: Vec<Buyer> = buyers.iter().map(|buyer| buyer.at(&server.base)).collect();
    let repeats = insist_all(&survivors, &body).await;

    for (buyer, repeat) in survivors.iter().zip(&repeats) {
        let earlier = promised.get(&buyer.key);
        let kept = earlier.is_none_or(|id| repeat.is_replay() && repeat.id() == *id);
        assert!(kept, "{earlier:?} was promised, then came {repeat:?}");
    }
    let ids: HashSet<String> = repeats.iter().map(Reply::id).collect();
    assert_eq!(
        ids.len(),
        ROUNDS * NEWCOMERS,
        "each has an order of his own"
    );
    let aside = Aside::to(&place).await;
    let orders = aside.number("SELECT COUNT(*) FROM orders").await;
    assert_eq!(usize::try_from(orders), Ok(ROUNDS * NEWCOMERS));
    let quantity = "SELECT quantity FROM stock WHERE product_id = 1";
    assert_eq!(aside.number(quantity).await, 1_000 - 2 * orders);
    let audit = run(&place, &[], &["audit"]);
    assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
    assert_eq!(audit.status.code(), Some(0));
}

async fn newcomers(server: &Binary, round: usize) -> Vec<Buyer> {
    let buyers = (0..NEWCOMERS).map(|number| async move {
        let name = format!("buyer-{round}-{number}");
        Buyer::new(server.sign_in(&name, "customer").await).await
    });
    join_all(buyers).await
}

/// Everybody sends his request, newcomers first; the process is killed a random while after a random number of answers.
/// Tells by their keys which orders were promised until then.
async fn until_killed(
    server: &mut Binary,
    buyers: &[Buyer],
    body: &Value,
) -> HashMap<String, String> {
    let answers = rand::rng().random_range(0..NEWCOMERS);
    let moment = Duration::from_micros(rand::rng().random_range(0..20_000));
    let base = server.base.clone();
    let sending = buyers.iter().rev().map(|buyer| async {
        let client = buyer.client.at(&base);
        (buyer.key.clone(), client.try_place(&buyer.key, body).await)
    });
    let mut replies = stream::iter(sending).buffer_unordered(IN_FLIGHT);
    let mut heard: Vec<_> = replies.by_ref().take(answers).collect().await;
    let more = replies.by_ref().for_each(|reply| {
        heard.push(reply);
        ready(())
    });
    let _ = timeout(moment, more).await;
    server.kill();
    heard.extend(replies.collect::<Vec<_>>().await);
    let created = |reply: Reply| (reply.status == 201).then(|| reply.id());
    heard
        .into_iter()
        .filter_map(|(key, reply)| Some((key, reply.ok().and_then(created)?)))
        .collect()
}
