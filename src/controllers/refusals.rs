//! What doors refuse, in groups, for the API's description.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use super::problem::PROBLEM_JSON;

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident: $($status:literal $text:literal),+;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name;

            impl IntoResponses for $name {
                fn responses() -> BTreeMap<String, RefOr<Response>> {
                    BTreeMap::from([$(($status.to_string(), problem($text))),+])
                }
            }
        )*
    };
}

refusals! {
    /// Of whoever may not do this.
    Callers:
        401 "No valid bearer token.",
        403 "Not with this role.";
    /// Of a body.
    Bodies:
        400 "Not well-formed; or a key or a version that cannot be used.",
        413 "The body is larger than 64 KiB.",
        415 "The body is not plain JSON.",
        422 "Fields that cannot be used; or a key that was used for another request.";
    /// Of a query string.
    Queries:
        400 "Not well-formed.",
        422 "Values that cannot be used.";
    /// Of an id.
    Ids:
        404 "Nothing here, or not yours.";
    /// Of a version that was seen.
    Versions:
        412 "Changed since it was read.";
    /// By the state.
    States:
        409 "A conflict with the state; see `code`.";
    /// By the end of a token's life.
    Ends:
        410 "The order token's life is over; look at your orders before you ask for another.";
    /// Of a change that names no version.
    Blind:
        428 "If-Match is missing.";
    /// By a gateway that does not say.
    Gateways:
        504 "The payment gateway did not answer: repeat, it asks for the same payment.";
    /// By ourselves.
    Failures:
        500 "Something went wrong on our side.",
        503 "Busy, nothing was changed: try again after Retry-After seconds.";
}

fn problem(text: &str) -> RefOr<Response> {
    let schema = Ref::from_schema_name("Problem");
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new()
        .description(text)
        .content(PROBLEM_JSON, content)
        .build()
        .into()
}
