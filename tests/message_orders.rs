//! For every order of arrival and any number of copies the final state is the same.

use actix_web::rt::System;
use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::gateway::{Attempt, Message, accepted};
use crate::support::{Client, Shop, order};

/// What a gateway can truly send about one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    Failed,
    Paid,
    Closed,
    /// The gateway's own refund under this number, in percent of the amount.
    Refunded(u8, i64),
    RefundFailed(u8, i64),
}

/// Facts with the attempt (0 or 1) that each is about, in the order in which they happened.
type Story = Vec<(usize, Fact)>;

#[test]
fn any_true_story_ends_the_same_however_it_arrives() {
    let system = System::new();
    let shop = system.block_on(open());
    let arrivals = story().prop_flat_map(|story| {
        let copies = proptest::collection::vec(1..3_usize, story.len());
        (Just(story), copies).prop_flat_map(|(story, copies)| {
            let arrival: Story = story
                .iter()
                .zip(copies)
                .flat_map(|(fact, copies)| std::iter::repeat_n(*fact, copies))
                .collect();
            (Just(story), Just(arrival).prop_shuffle())
        })
    });
    let config = Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    };

    TestRunner::new(config)
        .run(&arrivals, |(story, arrival)| {
            let (expected, end) = system.block_on(async {
                (
                    end_of(&shop, &story, false).await,
                    end_of(&shop, &arrival, false).await,
                )
            });
            prop_assert_eq!(expected, end);
            Ok(())
        })
        .unwrap();

    system.block_on(shop.assert_audit_is_clean());
    system.block_on(async { drop(shop) });
}

#[actix_web::test]
async fn small_stories_end_the_same_in_every_permutation() {
    let shop = open().await;
    let stories: [Story; 5] = [
        vec![
            (0, Fact::Paid),
            (0, Fact::Refunded(1, 40)),
            (0, Fact::Refunded(2, 60)),
        ],
        vec![(0, Fact::Failed), (0, Fact::Paid), (1, Fact::Closed)],
        vec![
            (0, Fact::Closed),
            (1, Fact::Failed),
            (1, Fact::Paid),
            (1, Fact::Refunded(1, 100)),
        ],
        vec![(0, Fact::Closed), (1, Fact::Closed)],
        vec![
            (0, Fact::Paid),
            (0, Fact::RefundFailed(1, 30)),
            (0, Fact::Refunded(2, 30)),
        ],
    ];

    for story in stories {
        let expected = end_of(&shop, &story, false).await;
        for arrival in permutations(&story) {
            assert_eq!(
                end_of(&shop, &arrival, false).await,
                expected,
                "{arrival:?}"
            );
        }
    }

    shop.assert_audit_is_clean().await;
}

/// All copies of all messages at the same moment.
#[actix_web::test]
async fn a_story_told_all_at_once_ends_the_same() {
    let shop = open().await;
    let story = vec![
        (0, Fact::Failed),
        (1, Fact::Paid),
        (1, Fact::Refunded(1, 30)),
        (1, Fact::Refunded(2, 70)),
        (0, Fact::Closed),
    ];
    let expected = end_of(&shop, &story, false).await;

    for _ in 0..10 {
        let copies: Story = story.iter().flat_map(|fact| [*fact; 4]).collect();
        assert_eq!(end_of(&shop, &copies, true).await, expected);
    }

    shop.assert_audit_is_clean().await;
}

/// Who commits first decides; the buyer has his goods or his money back, once.
#[actix_web::test]
async fn contradicting_stories_balance_the_books_in_every_order() {
    let shop = open().await;
    let stories: [Story; 3] = [
        vec![(0, Fact::Closed), (0, Fact::Paid)],
        vec![(0, Fact::Paid), (1, Fact::Paid)],
        vec![
            (0, Fact::Closed),
            (1, Fact::Closed),
            (0, Fact::Paid),
            (1, Fact::Paid),
        ],
    ];

    for story in stories {
        let paid = story.iter().filter(|(_, fact)| *fact == Fact::Paid).count();
        for arrival in permutations(&story) {
            let (id, end) = told(&shop, &arrival, false).await;
            shop.run_jobs().await;
            let back = given_back(&shop.operator(), &id).await;
            let kept = i64::from(end["status"] == "PAID") * 12_800;
            assert_eq!(
                kept + back,
                i64::try_from(paid).unwrap() * 12_800,
                "{arrival:?}: {end}"
            );
        }
    }

    shop.assert_audit_is_clean().await;
}

/// At most one attempt is paid, the other one may fail or close; refunds fit into what was paid.
fn story() -> impl Strategy<Value = Story> {
    let attempt = prop_oneof![
        Just(vec![]),
        Just(vec![Fact::Failed]),
        Just(vec![Fact::Closed]),
        Just(vec![Fact::Failed, Fact::Closed]),
    ];
    let refunds = prop_oneof![
        Just(vec![]),
        Just(vec![Fact::Refunded(1, 100)]),
        Just(vec![Fact::Refunded(1, 25), Fact::Refunded(2, 50)]),
        Just(vec![
            Fact::Refunded(1, 25),
            Fact::RefundFailed(3, 10),
            Fact::Refunded(2, 75)
        ]),
    ];
    let paying = (any::<bool>(), refunds).prop_map(|(failed_first, refunds)| {
        let first = failed_first.then_some(Fact::Failed);
        first
            .into_iter()
            .chain([Fact::Paid])
            .chain(refunds)
            .collect::<Vec<_>>()
    });
    let one = prop_oneof![paying, attempt.clone()];
    (one, attempt, any::<bool>()).prop_map(|(one, other, swapped)| {
        let at = usize::from(swapped);
        let one = one.into_iter().map(|fact| (at, fact));
        one.chain(other.into_iter().map(|fact| (1 - at, fact)))
            .collect()
    })
}

/// How a story ends that arrives like this.
async fn end_of(shop: &Shop, arrival: &Story, at_once: bool) -> Value {
    told(shop, arrival, at_once).await.1
}

/// Tells the story about a new order with two attempts; its id, and how it ended.
async fn told(shop: &Shop, arrival: &Story, at_once: bool) -> (String, Value) {
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempts = two_attempts(shop, &ann, &id).await;
    let messages: Vec<Message> = arrival
        .iter()
        .map(|(at, fact)| message(&attempts[*at], *fact))
        .collect();
    if at_once {
        deliver(shop, messages.iter().collect()).await;
    } else {
        for message in &messages {
            deliver(shop, vec![message]).await;
        }
    }
    let end = final_state(shop, &ann, &id).await;
    (id, end)
}

async fn deliver(shop: &Shop, mut waiting: Vec<&Message>) {
    for _ in 0..30 {
        let replies = join_all(waiting.iter().map(|message| message.deliver(shop))).await;
        let refused = waiting
            .iter()
            .zip(&replies)
            .filter(|(_, reply)| !accepted(reply));
        waiting = refused.map(|(message, _)| *message).collect();
        if waiting.is_empty() {
            return;
        }
    }
    panic!("messages were never accepted");
}

/// The second one is made behind the door's back, so that neither is retired by the other.
async fn two_attempts(shop: &Shop, buyer: &Client, order: &str) -> [Attempt; 2] {
    let first = Attempt::start(buyer, order).await;
    let second: i64 = first.id.parse::<i64>().unwrap() + 1_000_000_000;
    let columns = "order_id, gateway, amount, currency, status, role, refunded_amount, trade_no, \
                   parked, checkout_url, asks, next_ask_at, expires_at, created_at, updated_at";
    shop.execute(&format!(
        "INSERT INTO payment (id, live_slot, {columns}) \
         SELECT {second}, {second}, {columns} FROM payment WHERE id = {}",
        first.id
    ))
    .await;
    shop.execute(&format!(
        "UPDATE payment SET close_requested_at = created_at WHERE id = {second}"
    ))
    .await;
    let columns = "order_id, amount, currency, status, trade_no, refunded_amount, expires_at";
    shop.execute(&format!(
        "INSERT INTO sandbox_payment (payment_id, {columns}) \
         SELECT {second}, {columns} FROM sandbox_payment WHERE payment_id = {}",
        first.id
    ))
    .await;
    let id = second.to_string();
    [first.clone(), Attempt { id, ..first }]
}

fn message(attempt: &Attempt, fact: Fact) -> Message {
    let part = |percent: i64| attempt.amount * percent / 100;
    let id = |name: &str| format!("{}-{name}", attempt.id);
    match fact {
        Fact::Failed => attempt.failed(&id("failed")),
        Fact::Paid => attempt.paid(&id("paid")),
        Fact::Closed => attempt.closed(&id("closed")),
        Fact::Refunded(number, percent) => attempt.refunded(
            &id(&format!("r{number}")),
            &format!("gw-{number}"),
            part(percent),
        ),
        Fact::RefundFailed(number, percent) => attempt.refund_failed(
            &id(&format!("f{number}")),
            &format!("gw-{number}"),
            part(percent),
        ),
    }
}

/// Everything that counts, without ids and times.
async fn final_state(shop: &Shop, client: &Client, id: &str) -> Value {
    let order = client
        .get(&format!("/api/orders/{id}"))
        .await
        .expect(200)
        .body;
    let payments = client
        .get(&format!("/api/orders/{id}/payments"))
        .await
        .expect(200)
        .body;
    let payments: Vec<Value> = payments["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|payment| {
            json!([
                payment["status"],
                payment["role"],
                payment["refunded_amount"]
            ])
        })
        .collect();
    let restored = shop
        .number(&format!(
            "SELECT COUNT(*) FROM stock_ledger WHERE reason = 'RESTORE' AND biz_key = 'order:{id}'"
        ))
        .await;
    json!({
        "status": order["status"],
        "refunded_amount": order["refunded_amount"],
        "payments": payments,
        "restored": restored,
        "refunds": outcomes(&refunds(client, id).await),
    })
}

fn outcomes(refunds: &[Value]) -> Vec<String> {
    let mut outcomes: Vec<String> = refunds
        .iter()
        .map(|refund| {
            format!(
                "{} {} {}",
                refund["refund_no"], refund["amount"], refund["status"]
            )
        })
        .collect();
    outcomes.sort();
    outcomes
}

async fn refunds(client: &Client, id: &str) -> Vec<Value> {
    let reply = client
        .get(&format!("/api/orders/{id}/refunds"))
        .await
        .expect(200);
    reply.body["data"].as_array().unwrap().clone()
}

/// What went back, in minor units.
async fn given_back(client: &Client, id: &str) -> i64 {
    let refunds = refunds(client, id).await;
    let succeeded = refunds
        .iter()
        .filter(|refund| refund["status"] == "SUCCEEDED");
    succeeded
        .map(|refund| refund["amount"].as_i64().unwrap())
        .sum()
}

fn permutations(story: &Story) -> Vec<Story> {
    if story.len() <= 1 {
        return vec![story.clone()];
    }
    let mut all = Vec::new();
    for at in 0..story.len() {
        let mut rest = story.clone();
        let first = rest.remove(at);
        all.extend(permutations(&rest).into_iter().map(|mut tail| {
            tail.insert(0, first);
            tail
        }));
    }
    all
}

async fn open() -> Shop {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    shop.set_stock("1", 100_000).await;
    shop
}
