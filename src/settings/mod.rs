//! All settings: `config/default.toml`, then `config/<profile>.toml`, then `ORDER__SECTION__KEY`.
//!
//! The files are compiled in, so the binary runs from any folder; a `config` folder beside the
//! caller replaces them. Secrets come from the environment only.

mod archive;
mod checks;
mod secret;
mod sections;

use std::env::VarError;

use config::builder::DefaultState;
use config::{Config, ConfigBuilder, Environment, File, FileFormat};
use entity::order::{OrderType, Policy};
use serde::Deserialize;

pub use archive::{Archive, ArchiveTables, Mode};
pub use secret::Secret;
pub use sections::{
    Auth, Bulkhead, Callbacks, Database, Events, Gate, Ids, Jobs, Lock, OrderTypeRules, Orders,
    Points, RabbitMq, Redis, Sandbox, Server, Token,
};

/// Why the service does not start: a sentence that names the setting.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("ORDER_PROFILE is \"{0}\"; it must be development, test or production")]
    Profile(String),
    #[error("a setting cannot be used: {0}")]
    Unreadable(String),
    #[error("{setting} {problem}")]
    Impossible { setting: String, problem: String },
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
    pub server: Server,
    pub database: Database,
    pub redis: Redis,
    pub rabbitmq: RabbitMq,
    pub auth: Auth,
    pub token: Token,
    pub sandbox: Sandbox,
    pub orders: Orders,
    pub callbacks: Callbacks,
    pub jobs: Jobs,
    pub events: Events,
    pub points: Points,
    pub gate: Gate,
    pub lock: Lock,
    pub bulkhead: Bulkhead,
    pub ids: Ids,
    pub archive: Archive,
}

impl From<config::ConfigError> for SettingsError {
    /// What the parser says without the text that it found: a section set to a URL would show its password.
    fn from(error: config::ConfigError) -> Self {
        let said = error.to_string();
        let quoted = said
            .split_once(": string \"")
            .zip(said.rsplit_once("\", expected "));
        Self::Unreadable(match quoted {
            Some(((found, _), (_, expected))) => format!("{found}: string, expected {expected}"),
            None => said,
        })
    }
}

impl Settings {
    /// Reads files and environment; the error names what is misspelt or impossible.
    pub fn load() -> Result<Self, SettingsError> {
        let profile = Profile::from_environment()?;
        let environment = Environment::with_prefix("ORDER")
            .prefix_separator("__")
            .separator("__");
        let config = profile.files().add_source(environment).build()?;
        Self::checked(config, profile)
    }

    /// The settings of a profile without any environment, changed by `overrides` (`section.key`).
    pub fn of(profile: Profile, overrides: &[(&str, &str)]) -> Result<Self, SettingsError> {
        let mut builder = profile.files();
        for (key, value) in overrides {
            builder = builder.set_override(key, *value)?;
        }
        Self::checked(builder.build()?, profile)
    }

    fn checked(config: Config, profile: Profile) -> Result<Self, SettingsError> {
        let settings: Self = config.try_deserialize()?;
        settings.completed(profile)
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
}

impl Profile {
    fn from_environment() -> Result<Self, SettingsError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "these are the settings that others ask"
        )]
        let name = match std::env::var("ORDER_PROFILE") {
            Err(VarError::NotPresent) => "development".to_owned(),
            Err(VarError::NotUnicode(name)) => name.to_string_lossy().into_owned(),
            Ok(name) => name,
        };
        match name.as_str() {
            "development" => Ok(Self::Development),
            "test" => Ok(Self::Test),
            "production" => Ok(Self::Production),
            _ => Err(SettingsError::Profile(name)),
        }
    }

    fn files(self) -> ConfigBuilder<DefaultState> {
        let (name, own) = match self {
            Self::Development => ("development", include_str!("../../config/development.toml")),
            Self::Test => ("test", include_str!("../../config/test.toml")),
            Self::Production => ("production", include_str!("../../config/production.toml")),
        };
        let default = include_str!("../../config/default.toml");
        Config::builder()
            .add_source(File::from_str(default, FileFormat::Toml))
            .add_source(File::with_name("config/default").required(false))
            .add_source(File::from_str(own, FileFormat::Toml))
            .add_source(File::with_name(&format!("config/{name}")).required(false))
    }
}
