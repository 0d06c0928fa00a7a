//! Walks over whole tables, in the order in which SQLite keeps them.

use rusqlite::{Connection, Row as SqlRow, params_from_iter};
use trapline_model::Time;
use trapline_store::{Kind, PortError, Result, Row, Table, Value, WalkPlace, Walked, WalkedRow};

use crate::{
    statements::{Behind, Form, walk},
    values::{Parameter, count, key_columns, sql},
};

/// Part of a walk.
pub(super) struct TableWalk {
    pub(super) table: &'static Table,
    pub(super) form: Form,
    pub(super) limit: usize,
    pub(super) now: i64,
}

impl TableWalk {
    /// First what is left of the partition in which the last part ended, then those behind it.
    pub(super) fn run(&self, connection: &Connection, after: Option<WalkPlace>) -> Result<Walked> {
        let Some(place) = after else {
            return self.part(self.read(connection, Behind::Nothing, &[], self.limit)?);
        };
        let (partition, sort) = self.key(&place)?;
        let mut rows = Vec::new();
        if !sort.is_empty() {
            let key: Vec<_> = partition.iter().chain(&sort).cloned().collect();
            rows = self.read(connection, Behind::Row, &key, self.limit)?;
        }
        if rows.len() < self.limit {
            let left = self.limit - rows.len();
            rows.extend(self.read(connection, Behind::Partition, &partition, left)?);
        }
        self.part(rows)
    }

    fn read(
        &self,
        connection: &Connection,
        behind: Behind,
        key: &[Value],
        limit: usize,
    ) -> Result<Vec<WalkedRow>> {
        let text = walk(self.table, self.form, behind);
        let mut statement = connection.prepare_cached(&text).map_err(sql)?;
        let bounds = [Parameter::Int(self.now), Parameter::Int(count(limit))];
        let parameters = params_from_iter(key.iter().map(Parameter::Value).chain(bounds));
        let found = statement.query_map(parameters, |row| self.row(row)).map_err(sql)?;
        found.collect::<Result<_, _>>().map_err(sql)
    }

    fn row(&self, row: &SqlRow<'_>) -> rusqlite::Result<WalkedRow> {
        let Table { partition, sort, .. } = self.table;
        let at = partition.len() + sort.len();
        let mut key = key_columns(row, partition.iter().chain(*sort))?;
        let sort = key.split_off(partition.len());
        let expires: Option<i64> = row.get(at + 1)?;
        Ok(WalkedRow {
            partition: key,
            row: Row { sort, version: row.get(at)?, doc: row.get(at + 2)? },
            expires: expires.map(Time::from_millis),
        })
    }

    /// The rows, and the place of the last one where there may be more.
    fn part(&self, rows: Vec<WalkedRow>) -> Result<Walked> {
        let last = rows.last().filter(|_| rows.len() == self.limit);
        let next = last.map(place_of).transpose()?;
        Ok(Walked { rows, next })
    }

    /// The key of a place, which must be one of this table.
    fn key(&self, place: &WalkPlace) -> Result<(Vec<Value>, Vec<Value>)> {
        let Table { partition, sort, .. } = self.table;
        let texts: Vec<String> = serde_json::from_slice(&place.0).unwrap_or_default();
        let columns = partition.iter().chain(*sort);
        let key = texts.iter().zip(columns).map(|(text, column)| value(column.kind, text));
        let key: Option<Vec<_>> = key.collect();
        let fits = |key: &Vec<Value>| {
            key.len() == texts.len() && key.len() == partition.len() + sort.len()
        };
        let mut key = key
            .filter(fits)
            .ok_or(PortError::Misuse("a walk goes on at a place of another table"))?;
        let sort = key.split_off(partition.len());
        Ok((key, sort))
    }
}

/// A place is the texts of a row's key.
fn place_of(row: &WalkedRow) -> Result<WalkPlace> {
    let texts = row.partition.iter().chain(&row.row.sort).map(|value| match value {
        Value::Uuid(uuid) => uuid.to_string(),
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
    });
    let place = serde_json::to_vec(&texts.collect::<Vec<_>>());
    place.map(WalkPlace).map_err(PortError::unavailable)
}

fn value(kind: Kind, text: &str) -> Option<Value> {
    Some(match kind {
        Kind::Uuid => Value::Uuid(text.parse().ok()?),
        Kind::Text => Value::Text(text.to_owned()),
        Kind::Int => Value::Int(text.parse().ok()?),
    })
}
