//! A row as one line of JSON: every column under its name, in the table's order.

use sea_orm::{EntityTrait, IdenStatic, Iterable, ModelTrait, Value};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};

use crate::domain::archive::{hex, moment};

/// Ids are decimal strings as in the API, times RFC 3339 in UTC with microseconds, bytes hexadecimal.
///
/// Fails on a column of a kind that no archived table has today.
pub fn json_line<M: ModelTrait>(row: &M) -> serde_json::Result<String> {
    serde_json::to_string(&Line(row))
}

struct Line<'a, M>(&'a M);

impl<M: ModelTrait> Serialize for Line<'_, M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        for column in <M::Entity as EntityTrait>::Column::iter() {
            let name = column.as_str();
            match self.0.get(column) {
                Value::BigInt(Some(id)) if name.ends_with("id") => {
                    line.serialize_entry(name, &id.to_string())?;
                }
                Value::BigInt(number) => line.serialize_entry(name, &number)?,
                Value::Int(number) => line.serialize_entry(name, &number)?,
                Value::String(text) => line.serialize_entry(name, &text)?,
                Value::Bytes(bytes) => {
                    line.serialize_entry(name, &bytes.as_deref().map(hex))?;
                }
                Value::Json(document) => line.serialize_entry(name, &document)?,
                Value::ChronoDateTimeUtc(time) => {
                    line.serialize_entry(name, &time.map(moment))?;
                }
                other => return Err(S::Error::custom(format!("{name} is {other:?}"))),
            }
        }
        line.end()
    }
}
