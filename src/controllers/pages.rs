//! Lists that go on: by id, page after page.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{Error, Result};

/// How long a page is when nobody says.
const USUAL: u32 = 20;

/// Which page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// 1 to 100, 20 when it is not sent.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

impl PageQuery {
    /// The id behind which the page begins, when it is not the first.
    pub fn after(&self) -> Result<Option<i64>> {
        cursor_id(self.cursor.as_deref())
    }

    pub fn limit(&self) -> Result<u64> {
        page_length(self.limit)
    }
}

/// The id that a `next_cursor` stands for.
pub fn cursor_id(cursor: Option<&str>) -> Result<Option<i64>> {
    let id = cursor.map(|text| text.parse::<i64>().ok().filter(|id| *id >= 0));
    match id {
        Some(None) => Err(Error::invalid(
            "cursor",
            "is not one of ours; take it from next_cursor",
        )),
        Some(id) => Ok(id),
        None => Ok(None),
    }
}

pub fn page_length(limit: Option<u32>) -> Result<u64> {
    let limit = limit.unwrap_or(USUAL);
    if (1..=100).contains(&limit) {
        Ok(limit.into())
    } else {
        Err(Error::invalid("limit", "is 1 to 100"))
    }
}
