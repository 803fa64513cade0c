//! A shop of a test's own: a fresh database, a clock that only the test moves, real HTTP.

use std::cell::OnceCell;
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::rt::task::JoinHandle;
use chrono::{DateTime, TimeDelta, Utc};
use entity::order::OrderStatus;
use order_service::app::App;
use order_service::clock::Clock;
use order_service::domain::events::Consumer;
use order_service::domain::jobs::Job;
use order_service::domain::order_flow::Move;
use order_service::jobs::{self, Ran, relay};
use order_service::repositories;
use order_service::repositories::order::Whose;
use order_service::server::{self, Listening};
use order_service::services::operations::audit;
use order_service::services::orders::order_status::{self, Note};
use order_service::settings::{self, Settings};
use sea_orm::{ConnectionTrait, Statement};
use uuid::Uuid;

use super::client::Client;
use super::entrance::eventually;
pub use super::place::{Place, create_database, variable};

/// One running instance in this process.
#[derive(Debug)]
pub struct Shop {
    pub app: Arc<App>,
    pub place: Arc<Place>,
    pub base: String,
    server: ServerHandle,
    delivery: OnceCell<JoinHandle<()>>,
}

impl Shop {
    /// A shop with the development catalogue: products 1 to 6, 1,000 pieces each.
    pub async fn open() -> Self {
        Self::open_with(&[]).await
    }

    /// The same with some settings changed.
    pub async fn open_with(changes: &[(&str, &str)]) -> Self {
        Self::open_at(Arc::new(Place::fresh().await), manual_clock(), changes).await
    }

    /// Another instance on the same database and Redis, with the same clock.
    pub async fn another_instance(&self) -> Self {
        Self::open_at(Arc::clone(&self.place), self.app.clock.clone(), &[]).await
    }

    pub async fn open_at(place: Arc<Place>, clock: Clock, changes: &[(&str, &str)]) -> Self {
        let own = place
            .overrides
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        let overrides: Vec<(&str, &str)> = own.chain(changes.iter().copied()).collect();
        let settings = Settings::of(settings::Profile::Test, &overrides).unwrap();
        let app = Arc::new(App::new(settings, clock).await.unwrap());
        server::prepare(&app).await.unwrap();
        let Listening {
            server, address, ..
        } = server::listen(&app).unwrap();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Self {
            app,
            place,
            base: format!("http://{address}"),
            server: handle,
            delivery: OnceCell::new(),
        }
    }

    pub fn customer(&self, user: &str) -> Client {
        self.client(user, "customer")
    }

    pub fn operator(&self) -> Client {
        self.client("olga", "operator")
    }

    pub fn service(&self, user: &str) -> Client {
        self.client(user, "service")
    }

    pub fn anonymous(&self) -> Client {
        Client::new(&self.base, None)
    }

    fn client(&self, user: &str, role: &str) -> Client {
        use order_service::auth::{Caller, Role};
        let role = match role {
            "customer" => Role::Customer,
            "operator" => Role::Operator,
            _ => Role::Service,
        };
        let caller = Caller {
            user: entity::UserId::parse(user).unwrap(),
            role,
        };
        let expiry = self.app.development_sign_in_ends();
        let token = caller
            .sign(&self.app.settings.auth.jwt_secret, expiry)
            .unwrap();
        Client::new(&self.base, Some(token))
    }

    /// Moves the shop's clock; nothing happens meanwhile.
    pub fn advance(&self, by: TimeDelta) {
        self.app.clock.advance(by);
    }

    /// Runs every job once, as the loops would: events first, then what is due at gateways.
    pub async fn run_jobs(&self) {
        self.relay().await;
        for job in [Job::RetryRefunds, Job::Reconcile] {
            self.run_job(job).await;
        }
    }

    /// Runs a job by hand; what it did.
    pub async fn run_job(&self, job: Job) -> String {
        match jobs::run(&self.app, job, Utc::now()).await.unwrap() {
            Ran::Done(done) => done,
            Ran::ByAnother(holder) => panic!("{job:?} is held by {holder}"),
        }
    }

    /// Hands over what waits in the outbox, until all of it has its effect or failed.
    pub async fn relay(&self) {
        self.deliver();
        relay::relay(&self.app).await.unwrap();
        let in_progress = &self.app.metrics.events.in_progress;
        eventually(async || self.number(&unsettled()).await == 0 && in_progress.get() == 0).await;
        self.app.background_calls.done().await;
    }

    /// Takes what a broker delivers from here on; in process there is none.
    pub fn deliver(&self) {
        self.delivery.get_or_init(|| {
            let app = Arc::clone(&self.app);
            actix_web::rt::spawn(async move { relay::deliver(&app).await })
        });
    }

    /// Takes up the failed messages that are due, once.
    pub async fn retry_messages(&self) -> usize {
        let taken_up = relay::retry(&self.app).await.unwrap();
        self.app.background_calls.done().await;
        taken_up
    }

    /// A number as operators see it.
    pub async fn metric(&self, name: &str) -> i64 {
        self.try_metric(name).await.unwrap()
    }

    /// The same; `None` for what was never counted.
    pub async fn try_metric(&self, name: &str) -> Option<i64> {
        let reply = reqwest::get(format!("{}/metrics", self.base)).await;
        let text = reply.unwrap().text().await.unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|number| number.parse().unwrap())
    }

    /// What is left of a product.
    pub async fn stock(&self, product: &str) -> i64 {
        let reply = self
            .operator()
            .get(&format!("/api/products/{product}/stock"))
            .await;
        reply.body["quantity"].as_i64().unwrap()
    }

    /// Counts a product's stock anew, as an operator would.
    pub async fn set_stock(&self, product: &str, quantity: i64) {
        let operator = self.operator();
        let path = format!("/api/products/{product}/stock");
        let version = operator.get(&path).await.body["version"].as_i64().unwrap();
        let body = serde_json::json!({ "quantity": quantity });
        operator.put(&path, &body, Some(version)).await.expect(200);
    }

    /// Moves an order as a payment, a shipment or a refund would, until those have doors.
    pub async fn simulate(&self, order: &str, moves: &[Move]) {
        let id = order.parse().unwrap();
        let now = self.app.clock.now();
        self.app
            .db
            .transaction(async |tx| {
                let mut order = repositories::order::lock(tx, id, Whose::Anybodys)
                    .await?
                    .unwrap();
                for action in moves {
                    let note = Note::new("simulation", serde_json::json!({}));
                    order = order_status::change(tx, order, *action, note, now).await?;
                }
                Ok::<_, order_service::error::Error>(())
            })
            .await
            .unwrap();
    }

    pub async fn status(&self, order: &str) -> OrderStatus {
        let id = order.parse().unwrap();
        let db = self.app.db.read();
        repositories::order::find_alone(db, id, Whose::Anybodys)
            .await
            .unwrap()
            .unwrap()
            .status
    }

    /// The first column of the first row of a query, as a number.
    pub async fn number(&self, sql: &str) -> i64 {
        let db = self.app.db.read();
        let statement = Statement::from_string(self.app.db.backend(), sql);
        let row = db.query_one_raw(statement).await.unwrap().unwrap();
        row.try_get_by_index(0).unwrap()
    }

    /// Runs a statement behind the service's back.
    pub async fn execute(&self, sql: &str) {
        self.app.db.write().execute_unprepared(sql).await.unwrap();
    }

    /// Fails unless the data proves that nothing happened twice.
    pub async fn assert_audit_is_clean(&self) {
        let violations = audit::run(&self.app.db, &self.app.settings).await.unwrap();
        assert!(violations.is_empty(), "{violations:?}");
    }

    /// Ends the instance as a shutdown would, and starts another on the same database whose gate
    /// remembers nothing.
    pub async fn restarted_without_memory(mut self) -> Self {
        let place = Arc::clone(&self.place);
        let clock = self.app.clock.clone();
        self.server.stop(true).await;
        if let Some(delivery) = self.delivery.take() {
            delivery.abort();
            let _ = delivery.await;
        }
        self.app.db.close().await;
        drop(self);
        let prefix = format!("{}:", Uuid::new_v4().simple());
        Self::open_at(place, clock, &[("redis.key_prefix", &prefix)]).await
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.app.stop();
        if let Some(delivery) = self.delivery.get() {
            delivery.abort();
        }
        let stop = self.server.stop(false);
        actix_web::rt::spawn(stop);
    }
}

/// Counts the pairs of a handed over event and a consumer who neither acted on it nor failed.
pub fn unsettled() -> String {
    let pairs = Consumer::ALL.into_iter().flat_map(|consumer| {
        let kinds = consumer.interests().iter();
        kinds.map(move |kind| format!("SELECT '{}' AS consumer, '{kind}' AS kind", consumer.name()))
    });
    let pairs: Vec<String> = pairs.collect();
    format!(
        "SELECT COUNT(*) FROM order_event e JOIN ({}) i ON i.kind = e.type \
         LEFT JOIN message_consume_log c ON c.consumer = i.consumer \
         AND c.biz_key = e.order_id || ':' || e.type || ':' || e.subject \
         LEFT JOIN message_failure f ON f.consumer = i.consumer AND f.event_id = e.id \
         WHERE e.published_at IS NOT NULL AND c.id IS NULL AND f.id IS NULL",
        pairs.join(" UNION ALL ")
    )
}

/// A moment that every test begins at.
pub fn manual_clock() -> Clock {
    Clock::manual(DateTime::from_timestamp(1_798_000_000, 0).unwrap())
}
