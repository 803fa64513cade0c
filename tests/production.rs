//! Production: secrets of its own, nothing of development, and no password in what it says.

use order_service::settings::{Profile, Settings};
use tempfile::TempDir;

use crate::settings::{SECRET, migrate, refusal, text};
use crate::support::Client;
use crate::support::binary::Binary;
use crate::support::shop::Place;

/// A password that no line may show.
const PASSWORD: &str = "hunter2";

#[test]
fn production_starts_with_secrets_of_its_own_and_nothing_of_development() {
    let good = [
        ("ORDER_PROFILE", "production"),
        ("ORDER__AUTH__JWT_SECRET", SECRET),
        ("ORDER__TOKEN__SECRET", SECRET),
    ];
    let folder = TempDir::new().unwrap();
    let output = migrate(folder.path(), &good);
    assert!(output.status.success(), "{}", text(&output));
    for (setting, value) in [
        ("ORDER__AUTH__JWT_SECRET", ""),
        ("ORDER__AUTH__JWT_SECRET", "0123456789abcdef0123456789abcde"),
        (
            "ORDER__AUTH__JWT_SECRET",
            "development-only-jwt-secret-not-for-production",
        ),
        ("ORDER__TOKEN__SECRET", ""),
        ("ORDER__TOKEN__SECRET", "short"),
        (
            "ORDER__TOKEN__SECRET",
            "development-only-token-secret-not-for-production",
        ),
        (
            "ORDER__SANDBOX__SECRET",
            "whsec_c2FuZGJveC1kZXZlbG9wbWVudC1vbmx5",
        ),
        ("ORDER__AUTH__DEV_SIGN_IN", "true"),
        ("ORDER__DATABASE__SEED", "true"),
    ] {
        let output = migrate(folder.path(), &[&good[..], &[(setting, value)]].concat());

        let said = refusal(&output);
        assert!(said.contains(setting), "{setting}={value}: {said}");
        assert!(value.len() < 6 || !said.contains(value), "{said}");
    }
}

#[actix_web::test]
async fn production_has_no_doors_of_development() {
    let place = Place::fresh().await;
    let server = Binary::start(
        &place,
        &[
            ("ORDER_PROFILE", "production"),
            ("ORDER__SERVER__HOST", "127.0.0.1"),
            ("ORDER__SERVER__PORT", "0"),
            ("ORDER__AUTH__JWT_SECRET", SECRET),
            ("ORDER__TOKEN__SECRET", SECRET),
        ],
    );
    let door = Client::new(&server.base, None);
    let ask = serde_json::json!({ "user_id": "ann", "role": "operator" });

    let replies = [
        door.get("/api/dev").await,
        door.get("/api/dev/sign-in").await,
        door.post("/api/dev/sign-in", &ask).await,
    ];

    for reply in replies {
        assert_eq!((reply.status, reply.code()), (404, "not_found"));
    }
    assert_eq!(
        door.get("/api/products").await.expect(200).body["data"],
        serde_json::json!([])
    );
}

#[test]
fn no_refusal_shows_a_password() {
    for (setting, value) in [
        (
            "ORDER__DATABASE__URL",
            "mysql://root:hunter2@127.0.0.1:port/orders",
        ),
        ("ORDER__DATABASE__URL", "mysql://root:hunter2@"),
        ("ORDER__DATABASE__URL", "mysql://root:hunter2@/"),
        ("ORDER__DATABASE__URL", "mariadb://root:hunter2@[::1/orders"),
        (
            "ORDER__DATABASE__URL",
            "mysql://root:hunter2@127.0.0.1/orders?ssl-mode=hunter2",
        ),
        (
            "ORDER__DATABASE__URL",
            "postgres://root:hunter2@127.0.0.1/orders",
        ),
        (
            "ORDER__DATABASE__URL",
            "mysql://root:hunter2@127.0.0.1:1/orders",
        ),
        ("ORDER__DATABASE", "mysql://root:hunter2@127.0.0.1/orders"),
        ("ORDER__REDIS__URL", "redis://:hunter2@127.0.0.1:port"),
        ("ORDER__REDIS__URL", "http://:hunter2@127.0.0.1"),
        ("ORDER__REDIS", "redis://:hunter2@127.0.0.1"),
        ("ORDER__AUTH", "hunter2"),
        ("ORDER__AUTH__JWT_SECRET__X", "hunter2"),
        ("ORDER__AUTH__JWT_SECRETS", "hunter2"),
    ] {
        let folder = TempDir::new().unwrap();

        let output = migrate(
            folder.path(),
            &[
                (setting, value),
                ("ORDER__DATABASE__ACQUIRE_TIMEOUT", "100ms"),
                ("RUST_LOG", "trace"),
            ],
        );

        let said = refusal(&output);
        assert!(!text(&output).contains(PASSWORD), "{setting}: {said}");
    }
}

#[test]
fn settings_print_no_secret() {
    let settings = Settings::of(
        Profile::Test,
        &[
            ("database.url", "mysql://root:hunter2@localhost/orders"),
            ("redis.url", "redis://:hunter2@localhost"),
            ("rabbitmq.url", "amqp://guest:hunter2@localhost"),
            ("auth.jwt_secret", "hunter2"),
            ("token.secret", "hunter2"),
            ("sandbox.secret", "hunter2"),
        ],
    )
    .unwrap();

    let printed = format!("{settings:?} {settings:#?}");

    assert!(!printed.contains(PASSWORD), "{printed}");
    assert!(printed.contains("acquire_timeout"), "{printed}");
}
