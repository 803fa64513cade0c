//! The API's description says what the doors do, and its pages need nobody else's server.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;

use crate::support::client::send;
use crate::support::doors::DOORS;
use crate::support::{Shop, order};

#[actix_web::test]
async fn the_description_lists_every_door_with_every_status() {
    let shop = Shop::open().await;

    let description = description(&shop).await;

    let mut listed: Vec<(String, String, BTreeSet<u16>)> = Vec::new();
    for (path, door) in description["paths"].as_object().unwrap() {
        for (method, operation) in door.as_object().unwrap() {
            let statuses = operation["responses"].as_object().unwrap().keys();
            let statuses = statuses.map(|status| status.parse().unwrap()).collect();
            listed.push((method.clone(), path.clone(), statuses));
        }
    }
    for (method, path, statuses) in &listed {
        let door = DOORS.iter().find(|door| door.0 == method && door.1 == path);
        let expected = door.map(|door| door.2.iter().copied().collect());
        assert_eq!(Some(statuses), expected.as_ref(), "{method} {path}");
    }
    assert_eq!(listed.len(), DOORS.len());
}

#[actix_web::test]
async fn a_door_that_is_described_is_there_and_knows_the_methods_that_it_lists() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    for (path, door) in description(&shop).await["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "1").replace("{gateway}", "sandbox");

        let reply = send(ann.request(Method::PATCH, &path)).await.expect(405);

        let allowed = reply.header("Allow").unwrap().to_lowercase();
        let allowed: BTreeSet<&str> = allowed
            .split(", ")
            .filter(|method| *method != "head")
            .collect();
        let described = door
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(allowed, described, "{path}");
    }
}

#[actix_web::test]
async fn the_description_is_openapi_3_1_and_refers_to_nothing_that_is_missing() {
    let shop = Shop::open().await;

    let description = description(&shop).await;

    assert!(description["openapi"].as_str().unwrap().starts_with("3.1."));
    assert!(description["info"]["title"].is_string() && description["info"]["version"].is_string());
    let mut references = BTreeSet::new();
    collect_references(&description, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(
            description.pointer(pointer).is_some(),
            "{reference} is missing"
        );
    }
    let mut names = BTreeSet::new();
    for door in description["paths"].as_object().unwrap().values() {
        for operation in door.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name), "two operations are called {name}");
            assert!(operation["summary"].is_string(), "{name} has no summary");
        }
    }
}

#[actix_web::test]
async fn every_problem_is_described_with_its_codes() {
    let shop = Shop::open().await;
    let description = description(&shop).await;
    for (path, door) in description["paths"].as_object().unwrap() {
        for (method, operation) in door.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                // Gateways are answered in their own words.
                let own_words = ["/readyz", "/api/payments/callback/{gateway}"];
                let is_problem = status.as_str() >= "400" && !own_words.contains(&path.as_str());
                let types: Vec<&String> = response["content"]
                    .as_object()
                    .into_iter()
                    .flat_map(|types| types.keys())
                    .collect();
                if is_problem {
                    assert_eq!(
                        types,
                        ["application/problem+json"],
                        "{method} {path} {status}"
                    );
                }
            }
        }
    }
    let codes = description["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
        .as_array()
        .unwrap();
    let codes: BTreeSet<&str> = codes.iter().map(|code| code.as_str().unwrap()).collect();
    let source = include_str!("../src/error.rs");
    for code in &codes {
        assert!(source.contains(&format!("\"{code}\"")), "{code} is no code");
    }
    assert_eq!(codes.len(), source.matches("=> (\"").count());
}

#[actix_web::test]
async fn an_answer_has_exactly_the_members_that_are_described() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let description = description(&shop).await;
    let timeline = ann.get(&format!("/api/orders/{id}/timeline")).await.body;
    let whole = timeline.clone();
    let mut event = timeline["data"][0].clone();
    assert_eq!(
        event.as_object_mut().unwrap().remove("kind"),
        Some("event".into())
    );
    for (schema, value) in [
        ("Timeline", whole),
        ("EventView", event),
        (
            "OrderView",
            ann.get(&format!("/api/orders/{id}")).await.body,
        ),
        ("ProductView", ann.get("/api/products/1").await.body),
        ("Readiness", ann.get("/readyz").await.body),
    ] {
        let described = &description["components"]["schemas"][schema]["properties"];

        let members: BTreeSet<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(
            members,
            described.as_object().unwrap().keys().collect(),
            "{schema}"
        );
    }
}

#[actix_web::test]
async fn the_pages_load_nothing_from_elsewhere() {
    let shop = Shop::open().await;
    let door = shop.anonymous();
    let text = async |path: &str| {
        let response = door.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.text().await.unwrap()
    };

    for page in ["/", "/docs", "/docs/"] {
        let html = text(page).await;
        for reference in references_of(&html) {
            assert!(!reference.contains("//"), "{page} loads {reference}");
            let base = if page == "/" { "/" } else { "/docs/" };
            text(&format!(
                "{base}{}",
                reference.trim_start_matches(['.', '/'])
            ))
            .await;
        }
    }
    let start = text("/docs/swagger-initializer.js").await;
    assert!(start.contains("\"/openapi.json\""), "{start}");
    assert!(start.contains("\"validatorUrl\": \"none\""), "{start}");
    assert!(
        !start.contains("http://") && !start.contains("https://"),
        "{start}"
    );
}

#[actix_web::test]
async fn pages_may_run_nobody_elses_scripts() {
    let shop = Shop::open().await;
    let door = shop.anonymous();
    for page in ["/", "/index.html", "/app.js", "/docs/", "/docs/index.html"] {
        let reply = door.get(page).await.expect(200);

        let policy = reply.header("Content-Security-Policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'self'; "),
            "{page}: {policy}"
        );
        assert!(!policy.contains("script-src") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(
            reply.header("X-Content-Type-Options"),
            Some("nosniff"),
            "{page}"
        );
        assert_eq!(
            reply.header("Referrer-Policy"),
            Some("no-referrer"),
            "{page}"
        );
    }
}

async fn description(shop: &Shop) -> Value {
    let reply = shop.anonymous().get("/openapi.json").await.expect(200);
    assert_eq!(reply.header("Content-Type"), Some("application/json"));
    reply.body
}

fn collect_references(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(reference) if name == "$ref" => {
                        references.insert(reference.clone());
                    }
                    other => collect_references(other, references),
                }
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                collect_references(entry, references);
            }
        }
        _ => {}
    }
}

/// What the page's tags load: every `src`, and every `href` of a `link`.
fn references_of(html: &str) -> Vec<String> {
    let tags = html.split('<').filter(|tag| {
        tag.starts_with("script") || tag.starts_with("link") || tag.starts_with("img")
    });
    tags.flat_map(|tag| {
        ["src=\"", "href=\""].map(|attribute| {
            let (_, value) = tag.split_once(attribute)?;
            Some(value.split('"').next().unwrap_or_default().to_owned())
        })
    })
    .flatten()
    .filter(|reference| !reference.starts_with("data:"))
    .collect()
}
