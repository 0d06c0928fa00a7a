//! Rows as lines of JSON, and the checksum behind them.

use serde::{Deserialize, Serialize};
use trapline_model::Time;
use trapline_store::{Column, Kind, Row, Table, Value, WalkedRow};

/// How long the lines of an entry get, in bytes, before the next begins.
pub(crate) const ENTRY_BYTES: usize = 256 << 10;

/// A row. The document is text, so that it comes back byte for byte.
#[derive(Serialize, Deserialize)]
struct RowLine {
    /// The partition key.
    p: Vec<KeyCell>,
    /// The sort key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    s: Vec<KeyCell>,
    /// The version.
    #[serde(default, skip_serializing_if = "is_zero")]
    v: i64,
    /// When it ends, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    e: Option<i64>,
    /// The document.
    d: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(version: &i64) -> bool {
    *version == 0
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum KeyCell {
    Int(i64),
    Text(String),
}

/// The last line.
#[derive(Serialize, Deserialize)]
struct RowsCheck {
    rows: usize,
    crc32c: u32,
}

/// Lines that are put together.
#[derive(Default)]
pub(crate) struct RowLines {
    text: Vec<u8>,
    pub(crate) rows: usize,
}

impl RowLines {
    pub(crate) fn push(&mut self, row: &WalkedRow) -> serde_json::Result<()> {
        let cells = |values: &[Value]| values.iter().map(KeyCell::of).collect();
        let line = RowLine {
            p: cells(&row.partition),
            s: cells(&row.row.sort),
            v: row.row.version,
            e: row.expires.map(Time::millis),
            d: row.row.doc.clone(),
        };
        serde_json::to_writer(&mut self.text, &line)?;
        self.text.push(b'\n');
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.text.len() >= ENTRY_BYTES
    }

    /// The lines with their checksum, and how many rows they are.
    pub(crate) fn finish(mut self) -> serde_json::Result<(Vec<u8>, usize)> {
        let check = RowsCheck { rows: self.rows, crc32c: crc32c::crc32c(&self.text) };
        serde_json::to_writer(&mut self.text, &check)?;
        self.text.push(b'\n');
        Ok((self.text, self.rows))
    }
}

/// The rows of an entry.
///
/// # Errors
///
/// What is wrong with them.
pub(crate) fn rows_of(table: &Table, text: &[u8]) -> Result<Vec<WalkedRow>, String> {
    let body = text.strip_suffix(b"\n").ok_or("there is no last line")?;
    let end = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (lines, last) = body.split_at(end);
    let check: RowsCheck = serde_json::from_slice(last).map_err(|_| "there is no checksum")?;
    if check.crc32c != crc32c::crc32c(lines) {
        return Err("the rows have another checksum".to_owned());
    }
    let mut rows = Vec::with_capacity(check.rows.min(lines.len()));
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: RowLine = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        rows.push(line.row(table).ok_or("a row does not fit its table")?);
    }
    if rows.len() == check.rows { Ok(rows) } else { Err("rows are missing".to_owned()) }
}

impl RowLine {
    fn row(self, table: &Table) -> Option<WalkedRow> {
        let Self { p, s, v, e, d } = self;
        let row = Row { sort: values(s, table.sort)?, doc: d, version: v };
        Some(WalkedRow {
            partition: values(p, table.partition)?,
            row,
            expires: e.map(Time::from_millis),
        })
    }
}

fn values(cells: Vec<KeyCell>, columns: &[Column]) -> Option<Vec<Value>> {
    if cells.len() != columns.len() {
        return None;
    }
    cells.into_iter().zip(columns).map(|(cell, column)| cell.value(column.kind)).collect()
}

impl KeyCell {
    fn of(value: &Value) -> Self {
        match value {
            Value::Uuid(uuid) => Self::Text(uuid.to_string()),
            Value::Text(text) => Self::Text(text.clone()),
            Value::Int(number) => Self::Int(*number),
        }
    }

    fn value(self, kind: Kind) -> Option<Value> {
        match (self, kind) {
            (Self::Text(text), Kind::Uuid) => text.parse().ok().map(Value::Uuid),
            (Self::Text(text), Kind::Text) => Some(Value::Text(text)),
            (Self::Int(number), Kind::Int) => Some(Value::Int(number)),
            _ => None,
        }
    }
}
