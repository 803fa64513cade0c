//! All settings: `config/default.toml`, then `config/<profile>.toml`, then `ORDER__SECTION__KEY`.
//!
//! The files are compiled in, so the binary runs from any folder; a `config` folder beside the
//! caller replaces them. Secrets come from the environment only.

use std::collections::HashMap;
use std::time::Duration;

use config::{Config, Environment, File, FileFormat};
use entity::order::{OrderType, Policy};
use serde::{Deserialize, Deserializer, de::Error as _};

/// The secret that signs bearer tokens where development is not told another.
pub const DEVELOPMENT_JWT_SECRET: &str = "development-only-jwt-secret-not-for-production";
/// The secret that signs order tokens where development is not told another.
pub const DEVELOPMENT_TOKEN_SECRET: &str = "development-only-token-secret-not-for-production";
/// The sandbox gateway's secret where development is not told another.
pub const DEVELOPMENT_SANDBOX_SECRET: &str = "whsec_c2FuZGJveC1kZXZlbG9wbWVudC1vbmx5";
/// The shortest secret that production accepts, in bytes.
const SHORTEST_SECRET: usize = 32;

/// Why the service does not start: a sentence that names the setting.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("ORDER_PROFILE is \"{0}\"; it must be development, test or production")]
    Profile(String),
    #[error("a setting cannot be used: {0}")]
    Unreadable(#[from] config::ConfigError),
    #[error("{setting} {problem}")]
    Impossible {
        setting: &'static str,
        problem: String,
    },
}

/// Which defaults apply, and how strict the start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    Development,
    Test,
    Production,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    #[serde(skip)]
    pub profile: Option<Profile>,
    pub server: Server,
    pub database: Database,
    pub redis: Redis,
    pub rabbitmq: RabbitMq,
    pub auth: Auth,
    pub token: Token,
    pub sandbox: Sandbox,
    pub orders: Orders,
    pub gate: Gate,
    pub lock: Lock,
    pub bulkhead: Bulkhead,
    pub ids: Ids,
    pub archive: Archive,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    pub host: String,
    /// 0 lets the system choose; the log says which.
    pub port: u16,
    /// Threads that answer; 0 = one per core.
    pub workers: usize,
    /// How long running requests may take to end at a shutdown.
    #[serde(deserialize_with = "duration")]
    pub shutdown: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// `sqlite://path` or `mysql://user:password@host:port/name`.
    pub url: String,
    /// Connections to MySQL; readers on SQLite, which has one writer.
    pub max_connections: u32,
    /// How long a connection is waited for.
    #[serde(deserialize_with = "duration")]
    pub acquire_timeout: Duration,
    /// Whether serving migrates first.
    pub migrate: bool,
    /// Whether serving fills an empty catalogue; never in production.
    pub seed: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redis {
    /// Empty = gate and locks are kept in this process.
    pub url: String,
    pub key_prefix: String,
    #[serde(deserialize_with = "duration")]
    pub timeout: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RabbitMq {
    pub url: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    pub jwt_secret: String,
    /// Whether anybody may have a bearer token for the asking; never in production.
    pub dev_sign_in: bool,
    /// How long a token of the development sign-in lives.
    #[serde(deserialize_with = "duration")]
    pub dev_token_ttl: Duration,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    pub secret: String,
    #[serde(deserialize_with = "duration")]
    pub ttl: Duration,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    pub secret: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// From the creation until when a payment may be started.
    #[serde(deserialize_with = "duration")]
    pub payment_window: Duration,
    /// By order type, in lower case.
    pub types: HashMap<String, OrderTypeRules>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderTypeRules {
    pub policy: Policy,
    /// Whether a rush is met with a lock on user and product.
    pub lock: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// How long a crashed request keeps its repeats out.
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
    #[serde(deserialize_with = "duration")]
    pub wait: Duration,
    #[serde(deserialize_with = "duration")]
    pub hold: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bulkhead {
    /// Transactions at once at this instance.
    pub transactions: usize,
    /// Requests that may wait for one.
    pub queue: usize,
    #[serde(deserialize_with = "duration")]
    pub wait: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ids {
    /// How long a node number is held without a renewal.
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    pub directory: String,
    #[serde(deserialize_with = "duration")]
    pub retention: Duration,
}

impl Settings {
    /// Reads files and environment; the error names what is misspelt or impossible.
    pub fn load() -> Result<Self, SettingsError> {
        let profile = Profile::from_environment()?;
        let environment = Environment::with_prefix("ORDER")
            .prefix_separator("__")
            .separator("__");
        let config = profile.files()?.add_source(environment).build()?;
        Self::checked(config, profile)
    }

    /// The settings of a profile without any environment, changed by `overrides` (`section.key`).
    pub fn of(profile: Profile, overrides: &[(&str, &str)]) -> Result<Self, SettingsError> {
        let mut builder = profile.files()?;
        for (key, value) in overrides {
            builder = builder.set_override(key, *value)?;
        }
        Self::checked(builder.build()?, profile)
    }

    fn checked(config: Config, profile: Profile) -> Result<Self, SettingsError> {
        let mut settings: Self = config.try_deserialize()?;
        settings.profile = Some(profile);
        if profile == Profile::Production {
            settings.check_production()?;
        } else {
            settings.fill_development_secrets();
        }
        settings.check()?;
        Ok(settings)
    }

    /// How orders of a type are treated.
    pub fn rules(&self, order_type: OrderType) -> OrderTypeRules {
        let (name, fallback) = match order_type {
            OrderType::Normal => ("normal", Policy::OneUnpaid),
            OrderType::FlashSale => ("flash_sale", Policy::OneValid),
            OrderType::GroupBuy => ("group_buy", Policy::OneValid),
        };
        let fallback = OrderTypeRules {
            policy: fallback,
            lock: order_type != OrderType::Normal,
        };
        self.orders.types.get(name).copied().unwrap_or(fallback)
    }

    /// Whether helpers for development (sign-in, the repeat panel) are there.
    pub fn is_development(&self) -> bool {
        self.auth.dev_sign_in
    }

    fn fill_development_secrets(&mut self) {
        let defaults = [
            (&mut self.auth.jwt_secret, DEVELOPMENT_JWT_SECRET),
            (&mut self.token.secret, DEVELOPMENT_TOKEN_SECRET),
            (&mut self.sandbox.secret, DEVELOPMENT_SANDBOX_SECRET),
        ];
        for (secret, default) in defaults {
            if secret.is_empty() {
                default.clone_into(secret);
            }
        }
    }

    fn check_production(&self) -> Result<(), SettingsError> {
        if self.auth.dev_sign_in {
            return impossible("ORDER__AUTH__DEV_SIGN_IN", "must be off in production");
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
            if secret == default {
                return impossible(setting, "is the default of development; choose your own");
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
        if self.database.max_connections == 0 {
            return impossible("ORDER__DATABASE__MAX_CONNECTIONS", "must be at least 1");
        }
        if self.bulkhead.transactions == 0 {
            return impossible("ORDER__BULKHEAD__TRANSACTIONS", "must be at least 1");
        }
        for name in self.orders.types.keys() {
            if !["normal", "flash_sale", "group_buy"].contains(&name.as_str()) {
                let problem = format!("knows normal, flash_sale and group_buy, not \"{name}\"");
                return impossible("ORDER__ORDERS__TYPES", problem);
            }
        }
        self.check_durations()
    }

    fn check_durations(&self) -> Result<(), SettingsError> {
        let above_zero = [
            ("ORDER__TOKEN__TTL", self.token.ttl),
            ("ORDER__ORDERS__PAYMENT_WINDOW", self.orders.payment_window),
            ("ORDER__GATE__LEASE", self.gate.lease),
            ("ORDER__LOCK__LEASE", self.lock.lease),
            ("ORDER__LOCK__HOLD", self.lock.hold),
            ("ORDER__IDS__LEASE", self.ids.lease),
            ("ORDER__REDIS__TIMEOUT", self.redis.timeout),
            (
                "ORDER__DATABASE__ACQUIRE_TIMEOUT",
                self.database.acquire_timeout,
            ),
        ];
        let year = Duration::from_secs(366 * 24 * 60 * 60);
        for (setting, value) in above_zero {
            if value < Duration::from_millis(10) || value > year {
                return impossible(setting, "must lie between 10ms and one year");
            }
        }
        Ok(())
    }
}

impl Profile {
    fn from_environment() -> Result<Self, SettingsError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "these are the settings that others ask"
        )]
        let name = std::env::var("ORDER_PROFILE").unwrap_or_else(|_| "development".to_owned());
        match name.as_str() {
            "development" => Ok(Self::Development),
            "test" => Ok(Self::Test),
            "production" => Ok(Self::Production),
            _ => Err(SettingsError::Profile(name)),
        }
    }

    fn files(self) -> Result<config::ConfigBuilder<config::builder::DefaultState>, SettingsError> {
        let (name, own) = match self {
            Self::Development => ("development", include_str!("../config/development.toml")),
            Self::Test => ("test", include_str!("../config/test.toml")),
            Self::Production => ("production", include_str!("../config/production.toml")),
        };
        let default = include_str!("../config/default.toml");
        Ok(Config::builder()
            .add_source(File::from_str(default, FileFormat::Toml))
            .add_source(File::with_name("config/default").required(false))
            .add_source(File::from_str(own, FileFormat::Toml))
            .add_source(File::with_name(&format!("config/{name}")).required(false)))
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth")
            .field("dev_sign_in", &self.dev_sign_in)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token")
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").finish_non_exhaustive()
    }
}

fn impossible<T>(setting: &'static str, problem: impl Into<String>) -> Result<T, SettingsError> {
    Err(SettingsError::Impossible {
        setting,
        problem: problem.into(),
    })
}

/// Reads `30m`, `10s`, `250ms`.
fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map_err(|error| {
        D::Error::custom(format!(
            "\"{text}\" is no duration like 30m or 10s: {error}"
        ))
    })
}
