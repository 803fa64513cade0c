//! Serving: the start in its steps, the middleware of every door, the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::{Server, Service, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::DefaultHeaders;
use actix_web::{App as Doors, HttpServer, web};
use log::info;
use tokio::time::timeout;

use crate::app::App;
use crate::controllers;
use crate::database::{self, migrate};
use crate::deadline;
use crate::error::{Error, Result};
use crate::jobs::Loops;
use crate::metrics::Metrics;
use crate::services::catalogue::seed;
use crate::settings;

/// Longer than load balancers keep an idle connection, so that none is closed under a request.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long after its deadline a request may still be answered by its own door.
const GRACE: Duration = Duration::from_secs(1);

/// Migrates and, where the settings say so, fills an empty catalogue; one instance at a time.
pub async fn prepare(app: &App) -> Result<()> {
    app.db
        .alone(&app.settings, async |connection| {
            if app.settings.database.migrate {
                migrate::up(connection).await?;
            }
            if app.settings.database.seed && seed::fill_empty_catalogue(app).await? {
                info!("the catalogue was empty; it now holds the products of development");
            }
            Ok(())
        })
        .await
}

/// A server that listens, and what runs beside it.
#[expect(missing_debug_implementations, reason = "the server has none")]
pub struct Listening {
    /// Answers once it is awaited.
    pub server: Server,
    pub address: SocketAddr,
    pub loops: Loops,
}

/// Listens, and starts the loops where the settings say so.
pub fn listen(app: &Arc<App>) -> Result<Listening> {
    let settings = &app.settings.server;
    let (host, port) = (settings.host.clone(), settings.port);
    let (workers, shutdown) = (settings.workers, settings.shutdown.as_secs());
    let data = web::Data::from(Arc::clone(app));
    let mut server = HttpServer::new(move || {
        let metrics = Arc::clone(&data.metrics);
        let settings = data.settings.clone();
        let times = settings.server.clone();
        Doors::new()
            .app_data(data.clone())
            .wrap(security_headers())
            .wrap_fn(move |request, next| {
                let metrics = Arc::clone(&metrics);
                let start = Instant::now();
                let (method, time) = (label(request.method()), time_for(&times, request.method()));
                let answer = by_deadline(time, next.call(request));
                async move {
                    let answer = answer.await;
                    observe(&metrics, method, &answer, start);
                    answer
                }
            })
            .configure(|config| controllers::configure(config, &settings))
    })
    .keep_alive(KEEP_ALIVE)
    .shutdown_timeout(shutdown);
    if workers > 0 {
        server = server.workers(workers);
    }
    let server = server.bind((host.as_str(), port)).map_err(|error| {
        Error::Start(format!(
            "cannot listen at {host}:{port}: {error}; choose another with ORDER__SERVER__PORT"
        ))
    })?;
    let address = server.addrs().first().copied();
    let address =
        address.ok_or_else(|| Error::Start(format!("nothing listens at {host}:{port}")))?;
    if let Ok(sandbox) = app.sandbox() {
        sandbox.deliver_to(&own_url(address));
    }
    let loops = if app.settings.jobs.enabled {
        Loops::start(app)
    } else {
        Loops::default()
    };
    Ok(Listening {
        server: server.run(),
        address,
        loops,
    })
}

/// How this process reaches itself.
fn own_url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}")
}

fn security_headers() -> DefaultHeaders {
    DefaultHeaders::new()
        .add(("X-Content-Type-Options", "nosniff"))
        .add(("X-Frame-Options", "DENY"))
        .add(("Referrer-Policy", "no-referrer"))
}

/// How long a request may take by its method.
fn time_for(settings: &settings::Server, method: &Method) -> Duration {
    if matches!(*method, Method::GET | Method::HEAD) {
        settings.read_deadline
    } else {
        settings.deadline
    }
}

/// What the work below sees as its deadline; what waits without asking for it, like a body that
/// comes slowly, is given up a little later.
async fn by_deadline<T>(
    time: Duration,
    call: impl Future<Output = Result<T, actix_web::Error>>,
) -> Result<T, actix_web::Error> {
    match timeout(time + GRACE, deadline::within(time, call)).await {
        Ok(answer) => answer,
        Err(_elapsed) => Err(Error::Unavailable(database::late()).into()),
    }
}

fn observe<B>(
    metrics: &Metrics,
    method: &str,
    answer: &Result<ServiceResponse<B>, actix_web::Error>,
    start: Instant,
) {
    let route = answer
        .as_ref()
        .ok()
        .and_then(|answer| answer.request().match_pattern());
    let route = route.as_deref().unwrap_or("unmatched");
    let status = match answer {
        Ok(answer) => answer.status(),
        Err(error) => error.as_response_error().status_code(),
    };
    metrics.answered(
        method,
        route,
        status.as_u16(),
        start.elapsed().as_secs_f64(),
    );
}

/// Clients may make up any number of methods; each would be a series of its own for ever.
const fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
