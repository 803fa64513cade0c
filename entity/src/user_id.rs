//! Who a customer is: the `sub` of his bearer token.

use std::fmt;

use sea_orm::sea_query::{
    ArrayType, ColumnType, Nullable, StringLen, Value, ValueType, ValueTypeErr,
};
use sea_orm::{ColIdx, DbErr, QueryResult, TryFromU64, TryGetError, TryGetable};
use serde::{Deserialize, Serialize};

/// Text of 1 to 64 bytes, compared byte for byte.
///
/// Stored as bytes: `MySQL`'s `_bin` collations ignore trailing blanks, which would make one
/// customer of "ann" and "ann ".
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserId(String);

impl UserId {
    /// The longest id, in bytes.
    pub const MAX_BYTES: usize = 64;

    /// `None` when the text is empty, longer than 64 bytes or holds control characters.
    pub fn parse(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let fits = (1..=Self::MAX_BYTES).contains(&text.len());
        (fits && !text.chars().any(char::is_control)).then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<UserId> for Value {
    fn from(user: UserId) -> Self {
        Self::Bytes(Some(user.0.into_bytes()))
    }
}

impl From<&UserId> for Value {
    fn from(user: &UserId) -> Self {
        user.clone().into()
    }
}

impl TryGetable for UserId {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let bytes = Vec::<u8>::try_get_by(row, index)?;
        String::from_utf8(bytes)
            .map(Self)
            .map_err(|error| DbErr::Type(format!("a user id that is not UTF-8: {error}")).into())
    }
}

impl ValueType for UserId {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        let bytes = <Vec<u8> as ValueType>::try_from(value)?;
        String::from_utf8(bytes).map(Self).map_err(|_| ValueTypeErr)
    }

    fn type_name() -> String {
        "UserId".to_owned()
    }

    fn array_type() -> ArrayType {
        ArrayType::Bytes
    }

    fn column_type() -> ColumnType {
        ColumnType::VarBinary(StringLen::N(64))
    }
}

/// A primary key has to say so: no database ever gives one.
impl TryFromU64 for UserId {
    fn try_from_u64(_: u64) -> Result<Self, DbErr> {
        Err(DbErr::ConvertFromU64("UserId"))
    }
}

impl Nullable for UserId {
    fn null() -> Value {
        Value::Bytes(None)
    }
}
