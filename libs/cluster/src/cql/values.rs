//! Between the port's values and CQL's.

use std::time::Duration;

use scylla::{
    cluster::metadata::ColumnType,
    errors::SerializationError,
    serialize::{
        value::SerializeValue,
        writers::{CellWriter, WrittenCellProof},
    },
    value::{CqlValue, Row as CqlRow},
};
use trapline_model::Time;
use trapline_store::{Clock, Column, Kind, PortError, Result, Value, Writes};

/// The expiry of a row that is for ever. A number and not null, so that a condition can compare it.
const NEVER: i64 = i64::MAX;
/// The longest TTL that both servers take, in seconds: 20 years.
const MAX_TTL_SECONDS: u64 = 20 * 365 * 24 * 60 * 60;

/// A parameter that is borrowed, so that binding copies nothing twice.
#[derive(Debug, Clone, Copy)]
pub(super) enum Param<'a> {
    Value(&'a Value),
    Text(&'a str),
    Int(i64),
    Seconds(i32),
}

impl SerializeValue for Param<'_> {
    fn serialize<'b>(
        &self,
        kind: &ColumnType<'_>,
        writer: CellWriter<'b>,
    ) -> Result<WrittenCellProof<'b>, SerializationError> {
        match self {
            Self::Value(Value::Uuid(uuid)) => uuid.serialize(kind, writer),
            Self::Value(Value::Text(text)) => text.serialize(kind, writer),
            Self::Value(Value::Int(number)) | Self::Int(number) => number.serialize(kind, writer),
            Self::Text(text) => text.serialize(kind, writer),
            Self::Seconds(seconds) => seconds.serialize(kind, writer),
        }
    }
}

/// How long a row is there, by our clock and by the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expiry {
    /// Milliseconds since 1970.
    pub(super) expires: i64,
    /// For `USING TTL`; 0 for none.
    pub(super) ttl: i32,
}

impl Expiry {
    pub(super) fn new(clock: &Clock, ttl: Option<Duration>) -> Self {
        let Some(ttl) = ttl else { return Self { expires: NEVER, ttl: 0 } };
        let real = clock.real(ttl);
        // A second more, because servers cut the current time to seconds: the row must not go
        // before it is due.
        let seconds = real.as_secs().saturating_add(1 + u64::from(real.subsec_nanos() > 0));
        let seconds = if seconds > MAX_TTL_SECONDS { 0 } else { seconds };
        let expires = clock.now().after(ttl).millis();
        Self { expires, ttl: i32::try_from(seconds).unwrap_or(0) }
    }
}

/// A row as the server has it, perhaps past its time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundRow {
    pub(super) sort: Vec<Value>,
    pub(super) version: i64,
    pub(super) expires: i64,
    /// Microseconds since 1970, by the clock of whoever wrote it; 0 in guarded tables.
    pub(super) written: i64,
    /// Empty where it was not asked for.
    pub(super) doc: String,
}

impl FoundRow {
    /// Reads sort columns, version, expiry, in plain tables the write time and, if it is there, the
    /// document.
    pub(super) fn read(row: CqlRow, sort: &[Column], writes: Writes) -> Result<Self> {
        let mut columns = row.columns.into_iter();
        let keys = sort.iter().map(|column| key_value(column.kind, columns.next().flatten()));
        let sort = keys.collect::<Option<Vec<_>>>();
        let (version, expires) =
            (number(columns.next().flatten()), number(columns.next().flatten()));
        let written = match writes {
            Writes::Plain => number(columns.next().flatten()),
            Writes::Guarded => Some(0),
        };
        let doc = match columns.next() {
            None => Some(String::new()),
            Some(Some(CqlValue::Text(doc))) => Some(doc),
            Some(_) => None,
        };
        let found = || {
            Some(Self {
                sort: sort?,
                version: version?,
                expires: expires?,
                written: written?,
                doc: doc?,
            })
        };
        found().ok_or_else(|| PortError::unavailable("a CQL row that this program did not write"))
    }

    /// When the row is past its time; `None` is never.
    pub(super) fn ends(&self) -> Option<Time> {
        (self.expires != NEVER).then(|| Time::from_millis(self.expires))
    }

    pub(super) fn is_past(&self, now: i64) -> bool {
        self.expires <= now
    }
}

/// Reads key columns, which are all that the row has.
pub(super) fn key_of(row: CqlRow, columns: &[Column]) -> Result<Vec<Value>> {
    let values = columns.iter().zip(row.columns);
    let values = values.map(|(column, value)| key_value(column.kind, value)).collect();
    Option::ok_or(values, PortError::unavailable("a CQL row that this program did not write"))
}

fn key_value(kind: Kind, value: Option<CqlValue>) -> Option<Value> {
    match (kind, value?) {
        (Kind::Uuid, CqlValue::Uuid(uuid)) => Some(Value::Uuid(uuid)),
        (Kind::Text, CqlValue::Text(text)) => Some(Value::Text(text)),
        (Kind::Int, CqlValue::BigInt(number)) => Some(Value::Int(number)),
        _ => None,
    }
}

pub(super) fn number(value: Option<CqlValue>) -> Option<i64> {
    match value? {
        CqlValue::BigInt(number) => Some(number),
        _ => None,
    }
}
