//! Order ids: under a node number that nobody else holds, and never with a clock that stepped back.

use std::collections::HashSet;

use chrono::TimeDelta;
use futures_util::future::join_all;

use crate::support::binary::Binary;
use crate::support::entrance::eventually;
use crate::support::faults::{Aside, id_of, node_of, use_all_numbers_ahead};
use crate::support::shop::Place;
use crate::support::{Client, Reply, Shop};

/// So short that a test can see it end.
const BRIEF: [(&str, &str); 1] = [("ids.lease", "300ms")];

#[actix_web::test]
async fn ids_ascend_and_never_repeat() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");

    let mut in_turn = Vec::new();
    for moved_on in [0, 0, 1, 0, 7_200_000, 0] {
        shop.advance(TimeDelta::milliseconds(moved_on));
        for _ in 0..20 {
            in_turn.push(id_of(&ann.token().await));
        }
    }
    let at_once = join_all((0..100).map(|_| ann.token())).await;

    assert!(in_turn.is_sorted());
    let ids: HashSet<i64> = at_once.iter().map(|token| id_of(token)).collect();
    let last = in_turn.last().unwrap();
    assert!(ids.iter().all(|id| id > last));
    let distinct: HashSet<i64> = ids.into_iter().chain(in_turn).collect();
    assert_eq!(distinct.len(), 220);
}

#[actix_web::test]
async fn a_process_that_was_killed_is_followed_at_once_under_another_number() {
    let place = Place::fresh().await;
    let mut server = Binary::start(&place, &[]);
    let ann = server.sign_in("ann", "customer").await;
    let first = ann.token().await;
    server.kill();
    let server = Binary::start(&place, &[]);

    let second = ann.at(&server.base).token().await;

    let old = format!("node:{}", node_of(&first));
    assert!(Aside::to(&place).await.runs(&old).await, "nobody waited");
    assert_ne!(node_of(&second), node_of(&first));
}

#[actix_web::test]
async fn a_number_is_kept_while_nobody_takes_it() {
    let shop = Shop::open_with(&BRIEF).await;
    let ann = shop.customer("ann");
    let first = ann.token().await;
    let aside = ended(&shop, &first).await;

    let second = ann.token().await;

    assert_eq!(node_of(&second), node_of(&first));
    assert!(id_of(&second) > id_of(&first));
    assert_eq!(aside.number("SELECT MAX(epoch) FROM lease").await, 1);
}

#[actix_web::test]
async fn nothing_is_minted_under_a_number_that_was_taken_over() {
    let shop = Shop::open_with(&BRIEF).await;
    let ann = shop.customer("ann");
    let first = ann.token().await;
    let aside = ended(&shop, &first).await;
    aside
        .execute("UPDATE lease SET holder = 'another', epoch = epoch + 1, until = until + 60000")
        .await;

    let tokens = join_all((0..50).map(|_| ann.token())).await;

    let lost = node_of(&first);
    assert!(tokens.iter().all(|token| node_of(token) != lost));
    let others = format!(
        "SELECT COUNT(*) FROM lease WHERE name = 'node:{lost}' AND holder = 'another' AND epoch = 2"
    );
    assert_eq!(aside.number(&others).await, 1);
}

#[actix_web::test]
async fn a_number_that_ran_out_is_taken_over_above_what_was_minted_under_it() {
    let shop = Shop::open_with(&BRIEF).await;
    let first = shop.customer("ann").token().await;
    let aside = ended(&shop, &first).await;
    let reserved = aside.number("SELECT reserved FROM lease").await;
    let now = shop.app.clock.now().timestamp_millis();
    shop.advance(TimeDelta::milliseconds(reserved + 1 - now));
    let shop = shop.restarted_without_memory().await;

    let second = shop.customer("ann").token().await;

    assert_eq!(node_of(&second), node_of(&first));
    assert!(id_of(&second) > id_of(&first));
    assert_eq!(aside.number("SELECT epoch FROM lease").await, 2);
}

#[actix_web::test]
async fn a_number_whose_milliseconds_lie_ahead_is_left_alone() {
    let shop = Shop::open_with(&BRIEF).await;
    let first = shop.customer("ann").token().await;
    ended(&shop, &first).await;
    shop.advance(TimeDelta::hours(-1));
    let shop = shop.restarted_without_memory().await;

    let second = shop.customer("ann").token().await;

    assert_ne!(node_of(&second), node_of(&first));
}

#[actix_web::test]
async fn a_clock_that_was_ahead_for_a_moment_costs_a_number_and_no_request() {
    let shop = Shop::open().await;
    shop.advance(TimeDelta::days(2));
    let ahead = shop.customer("ann").token().await;

    shop.advance(TimeDelta::days(-2));
    let ann = shop.customer("ann");
    let tokens = join_all((0..20).map(|_| ann.token())).await;

    let nodes: HashSet<i64> = tokens.iter().map(|token| node_of(token)).collect();
    assert_eq!(nodes.len(), 1, "one other number serves all");
    assert!(!nodes.contains(&node_of(&ahead)));
    let ids: HashSet<i64> = tokens.iter().map(|token| id_of(token)).collect();
    assert_eq!(ids.len(), 20);
    assert!(ids.iter().all(|id| *id < id_of(&ahead)));
    let ready = shop.anonymous().get("/readyz").await.expect(200);
    assert_eq!(ready.body["ids"], "ready");
}

#[actix_web::test]
async fn with_no_number_behind_the_clock_ids_are_refused_and_readyz_says_so_until_it_has_caught_up()
{
    let shop = Shop::open().await;
    let (ann, door) = (shop.customer("ann"), shop.anonymous());
    let first = ann.token().await;
    use_all_numbers_ahead(&shop.place).await;

    shop.advance(TimeDelta::seconds(-5));
    let refused = try_token(&ann).await.expect(503);
    let down = door.get("/readyz").await.expect(503);
    shop.advance(TimeDelta::minutes(5));
    let ready = door.get("/readyz").await.expect(200);
    let second = ann.token().await;

    assert_eq!(refused.code(), "clock_behind");
    assert_eq!(refused.header("Retry-After"), Some("1"));
    assert_eq!(
        (&down.body["ids"], &down.body["reasons"]["ids"]),
        (&"down".into(), &"clock_behind".into())
    );
    assert_eq!(ready.body["ids"], "ready", "without a request for an id");
    assert!(id_of(&second) > id_of(&first));
}

#[actix_web::test]
async fn a_clock_that_steps_back_a_little_is_waited_for() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let first = ann.token().await;
    shop.advance(TimeDelta::milliseconds(-40));
    let waiting = actix_web::rt::spawn(async move { try_token(&ann).await });

    eventually(async || {
        shop.advance(TimeDelta::milliseconds(1));
        waiting.is_finished()
    })
    .await;

    let reply = waiting.await.unwrap().expect(201);
    assert!(id_of(reply.body["token"].as_str().unwrap()) > id_of(&first));
}

mod mysql {
    use super::*;

    #[actix_web::test]
    async fn instances_that_start_together_never_share_a_number() {
        let shop = Shop::open().await;
        let aside = Aside::to(&shop.place).await;
        // A number that ran out, which all of them find first.
        aside
            .execute("INSERT INTO lease (name, holder, until, epoch, reserved) VALUES ('node:0', 'gone', 1, 7, 1)")
            .await;
        let others = join_all((0..5).map(|_| shop.another_instance())).await;
        let buyers = others
            .iter()
            .chain([&shop])
            .map(|shop| shop.customer("ann"));
        let buyers: Vec<Client> = buyers.collect();

        let tokens = join_all(buyers.iter().map(Client::token)).await;

        let nodes: HashSet<i64> = tokens.iter().map(|token| node_of(token)).collect();
        assert_eq!(nodes, (0..6).collect());
        let holders = "SELECT COUNT(DISTINCT holder) FROM lease";
        assert_eq!(aside.number(holders).await, 6);
        let taken_once = "SELECT epoch FROM lease WHERE name = 'node:0'";
        assert_eq!(aside.number(taken_once).await, 8);
    }
}

/// Waits until the lease of a token's number has run out; nobody has taken it then.
async fn ended(shop: &Shop, token: &str) -> Aside {
    let aside = Aside::to(&shop.place).await;
    let lease = format!("node:{}", node_of(token));
    eventually(async || !aside.runs(&lease).await).await;
    aside
}

async fn try_token(caller: &Client) -> Reply {
    caller
        .post("/api/order-tokens", &serde_json::json!({}))
        .await
}
