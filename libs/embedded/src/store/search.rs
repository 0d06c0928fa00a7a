//! Scans for rows with one of some texts in their heads.

use memchr::memmem::Finder;
use rusqlite::{Connection, Row as SqlRow, Statement, params_from_iter};
use trapline_store::{Narrowed, PortError, Result, Row, Scan, Table};

use super::prepared;
use crate::{
    statements::{Form, Read, rest},
    values::{key_columns, sql},
};

/// Looks at the heads where they are, and copies only what it finds.
pub(super) struct HeadSearch<'a> {
    pub(super) scan: &'a Scan,
    pub(super) form: Form,
    pub(super) texts: &'a [String],
    /// Ends with so many rows found.
    pub(super) most: usize,
    pub(super) now: i64,
}

impl HeadSearch<'_> {
    pub(super) fn run(&self, connection: &Connection) -> Result<Narrowed> {
        let Self { scan, form, now, .. } = *self;
        let finders: Vec<_> = self.texts.iter().map(|text| Finder::new(text.as_bytes())).collect();
        let (mut statement, values) = prepared(connection, scan, form, Read::Heads, now)?;
        let mut rests = match form {
            Form::Whole => None,
            Form::Split => Some(connection.prepare_cached(&rest(scan.table, "?")).map_err(sql)?),
        };
        let mut found = statement.query(params_from_iter(values)).map_err(sql)?;
        let head_at = scan.table.sort.len() + 1;
        let mut narrowed = Narrowed::default();
        while narrowed.rows.len() < self.most
            && let Some(row) = found.next().map_err(sql)?
        {
            narrowed.seen += 1;
            let head = row.get_ref(head_at).map_err(sql)?;
            let head = head.as_bytes().map_err(PortError::unavailable)?;
            if finders.iter().any(|finder| finder.find(head).is_some()) {
                let row = whole(row, scan.table, rests.as_deref_mut()).map_err(sql)?;
                narrowed.rows.push(row);
            }
        }
        Ok(narrowed)
    }
}

/// A row with what comes after its head, where that is apart.
fn whole(
    row: &SqlRow<'_>,
    table: &Table,
    rests: Option<&mut Statement<'_>>,
) -> rusqlite::Result<Row> {
    let sort = key_columns(row, table.sort)?;
    let (version, mut doc): (_, String) = (row.get(sort.len())?, row.get(sort.len() + 1)?);
    if let Some(rests) = rests {
        let seq: i64 = row.get(sort.len() + 2)?;
        rests.query_row([seq], |rest| {
            doc.push_str(rest.get_ref(0)?.as_str()?);
            Ok(())
        })?;
    }
    Ok(Row { sort, doc, version })
}
