//! The disk under the SQLite file fills up, breaks, hangs or loses it: success is said only for what is stored, and all
//! goes on with the same keys when it is well again. The service is a process of its own that stands on such a disk.

mod archive;
mod every_call;
mod files;
mod hanging;
mod messages;
mod orders;

use futures_util::future::join_all;

use crate::support::binary::{Binary, run};
use crate::support::disk_faults::Disk;
use crate::support::entrance::eventually;
use crate::support::faults::{Aside, Buyer};
use crate::support::place::Profile;
use crate::support::shop::Place;
use crate::support::{Reply, order};

/// A service, the disk it stands on, and a way past both.
struct Ground {
    place: Place,
    disk: Disk,
    server: Binary,
    aside: Aside,
}

impl Ground {
    /// `None` where there is no file to lose: on `MySQL`.
    async fn open(settings: &[(&str, &str)]) -> Option<Self> {
        if Profile::current() == Profile::Mysql {
            return None;
        }
        let place = Place::fresh().await;
        let disk = Disk::under(&place);
        let server = Binary::start(&place, &disk.environment(settings));
        let aside = Aside::to(&place).await;
        Some(Self {
            place,
            disk,
            server,
            aside,
        })
    }

    /// That many customers with their order tokens.
    async fn buyers(&self, count: usize) -> Vec<Buyer> {
        let buyers = (0..count).map(|number| async move {
            let name = format!("buyer-{number}");
            Buyer::new(self.server.sign_in(&name, "customer").await).await
        });
        join_all(buyers).await
    }

    async fn readyz(&self) -> Reply {
        self.server.anonymous().get("/readyz").await
    }

    async fn number(&self, sql: &str) -> i64 {
        self.aside.number(sql).await
    }

    /// Fails unless the log tells of this trouble once, with its cause, and of its end.
    async fn assert_told_once(&self, reason: &str, cause: &str) {
        let over = "the database's trouble is over";
        eventually(async || !self.server.told(over).is_empty()).await;
        let told = self.server.told("the database is in trouble");
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(told[0].contains(&format!("reason={reason}")), "{told:?}");
        assert!(told[0].contains(cause), "{told:?}");
    }

    fn assert_audit_is_clean(&self) {
        let audit = run(&self.place, &[], &["audit"]);
        assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
    }
}

/// All of them ask for a piece at once.
async fn place_all(buyers: &[Buyer]) -> Vec<Reply> {
    let body = order("NORMAL", &[("1", 1)]);
    join_all(buyers.iter().map(|buyer| buyer.place(&body))).await
}

/// Fails unless each was turned away because of the database, and told to come again.
#[track_caller]
fn assert_all_are_asked_to_repeat(replies: &[Reply]) {
    for reply in replies {
        assert_eq!(reply.status, 503, "{}", reply.body);
        assert_eq!(reply.header("Retry-After"), Some("1"), "{reply:?}");
    }
}

/// Fails unless each buyer heard 201 for an order that is there and is his, and nobody has a second one.
async fn assert_each_has_his_order(ground: &Ground, buyers: &[Buyer], replies: &[Reply]) {
    for (buyer, reply) in buyers.iter().zip(replies) {
        assert_eq!(reply.status, 201, "{}", reply.body);
        let path = format!("/api/orders/{}", reply.id());
        buyer.client.get(&path).await.expect(200);
    }
    let count = i64::try_from(buyers.len()).unwrap();
    assert_eq!(ground.number("SELECT COUNT(*) FROM orders").await, count);
    let left = "SELECT quantity FROM stock WHERE product_id = 1";
    assert_eq!(ground.number(left).await, 1_000 - count);
}
