//! Locks: who holds one keeps it while he works, gives it back once, and never touches another's.

use std::{
    future::pending,
    sync::atomic::{AtomicI32, Ordering},
    time::Duration,
};

use futures_util::future::join_all;
use order_service::idempotency::lock::*;
use tokio::sync::oneshot;

use crate::support::entrance::*;

in_both_stores! {
    a_holder_that_works_longer_than_its_lease_keeps_it,
    after_the_end_of_a_hold_no_renewal_happens,
    a_waiter_gets_the_lock_when_its_holder_ends,
    a_hundred_holders_come_one_after_the_other,
    a_wait_that_ends_in_vain_is_counted,
    a_nested_hold_runs_at_once_while_another_task_is_refused,
    a_task_that_the_holder_spawned_does_not_hold,
    an_outer_lock_is_held_inside_an_inner_one_too,
    a_lock_is_free_after_its_name_was_held_in_a_nest,
    a_release_by_a_holder_that_lost_the_lock_does_nothing,
    a_hold_ends_at_its_limit,
    a_cancelled_hold_frees_the_lock,
    a_panic_under_the_lock_frees_it,
}

async fn a_holder_that_works_longer_than_its_lease_keeps_it(entrance: Entrance) {
    let entrance = entrance.with_lease(SHORT);
    let work = async {
        eventually(async || entrance.metrics.lock_renewals.get() >= 4).await;
        tokio::spawn(try_once(entrance.clone())).await.unwrap()
    };

    let another = entrance.locks.hold("order:1", work).await.unwrap();

    assert_eq!(another, Err(HeldByAnother));
    assert_eq!(entrance.metrics.lock_lost.get(), 0);
}

async fn after_the_end_of_a_hold_no_renewal_happens(entrance: Entrance) {
    let first = entrance.with_lease(SHORT);
    let second = entrance.counted_apart().with_lease(SHORT);
    let renewals = |entrance: &Entrance| entrance.metrics.lock_renewals.get();
    let work = eventually(async || renewals(&first) >= 1);
    first.locks.hold("order:1", work).await.unwrap();
    let before = renewals(&first);

    let work = eventually(async || renewals(&second) >= 4);
    second.locks.hold("order:2", work).await.unwrap();

    assert_eq!(renewals(&first), before);
    assert_eq!(
        first.metrics.lock_lost.get(),
        0,
        "nobody was there to miss it"
    );
}

async fn a_waiter_gets_the_lock_when_its_holder_ends(entrance: Entrance) {
    let (end, ended) = oneshot::channel::<()>();
    let holder = entrance.locks.hold("order:1", ended);
    let waiter = async {
        eventually(async || try_once(entrance.clone()).await.is_err()).await;
        let waits = entrance
            .locks
            .hold_within(PATIENT, "order:1", async { "waited" });
        end.send(()).unwrap();
        waits.await
    };

    let (first, second) = tokio::join!(holder, waiter);

    assert!(first.unwrap().is_ok());
    assert_eq!(second, Ok("waited"));
    assert!(entrance.metrics.lock_wait.get_sample_count() >= 3);
}

async fn a_hundred_holders_come_one_after_the_other(entrance: Entrance) {
    let inside = AtomicI32::new(0);
    let crowd = (0..100).map(|_| {
        entrance.locks.hold_within(PATIENT, "order:1", async {
            let others = inside.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            inside.fetch_sub(1, Ordering::SeqCst);
            others
        })
    });

    let others = join_all(crowd).await;

    assert_eq!(others, vec![Ok(0); 100]);
}

async fn a_wait_that_ends_in_vain_is_counted(entrance: Entrance) {
    let short = Duration::from_millis(100);
    let entrance = entrance.with(LockSettings {
        wait: short,
        ..LockSettings::default()
    });
    let (_end, ended) = oneshot::channel::<()>();
    let waiter = async {
        eventually(async || try_once(entrance.clone()).await.is_err()).await;
        entrance.locks.hold("order:1", async {}).await
    };
    let before = entrance.metrics.lock_timeouts.get();

    let answer = tokio::select! {
        answer = waiter => answer,
        _ = entrance.locks.hold("order:1", ended) => panic!("it holds on"),
    };

    assert_eq!(answer, Err(HeldByAnother));
    assert_eq!(
        entrance.metrics.lock_timeouts.get(),
        before + 2,
        "one at once, one after the wait"
    );
}

async fn a_nested_hold_runs_at_once_while_another_task_is_refused(entrance: Entrance) {
    let work = async {
        let another = tokio::spawn(try_once(entrance.clone())).await.unwrap();
        let nested = try_once(entrance.clone()).await;
        (
            another,
            nested,
            tokio::spawn(try_once(entrance.clone())).await.unwrap(),
        )
    };

    let (another, nested, later) = entrance.locks.hold("order:1", work).await.unwrap();

    assert_eq!(another, Err(HeldByAnother));
    assert_eq!(nested, Ok(()));
    assert_eq!(
        later,
        Err(HeldByAnother),
        "the end of the nested hold frees nothing"
    );
}

async fn a_task_that_the_holder_spawned_does_not_hold(entrance: Entrance) {
    let work = async {
        let nest = entrance.locks.hold("order:2", async {
            tokio::spawn(try_once(entrance.clone())).await.unwrap()
        });
        nest.await.unwrap()
    };

    let spawned = entrance.locks.hold("order:1", work).await.unwrap();

    assert_eq!(spawned, Err(HeldByAnother));
}

async fn an_outer_lock_is_held_inside_an_inner_one_too(entrance: Entrance) {
    let inner = entrance.locks.hold("order:2", try_once(entrance.clone()));

    let innermost = entrance
        .locks
        .hold("order:1", inner)
        .await
        .unwrap()
        .unwrap();

    assert_eq!(innermost, Ok(()));
}

async fn a_lock_is_free_after_its_name_was_held_in_a_nest(entrance: Entrance) {
    let nest = || async { try_once(entrance.clone()).await.unwrap() };

    entrance.locks.hold("order:1", nest()).await.unwrap();

    let another = tokio::spawn(try_once(entrance.clone())).await.unwrap();
    assert_eq!(another, Ok(()));
}

async fn a_release_by_a_holder_that_lost_the_lock_does_nothing(entrance: Entrance) {
    let forgetful = entrance.with(LockSettings {
        hold: SHORT,
        ..LockSettings::default()
    });
    let (taken, is_taken) = oneshot::channel::<()>();
    let (released, is_released) = oneshot::channel::<()>();
    let loser = async {
        forgetful
            .locks
            .hold("order:1", is_taken)
            .await
            .unwrap()
            .unwrap();
        released.send(()).unwrap();
    };
    let next = async {
        eventually(async || forgetful.metrics.lock_lost.get() == 1).await;
        let work = async {
            taken.send(()).unwrap();
            is_released.await.unwrap();
            tokio::spawn(try_once(entrance.clone())).await.unwrap()
        };
        entrance.locks.hold("order:1", work).await
    };

    let ((), third) = tokio::join!(loser, next);

    assert_eq!(third, Ok(Err(HeldByAnother)));
}

async fn a_hold_ends_at_its_limit(entrance: Entrance) {
    let settings = LockSettings {
        lease: SHORT,
        hold: 2 * SHORT,
        ..LockSettings::default()
    };
    let entrance = entrance.with(settings);
    let work = async {
        eventually(async || entrance.metrics.lock_lost.get() == 1).await;
        tokio::spawn(try_once(entrance.clone())).await.unwrap()
    };

    let another = entrance.locks.hold("order:1", work).await.unwrap();

    assert_eq!(another, Ok(()));
    assert_eq!(entrance.lost(), ["order:1"], "an alert can be raised");
    assert!(
        entrance.metrics.lock_renewals.get() >= 2,
        "it was renewed until then"
    );
}

async fn a_cancelled_hold_frees_the_lock(entrance: Entrance) {
    let entrance = entrance.with_lease(LONG);
    let holder = entrance.clone();
    let holder = tokio::spawn(async move { holder.locks.hold("order:1", pending::<()>()).await });
    eventually(async || try_once(entrance.clone()).await.is_err()).await;

    holder.abort();

    eventually(async || try_once(entrance.clone()).await.is_ok()).await;
}

async fn a_panic_under_the_lock_frees_it(entrance: Entrance) {
    let entrance = entrance.with_lease(LONG);
    let holder = entrance.clone();
    let work = async { panic!("on purpose") };
    let holder = tokio::spawn(async move { holder.locks.hold::<()>("order:1", work).await });

    let ended = holder.await;

    assert!(ended.unwrap_err().is_panic());
    eventually(async || try_once(entrance.clone()).await.is_ok()).await;
}

async fn try_once(entrance: Entrance) -> Result<(), HeldByAnother> {
    entrance
        .locks
        .hold_within(AT_ONCE, "order:1", async {})
        .await
}
