//! More requests than transactions: who finds no place hears 503 and may come again.

use futures_util::future::join_all;

use crate::support::entrance::eventually;
use crate::support::faults::{Aside, asks_to_repeat, crowd, insist_all};
use crate::support::{Reply, Shop, order};

const NARROW: [(&str, &str); 3] = [
    ("bulkhead.transactions", "1"),
    ("bulkhead.queue", "1"),
    ("bulkhead.wait", "1m"),
];

#[actix_web::test]
async fn a_crowd_before_a_narrow_door_is_turned_away_and_served_later() {
    let shop = Shop::open_with(&NARROW).await;
    let buyers = crowd(&shop, 60).await;
    let body = order("NORMAL", &[("1", 1)]);

    let replies = join_all(buyers.iter().map(|buyer| buyer.place(&body))).await;

    let turned_away: Vec<&Reply> = replies.iter().filter(|reply| reply.status != 201).collect();
    assert!(!turned_away.is_empty());
    for reply in turned_away {
        assert_eq!(reply.code(), "busy");
        assert!(asks_to_repeat(reply), "{reply:?}");
    }
    insist_all(&buyers, &body).await;
    assert_eq!(shop.stock("1").await, 940);
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 60);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn who_finds_the_queue_full_is_told_at_once() {
    let shop = Shop::open_with(&NARROW).await;
    let buyers = crowd(&shop, 30).await;
    let body = order("NORMAL", &[("1", 1)]);
    let metrics = &shop.app.metrics;
    let aside = Aside::to(&shop.place).await;
    let blockade = aside.block(1).await;
    let first_two = buyers[..2].iter().map(|buyer| buyer.place(&body));
    let first_two = join_all(first_two);
    let rest = async {
        eventually(async || metrics.bulkhead_queue.get() == 1).await;
        let rest = buyers[2..].iter().map(|buyer| buyer.place(&body));
        let replies = join_all(rest).await;
        blockade.lift().await;
        replies
    };

    let (inside, outside) = tokio::join!(first_two, rest);

    assert!(inside.iter().all(|reply| reply.status == 201), "{inside:?}");
    for reply in &outside {
        assert_eq!((reply.status, reply.code()), (503, "busy"));
        assert_eq!(reply.header("Retry-After"), Some("1"));
    }
    assert_eq!(metrics.bulkhead_refusals.get(), 28);
    insist_all(&buyers, &body).await;
    assert_eq!(shop.stock("1").await, 970);
    shop.assert_audit_is_clean().await;
}
