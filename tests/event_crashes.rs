//! SIGKILL at any moment while events are on their way: nothing is lost, nothing happens twice.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use order_service::clock::Clock;
use order_service::settings::{Profile, Settings};
use rand::RngExt;

use crate::support::binary::{Binary, run};
use crate::support::entrance::eventually;
use crate::support::faults::Aside;
use crate::support::gateway::{Attempt, secret};
use crate::support::order;
use crate::support::shop::{Place, unsettled};

const ROUNDS: usize = 5;
const BUYERS: usize = 16;
const IN_FLIGHT: usize = 8;

/// The loops at work, and claims of the dead that end soon.
const LOOPS: [(&str, &str); 3] = [
    ("ORDER__JOBS__ENABLED", "true"),
    ("ORDER__EVENTS__POLL", "20ms"),
    ("ORDER__EVENTS__LEASE", "300ms"),
];

#[actix_web::test]
async fn killed_while_events_are_on_their_way_it_loses_none_and_acts_once() {
    let place = Place::fresh().await;
    let mut interrupted = 0;
    for round in 0..ROUNDS {
        let mut server = Binary::start(&place, &LOOPS);
        until_killed(&mut server, round).await;
        let aside = Aside::to(&place).await;
        interrupted += aside.number(&open()).await;
    }
    assert!(interrupted > 0, "no kill came between commit and effect");

    let mut server = Binary::start(&place, &LOOPS);
    let aside = Aside::to(&place).await;
    eventually(async || aside.number(&open()).await == 0).await;
    server.kill();

    let told = "SELECT COUNT(*) FROM order_event WHERE type IN ('OrderPlaced', 'OrderPaid')";
    let notified = "SELECT COUNT(*) FROM notification";
    assert_eq!(aside.number(notified).await, aside.number(told).await);
    let worth = "SELECT COUNT(*) FROM orders o WHERE o.status = 'PAID' AND NOT EXISTS \
                 (SELECT 1 FROM points_ledger l WHERE l.order_id = o.id)";
    assert_eq!(aside.number(worth).await, 0);
    let credited = "SELECT COUNT(*) FROM points_ledger";
    let paid = "SELECT COUNT(*) FROM orders WHERE status = 'PAID'";
    assert_eq!(aside.number(credited).await, aside.number(paid).await);
    let audit = run(&place, &[], &["audit"]);
    assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
}

/// Buyers place and pay at once; the process is killed a random while after some have been answered.
async fn until_killed(server: &mut Binary, round: usize) {
    let answers = rand::rng().random_range(1..BUYERS);
    let moment = Duration::from_micros(rand::rng().random_range(0..20_000));
    let mut buyers = Vec::new();
    for number in 0..BUYERS {
        let name = format!("buyer-{round}-{number}");
        buyers.push(server.sign_in(&name, "customer").await);
    }
    let door = server.anonymous();
    let secret = secret(&Settings::of(Profile::Test, &[]).unwrap());
    let buying = buyers.iter().map(|buyer| async {
        let key = buyer.token().await;
        let order = order("NORMAL", &[("1", 1)]);
        let Ok(placed) = buyer.try_place(&key, &order).await else {
            return;
        };
        let Some(attempt) = Attempt::try_start(buyer, &placed.id()).await else {
            return;
        };
        let paid = attempt.paid(&format!("paid-{}", attempt.id));
        let _ = paid.try_deliver(&door, Clock::System.now(), &secret).await;
    });
    let mut done = stream::iter(buying).buffer_unordered(IN_FLIGHT);
    let _: Vec<()> = done.by_ref().take(answers).collect().await;
    tokio::time::sleep(moment).await;
    server.kill();
}

/// Events that were not handed over, and effects that are missing.
fn open() -> String {
    format!(
        "SELECT (SELECT COUNT(*) FROM order_event WHERE published_at IS NULL) + ({})",
        unsettled()
    )
}
