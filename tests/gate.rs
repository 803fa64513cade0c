//! The gate: of the same request many times at once, one is let in.

use std::{future::pending, mem::forget};

use futures_util::future::join_all;
use order_service::idempotency::gate::*;
use tokio::sync::oneshot;

use crate::support::entrance::*;

in_both_stores! {
    of_a_hundred_claims_at_once_one_is_let_in,
    a_completed_claim_is_done_for_all_who_come_later,
    an_abandoned_claim_is_free_again,
    another_request_under_the_same_key_is_told_apart,
    keys_do_not_meet,
    the_claim_of_a_crashed_holder_ends_with_its_lease,
    a_mark_ends_with_its_time,
    a_dropped_guard_gives_its_claim_back,
    a_cancelled_request_gives_its_claim_back,
    an_end_after_the_lease_was_lost_changes_nothing,
}

async fn of_a_hundred_claims_at_once_one_is_let_in(entrance: Entrance) {
    let crowd = (0..100).map(|_| {
        let gate = entrance.gate.clone();
        tokio::spawn(async move { gate.claim("key", "print", LONG).await })
    });

    let claims: Vec<_> = join_all(crowd)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();

    assert_eq!(let_in(&claims), 1);
    let others = claims
        .iter()
        .filter(|claim| matches!(claim, Claim::InProgress));
    assert_eq!(others.count(), 99);
}

async fn a_completed_claim_is_done_for_all_who_come_later(entrance: Entrance) {
    entrance.acquired("key").await.complete(LONG).await;

    for print in ["print", "print", "another print"] {
        let later = entrance.gate.claim("key", print, LONG).await;
        assert!(
            matches!(later, Claim::Done),
            "{later:?}: the database knows what was done"
        );
    }
}

async fn an_abandoned_claim_is_free_again(entrance: Entrance) {
    entrance.acquired("key").await.abandon().await;

    let again = entrance.gate.claim("key", "another print", LONG).await;

    assert!(matches!(again, Claim::Acquired(_)), "{again:?}");
}

async fn another_request_under_the_same_key_is_told_apart(entrance: Entrance) {
    let _guard = entrance.acquired("key").await;

    let another = entrance.gate.claim("key", "another print", LONG).await;

    assert!(matches!(another, Claim::Reused), "{another:?}");
}

async fn keys_do_not_meet(entrance: Entrance) {
    let _guard = entrance.acquired("key").await;

    let another = entrance.claim("Key").await;

    assert!(matches!(another, Claim::Acquired(_)), "{another:?}");
}

async fn the_claim_of_a_crashed_holder_ends_with_its_lease(entrance: Entrance) {
    let claim = entrance.gate.claim("key", "print", SHORT).await;
    assert!(matches!(claim, Claim::Acquired(_)), "{claim:?}");
    forget(claim);
    assert!(!is_free(&entrance).await, "until then it stands");

    eventually(async || is_free(&entrance).await).await;
}

async fn a_mark_ends_with_its_time(entrance: Entrance) {
    entrance.acquired("key").await.complete(SHORT).await;
    assert!(!is_free(&entrance).await, "until then it stands");

    eventually(async || is_free(&entrance).await).await;
}

async fn a_dropped_guard_gives_its_claim_back(entrance: Entrance) {
    let guard = entrance.acquired("key").await;

    drop(guard);

    eventually(async || is_free(&entrance).await).await;
}

async fn a_cancelled_request_gives_its_claim_back(entrance: Entrance) {
    let (claimed, is_claimed) = oneshot::channel();
    let gate = entrance.gate.clone();
    let request = tokio::spawn(async move {
        let _claim = gate.claim("key", "print", LONG).await;
        claimed.send(()).unwrap();
        pending::<()>().await;
    });
    is_claimed.await.unwrap();

    request.abort();

    eventually(async || is_free(&entrance).await).await;
}

async fn an_end_after_the_lease_was_lost_changes_nothing(entrance: Entrance) {
    for completes in [true, false] {
        let Claim::Acquired(late) = entrance.gate.claim("key", "print", SHORT).await else {
            panic!("the key is free");
        };
        eventually(async || is_free(&entrance).await).await;
        let next = entrance.acquired("key").await;

        if completes {
            late.complete(LONG).await;
        } else {
            late.abandon().await;
        }

        let third = entrance.claim("key").await;
        assert!(matches!(third, Claim::InProgress), "{third:?}");
        next.abandon().await;
    }
}

/// Leaves it free.
async fn is_free(entrance: &Entrance) -> bool {
    match entrance.claim("key").await {
        Claim::Acquired(guard) => {
            guard.abandon().await;
            true
        }
        _ => false,
    }
}
