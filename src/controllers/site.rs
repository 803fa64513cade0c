//! The checkout page, from the binary itself.

use std::ffi::OsStr;
use std::path::Path;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH};
use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

use super::door::{door, reading};
use crate::error::{Error, Result};

/// Nothing but our own scripts, styles and doors.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What stands in many pages is written once.
const INCLUDE: &str = "<!-- include ";

#[derive(RustEmbed)]
#[folder = "static/"]
struct Site;

pub fn configure(config: &mut web::ServiceConfig) {
    config.service(
        door(
            "/{path:.*\\.(?:html|js|css|svg|png|ico|json|webmanifest)|}",
            "GET, HEAD",
        )
        .route(reading().to(file)),
    );
}

async fn file(request: HttpRequest, path: web::Path<String>) -> Result<HttpResponse> {
    let name = if path.is_empty() {
        "index.html"
    } else {
        path.as_str()
    };
    let content = content(name).ok_or(Error::NotFound)?;
    let tag = tag(&content);
    let known = request
        .headers()
        .get(IF_NONE_MATCH)
        .is_some_and(|seen| seen == tag.as_str());
    let mut response = if known {
        HttpResponse::NotModified()
    } else {
        HttpResponse::Ok()
    };
    response
        .insert_header((ETAG, tag))
        .insert_header((CACHE_CONTROL, "no-cache"))
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .content_type(content_type(name));
    Ok(if known {
        response.finish()
    } else {
        response.body(content)
    })
}

/// A page with the parts that it names: `<!-- include head -->` is `parts/head.html`.
fn content(name: &str) -> Option<Vec<u8>> {
    let file = Site::get(name)?.data.into_owned();
    if Path::new(name).extension() != Some(OsStr::new("html")) {
        return Some(file);
    }
    let mut page = String::from_utf8(file).ok()?;
    while let Some((before, rest)) = page.split_once(INCLUDE) {
        let (part, after) = rest.split_once(" -->")?;
        let part = Site::get(&format!("parts/{part}.html"))?;
        page = format!(
            "{before}{}{after}",
            String::from_utf8_lossy(&part.data).trim_end()
        );
    }
    Some(page.into_bytes())
}

fn tag(content: &[u8]) -> String {
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(content));
    format!("\"{hash}\"")
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        _ => "application/json",
    }
}
