//! Bodies in JSON: read whole and in time, of exactly the shape that is known, and never quoted in a refusal.

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use crate::error::{Error, Result};

/// How long a body may take to arrive.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The bytes of a body that is declared as plain JSON.
pub fn receive(
    request: &HttpRequest,
    payload: &mut Payload,
) -> impl Future<Output = Result<Bytes>> + use<> {
    let declared = is_json(request);
    let bytes = Bytes::from_request(request, payload);
    async move {
        if !declared {
            return Err(Error::NotJson);
        }
        timeout(LONGEST_WAIT, bytes)
            .await
            .map_err(|_| Error::Malformed("the body did not come within 10 seconds".to_owned()))?
            .map_err(|error| unreadable(&error))
    }
}

/// Reads a body of a known shape.
pub fn parse<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> Result<T> {
    let body: T = serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
    let sent: Value = serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
    let understood = serde_json::to_value(&body).map_err(|error| malformed(&error))?;
    if is_alike(&sent, &understood) {
        Ok(body)
    } else {
        Err(Error::Malformed("an array stands for an object".to_owned()))
    }
}

/// What a parser says without the text that it quotes: that may be long, or an address.
pub fn malformed(error: &impl ToString) -> Error {
    let said = error.to_string();
    let told = match said.rsplit_once(", expected ") {
        Some((found, expected)) => {
            let kind = found.split(['"', '`']).next().unwrap_or_default().trim();
            format!("{kind}, expected {expected}")
        }
        None => said,
    };
    Error::Malformed(told)
}

fn is_json(request: &HttpRequest) -> bool {
    let header = |name| {
        request
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap_or("?"))
    };
    let kind = header(CONTENT_TYPE).and_then(|kind| kind.split(';').next());
    let is_plain = header(CONTENT_ENCODING)
        .is_none_or(|coding| coding.trim().eq_ignore_ascii_case("identity"));
    is_plain && kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// What a body that could not be read means.
pub fn unreadable(error: &actix_web::Error) -> Error {
    if error.as_response_error().status_code() == StatusCode::PAYLOAD_TOO_LARGE {
        Error::TooLarge
    } else {
        Error::Malformed("the body could not be read to its end".to_owned())
    }
}

/// Whether no array was taken for an object: serde would read its entries as the fields in turn.
fn is_alike(sent: &Value, understood: &Value) -> bool {
    match (sent, understood) {
        (Value::Array(_), Value::Object(_)) => false,
        (Value::Array(sent), Value::Array(understood)) => sent
            .iter()
            .zip(understood)
            .all(|(one, other)| is_alike(one, other)),
        (Value::Object(sent), Value::Object(understood)) => sent.iter().all(|(name, value)| {
            understood
                .get(name)
                .is_none_or(|other| is_alike(value, other))
        }),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use futures_util::stream;

    use super::*;

    #[actix_web::test]
    async fn a_body_that_never_ends_is_given_up() {
        tokio::time::pause();
        let request = TestRequest::default()
            .insert_header((CONTENT_TYPE, "application/json"))
            .to_http_request();
        let mut payload: Payload = Payload::Stream {
            payload: Box::pin(stream::pending()),
        };

        let answer = receive(&request, &mut payload).await;

        assert!(matches!(answer, Err(Error::Malformed(_))), "{answer:?}");
    }

    #[test]
    fn what_a_parser_quotes_is_left_out() {
        let quoting =
            "invalid type: string \"Rosenweg 7, expected `x`\", expected i64 at line 1 column 9";

        let told = malformed(&quoting).to_string();

        assert_eq!(
            told,
            "The request is not well-formed: invalid type: string, expected i64 at line 1 column 9."
        );
    }
}
