//! What tests of faults stand on: a connection past the service, something in its way, a client who does not give up.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use order_service::domain::snowflake::NODES;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend,
    SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};
use serde_json::Value;

use super::client::{Client, Reply};
use super::shop::{Place, Shop};

/// So long a client repeats; the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(40);
/// Between two repeats.
const PAUSE: Duration = Duration::from_millis(10);

/// A connection of the test's own to the service's database.
#[derive(Debug)]
pub struct Aside {
    db: DatabaseConnection,
}

impl Aside {
    pub async fn to(place: &Place) -> Self {
        let mut urls = place.overrides.iter();
        let (_, url) = urls.find(|(key, _)| key == "database.url").unwrap();
        Self::at(url).await
    }

    pub async fn at(url: &str) -> Self {
        let mut options = ConnectOptions::new(url);
        options.max_connections(3).sqlx_logging(false);
        let db = Database::connect(options).await.unwrap();
        Self { db }
    }

    /// The first column of the first row of a query, as a number.
    pub async fn number(&self, sql: &str) -> i64 {
        let row = self.db.query_one_raw(self.statement(sql)).await.unwrap();
        row.unwrap().try_get_by_index(0).unwrap()
    }

    /// The first column of each row of a query, as text.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = self.db.query_all_raw(self.statement(sql)).await.unwrap();
        rows.iter()
            .map(|row| row.try_get_by_index(0).unwrap())
            .collect()
    }

    pub async fn execute(&self, sql: &str) {
        self.try_execute(sql).await.unwrap();
    }

    pub async fn try_execute(&self, sql: &str) -> Result<(), sea_orm::DbErr> {
        self.db.execute_unprepared(sql).await.map(drop)
    }

    pub fn backend(&self) -> DbBackend {
        self.db.get_database_backend()
    }

    /// Whether a lease runs, by the database's clock.
    pub async fn runs(&self, lease: &str) -> bool {
        let now = match self.backend() {
            DbBackend::Sqlite => "unixepoch('subsec') * 1000",
            _ => "UNIX_TIMESTAMP(NOW(3)) * 1000",
        };
        let sql = format!("SELECT COUNT(*) FROM lease WHERE name = '{lease}' AND until > {now}");
        self.number(&sql).await == 1
    }

    /// How many creations have come to the statement for which they wait: the stock that is blocked, or the record that
    /// another inserts. Only `MySQL` knows; its list of transactions is not renewed while somebody polls it.
    pub async fn waiting(&self) -> i64 {
        self.number(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND command <> 'Sleep' AND (info LIKE 'UPDATE `stock`%' \
             OR info LIKE 'INSERT INTO `idempotency_record`%')",
        )
        .await
    }

    /// Holds up every creation with this product: on `MySQL` when it takes the stock, which it does last; on `SQLite`,
    /// which has one writer, when it begins.
    pub async fn block(&self, product: i64) -> Blockade {
        let lock = match self.backend() {
            DbBackend::Sqlite => "",
            _ => "FOR UPDATE",
        };
        let sql = format!("SELECT quantity FROM stock WHERE product_id = {product} {lock}");
        self.block_by(&sql).await
    }

    /// Begins a transaction with a query that takes the rows.
    pub async fn block_by(&self, query: &str) -> Blockade {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let tx = self.db.begin_with_options(options).await.unwrap();
        tx.query_one_raw(self.statement(query)).await.unwrap();
        Blockade { tx }
    }

    fn statement(&self, sql: &str) -> Statement {
        Statement::from_string(self.backend(), sql)
    }
}

/// Stands in the way until it is lifted.
#[derive(Debug)]
pub struct Blockade {
    tx: DatabaseTransaction,
}

impl Blockade {
    /// A statement of the blockade's own, seen by others once it is lifted.
    pub async fn execute(&self, sql: &str) {
        self.tx.execute_unprepared(sql).await.unwrap();
    }

    pub async fn lift(self) {
        self.tx.commit().await.unwrap();
    }
}

/// A customer with an order token: what he asked for he may ask for again.
#[derive(Debug, Clone)]
pub struct Buyer {
    pub client: Client,
    pub key: String,
}

impl Buyer {
    pub async fn new(client: Client) -> Self {
        let key = client.token().await;
        Self { client, key }
    }

    /// The same request at another instance.
    pub fn at(&self, base: &str) -> Self {
        let (client, key) = (self.client.at(base), self.key.clone());
        Self { client, key }
    }

    pub async fn place(&self, order: &Value) -> Reply {
        self.client.place(&self.key, order).await
    }

    /// Repeats as the contract asks: after 409 `request_in_progress` and after 503, both with Retry-After. Any other
    /// refusal fails the test, and so does impatience.
    pub async fn insist(&self, order: &Value) -> Reply {
        let started = Instant::now();
        loop {
            let reply = self.place(order).await;
            if reply.status == 201 {
                return reply;
            }
            assert!(asks_to_repeat(&reply), "{reply:?}");
            assert!(started.elapsed() < PATIENCE, "still {reply:?}");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// That many customers of a shop.
pub async fn crowd(shop: &Shop, size: usize) -> Vec<Buyer> {
    let buyers = (0..size).map(|number| Buyer::new(shop.customer(&format!("buyer-{number}"))));
    join_all(buyers).await
}

/// All of them insist on their order at once.
pub async fn insist_all(buyers: &[Buyer], order: &Value) -> Vec<Reply> {
    join_all(buyers.iter().map(|buyer| buyer.insist(order))).await
}

/// Whether a refusal says that nothing is decided and the same request may come again.
pub fn asks_to_repeat(reply: &Reply) -> bool {
    let passing = reply.status == 503 || reply.code() == "request_in_progress";
    passing && reply.header("Retry-After") == Some("1")
}

/// The order id that an order token carries.
pub fn id_of(token: &str) -> i64 {
    let bytes = BASE64_URL_SAFE_NO_PAD
        .decode(token.strip_prefix("ot_").unwrap())
        .unwrap();
    i64::from_be_bytes(bytes[..8].try_into().unwrap())
}

/// The node number in the id that an order token carries.
pub fn node_of(token: &str) -> i64 {
    (id_of(token) >> 12) % NODES
}

/// Leaves no node number behind the clock: another process, whose clock was ahead, used those that nobody holds.
pub async fn use_all_numbers_ahead(place: &Place) {
    let aside = Aside::to(place).await;
    let held = aside
        .texts("SELECT name FROM lease WHERE name LIKE 'node:%'")
        .await;
    let ahead = chrono::Utc::now() + chrono::TimeDelta::days(400);
    let rows: Vec<String> = (0..NODES)
        .map(|number| format!("node:{number}"))
        .filter(|name| !held.contains(name))
        .map(|name| format!("('{name}', 'ahead', 1, 1, {})", ahead.timestamp_millis()))
        .collect();
    let rows = rows.join(", ");
    aside
        .execute(&format!(
            "INSERT INTO lease (name, holder, until, epoch, reserved) VALUES {rows}"
        ))
        .await;
}
