//! What no settings may say: impossible values anywhere, and development's secrets in production.

use std::str::FromStr;
use std::time::Duration;

use chrono::FixedOffset;
use croner::Cron;

use super::archive::{Archive, SHORTEST_RETENTION};
use super::{Profile, Settings, SettingsError};
use crate::domain::jobs::Job;

/// The secret that signs bearer tokens where development is not told another.
pub const DEVELOPMENT_JWT_SECRET: &str = "development-only-jwt-secret-not-for-production";
/// The secret that signs order tokens where development is not told another.
pub const DEVELOPMENT_TOKEN_SECRET: &str = "development-only-token-secret-not-for-production";
/// The sandbox gateway's secret where development is not told another.
pub const DEVELOPMENT_SANDBOX_SECRET: &str = "whsec_c2FuZGJveC1kZXZlbG9wbWVudC1vbmx5";
/// The shortest secret that production accepts, in bytes.
const SHORTEST_SECRET: usize = 32;
const DEFAULT_SECRET: &str = "is the default of development; choose your own";

/// Of the leases in the database.
const LONGEST_LEASE: Duration = Duration::from_hours(1);

impl Settings {
    /// Fills what development leaves out and refuses what cannot be meant.
    pub(super) fn completed(mut self, profile: Profile) -> Result<Self, SettingsError> {
        if profile == Profile::Production {
            self.check_production()?;
        } else {
            self.fill_development_secrets();
        }
        self.check()?;
        Ok(self)
    }

    fn fill_development_secrets(&mut self) {
        let defaults = [
            (&mut self.auth.jwt_secret, DEVELOPMENT_JWT_SECRET),
            (&mut self.token.secret, DEVELOPMENT_TOKEN_SECRET),
            (&mut self.sandbox.secret, DEVELOPMENT_SANDBOX_SECRET),
        ];
        for (secret, default) in defaults {
            if secret.is_empty() {
                *secret = default.into();
            }
        }
    }

    fn check_production(&self) -> Result<(), SettingsError> {
        if self.auth.dev_sign_in {
            return impossible("ORDER__AUTH__DEV_SIGN_IN", "must be off in production");
        }
        if self.database.seed {
            return impossible("ORDER__DATABASE__SEED", "must be off in production");
        }
        if *self.sandbox.secret == *DEVELOPMENT_SANDBOX_SECRET {
            return impossible("ORDER__SANDBOX__SECRET", DEFAULT_SECRET);
        }
        let secrets = [
            (
                "ORDER__AUTH__JWT_SECRET",
                &self.auth.jwt_secret,
                DEVELOPMENT_JWT_SECRET,
            ),
            (
                "ORDER__TOKEN__SECRET",
                &self.token.secret,
                DEVELOPMENT_TOKEN_SECRET,
            ),
        ];
        for (setting, secret, default) in secrets {
            if **secret == *default {
                return impossible(setting, DEFAULT_SECRET);
            }
            if secret.len() < SHORTEST_SECRET {
                return impossible(
                    setting,
                    "must be set to at least 32 random bytes in production",
                );
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), SettingsError> {
        if !["sqlite:", "mysql:", "mariadb:"]
            .iter()
            .any(|s| self.database.url.starts_with(s))
        {
            return impossible("ORDER__DATABASE__URL", "must begin with sqlite: or mysql:");
        }
        if self.server.host.is_empty() {
            return impossible(
                "ORDER__SERVER__HOST",
                "must name an address, like 127.0.0.1",
            );
        }
        for name in self.orders.types.keys() {
            if !["normal", "flash_sale", "group_buy"].contains(&name.as_str()) {
                let problem = format!("knows normal, flash_sale and group_buy, not \"{name}\"");
                return impossible("ORDER__ORDERS__TYPES", problem);
            }
        }
        if !is_plain_name(&self.rabbitmq.prefix) {
            let problem = "must be 1 to 64 letters, digits, dots, hyphens or underscores";
            return impossible("ORDER__RABBITMQ__PREFIX", problem);
        }
        self.check_numbers()?;
        self.check_schedules()?;
        self.check_durations()?;
        self.check_archive()
    }

    fn check_numbers(&self) -> Result<(), SettingsError> {
        let connections = usize::try_from(self.database.max_connections).unwrap_or(usize::MAX);
        let prefetch = usize::from(self.rabbitmq.prefetch);
        let attempts = usize::try_from(self.events.attempts).unwrap_or(usize::MAX);
        let unit = usize::try_from(self.points.unit).unwrap_or_default();
        let bounded = [
            ("ORDER__SERVER__WORKERS", self.server.workers, 0..=1_024),
            ("ORDER__DATABASE__MAX_CONNECTIONS", connections, 1..=10_000),
            (
                "ORDER__BULKHEAD__TRANSACTIONS",
                self.bulkhead.transactions,
                1..=10_000,
            ),
            ("ORDER__RABBITMQ__PREFETCH", prefetch, 1..=1_000),
            ("ORDER__EVENTS__ATTEMPTS", attempts, 1..=100),
            ("ORDER__POINTS__UNIT", unit, 1..=1_000_000_000),
        ];
        for (setting, value, range) in bounded {
            if !range.contains(&value) {
                let (least, most) = (range.start(), range.end());
                return impossible(setting, format!("must lie between {least} and {most}"));
            }
        }
        Ok(())
    }

    fn check_schedules(&self) -> Result<(), SettingsError> {
        if self.jobs.utc_offset.parse::<FixedOffset>().is_err() {
            return impossible("ORDER__JOBS__UTC_OFFSET", "must read like +08:00");
        }
        for (name, schedule) in &self.jobs.schedules {
            let setting = format!("ORDER__JOBS__SCHEDULES__{}", name.to_uppercase());
            if Job::named(name).is_none() {
                let known = Job::ALL.map(Job::name).join(", ");
                return impossible(setting, format!("names no job; there are {known}"));
            }
            if let Err(problem) = Cron::from_str(schedule)
                && !schedule.is_empty()
            {
                let example = "must be a cron expression with seconds, like 0 30 3 * * *";
                return impossible(setting, format!("{example}: {problem}"));
            }
        }
        Ok(())
    }

    fn check_durations(&self) -> Result<(), SettingsError> {
        let above_zero = [
            ("ORDER__TOKEN__TTL", self.token.ttl),
            ("ORDER__ORDERS__PAYMENT_WINDOW", self.orders.payment_window),
            ("ORDER__GATE__LEASE", self.gate.lease),
            ("ORDER__LOCK__LEASE", self.lock.lease),
            ("ORDER__LOCK__HOLD", self.lock.hold),
            ("ORDER__IDS__LEASE", self.ids.lease),
            ("ORDER__JOBS__LEASE", self.jobs.lease),
            ("ORDER__EVENTS__POLL", self.events.poll),
            ("ORDER__EVENTS__LEASE", self.events.lease),
            ("ORDER__SERVER__DEADLINE", self.server.deadline),
            ("ORDER__SERVER__READ_DEADLINE", self.server.read_deadline),
            ("ORDER__DATABASE__DEADLINE", self.database.deadline),
            ("ORDER__DATABASE__IDLE_TIMEOUT", self.database.idle_timeout),
            ("ORDER__DATABASE__MAX_LIFETIME", self.database.max_lifetime),
            ("ORDER__DATABASE__TEST_AFTER", self.database.test_after),
            ("ORDER__ARCHIVE__WINDOW", self.archive.window),
            ("ORDER__REDIS__TIMEOUT", self.redis.timeout),
            ("ORDER__RABBITMQ__TIMEOUT", self.rabbitmq.timeout),
            ("ORDER__AUTH__DEV_TOKEN_TTL", self.auth.dev_token_ttl),
            (
                "ORDER__DATABASE__ACQUIRE_TIMEOUT",
                self.database.acquire_timeout,
            ),
        ];
        let year = Duration::from_hours(8784);
        for (setting, value) in above_zero {
            if value < Duration::from_millis(10) || value > year {
                return impossible(setting, "must lie between 10ms and one year");
            }
        }
        // What ends later was written under a clock that was ahead, and holds nothing.
        let leases = [
            ("ORDER__IDS__LEASE", self.ids.lease),
            ("ORDER__JOBS__LEASE", self.jobs.lease),
            ("ORDER__EVENTS__LEASE", self.events.lease),
        ];
        for (setting, value) in leases {
            if value > LONGEST_LEASE {
                return impossible(setting, "must be at most one hour");
            }
        }
        Ok(())
    }

    fn check_archive(&self) -> Result<(), SettingsError> {
        let Archive { batch, slice, .. } = self.archive;
        if self.archive.directory.is_empty() {
            return impossible("ORDER__ARCHIVE__DIRECTORY", "must name a directory");
        }
        if self.archive.retention < SHORTEST_RETENTION {
            let problem = "must be at least 7 days: gateways repeat a message for up to 3 days and tell of a \
                           refund up to 7 days later, clients repeat a key for a day; records that repeats \
                           need would be gone";
            return impossible("ORDER__ARCHIVE__RETENTION", problem);
        }
        if self.archive.retention < self.token.ttl {
            let problem =
                "must not be shorter than ORDER__TOKEN__TTL: a token's record must outlive it";
            return impossible("ORDER__ARCHIVE__RETENTION", problem);
        }
        if !(1..=100_000).contains(&batch) {
            return impossible("ORDER__ARCHIVE__BATCH", "must lie between 1 and 100000");
        }
        if !(1..=10_000).contains(&slice) {
            return impossible("ORDER__ARCHIVE__SLICE", "must lie between 1 and 10000");
        }
        if self.archive.pause > Duration::from_mins(1) {
            return impossible("ORDER__ARCHIVE__PAUSE", "must be at most one minute");
        }
        Ok(())
    }
}

/// What goes into the names of queues, and needs no quoting anywhere.
fn is_plain_name(name: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"._-".contains(&c);
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

fn impossible<T>(
    setting: impl Into<String>,
    problem: impl Into<String>,
) -> Result<T, SettingsError> {
    Err(SettingsError::Impossible {
        setting: setting.into(),
        problem: problem.into(),
    })
}
