//! The numbers of the database: its trouble, and the connections to it.

use prometheus::{IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use super::register::{counters, gauge};

/// How the database is, as this instance sees it.
#[derive(Debug)]
pub struct DatabaseMetrics {
    trouble: IntGaugeVec,
    closed: IntCounterVec,
    /// Connections that this instance may have at once: the setting, or what the server gives.
    pub connection_limit: IntGauge,
}

impl DatabaseMetrics {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let trouble = Opts::new(
            "database_trouble",
            "1 while the database is in this kind of trouble.",
        );
        let trouble = IntGaugeVec::new(trouble, &["kind"])?;
        registry.register(Box::new(trouble.clone()))?;
        Ok(Self {
            trouble,
            closed: counters(
                registry,
                "database_connections_closed_total",
                "Connections that were not used again, by why.",
                &["reason"],
            )?,
            connection_limit: gauge(
                registry,
                "database_connection_limit",
                "Connections that the pool may have: the setting, or what the server gives.",
            )?,
        })
    }

    pub fn trouble(&self, kind: &str, is_on: bool) {
        self.trouble
            .with_label_values(&[kind])
            .set(i64::from(is_on));
    }

    /// Counts a connection that is closed instead of lent again.
    pub fn closed(&self, reason: &str) {
        self.closed.with_label_values(&[reason]).inc();
    }
}
