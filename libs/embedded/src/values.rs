//! Between the port's values and SQLite's.

use rusqlite::{
    Row as SqlRow, ToSql,
    ffi::SQLITE_IOERR_SHMSIZE,
    types::{ToSqlOutput, ValueRef},
};
use trapline_store::{Column, Kind, PortError, Value};
use uuid::Uuid;

/// A parameter that is borrowed, so that binding copies nothing.
pub(crate) enum Parameter<'a> {
    Value(&'a Value),
    Text(&'a str),
    Int(i64),
    MaybeInt(Option<i64>),
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Value(Value::Uuid(uuid)) => ValueRef::Blob(uuid.as_bytes()),
            Self::Value(Value::Text(text)) => ValueRef::Text(text.as_bytes()),
            Self::Value(Value::Int(number)) | Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::MaybeInt(number) => number.map_or(ValueRef::Null, ValueRef::Integer),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// Reads key columns, which are the row's first.
pub(crate) fn key_columns<'a>(
    row: &SqlRow<'_>,
    columns: impl IntoIterator<Item = &'a Column>,
) -> rusqlite::Result<Vec<Value>> {
    let read = |(at, column): (usize, &Column)| {
        Ok(match column.kind {
            Kind::Uuid => Value::Uuid(Uuid::from_bytes(row.get(at)?)),
            Kind::Text => Value::Text(row.get(at)?),
            Kind::Int => Value::Int(row.get(at)?),
        })
    };
    columns.into_iter().enumerate().map(read).collect()
}

/// SQLite's error in the port's terms.
pub(crate) fn sql(error: rusqlite::Error) -> PortError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ConstraintViolation) => PortError::Conflict,
        Some(rusqlite::ErrorCode::DatabaseBusy) => PortError::Timeout,
        _ if is_full(&error) => PortError::StorageFull,
        _ => PortError::unavailable(error),
    }
}

/// Whether SQLite found no room on the disk, for its data or for the index of its log.
pub(crate) fn is_full(error: &rusqlite::Error) -> bool {
    let Some(found) = error.sqlite_error() else { return false };
    found.code == rusqlite::ErrorCode::DiskFull || found.extended_code == SQLITE_IOERR_SHMSIZE
}

/// A count for SQLite, whose numbers are signed.
pub(crate) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
