//! The receiving path's commit: bytes, rows and job in one transaction.

use std::{io::Write as _, sync::Arc};

use async_trait::async_trait;
use rusqlite::{ToSql, blob::ZeroBlob, params};
use trapline_store::{Group, Intake, PortError, Result};

use crate::{
    database::Database,
    queue::insert,
    store::WritePlan,
    values::sql,
    writer::{SpaceShare, Transaction},
};

/// Commits groups to SQLite.
pub(crate) struct SqliteIntake(pub(crate) Arc<Database>);

#[async_trait]
impl Intake for SqliteIntake {
    async fn commit(&self, group: Group) -> Result<()> {
        let Group { segment, bytes, before, rows, job } = group;
        let share = if rows.is_empty() { SpaceShare::Copies } else { SpaceShare::Mail };
        let rows = WritePlan::of(&self.0.tables, before.into_iter().chain(rows).collect())?;
        if !rows.is_plain() {
            return Err(PortError::Misuse("a group's row of a guarded table"));
        }
        let size = bytes.len() + rows.bytes();
        self.0
            .write_within(share, size, move |transaction| {
                transaction.all_or_nothing(|| {
                    keep(transaction, &segment, &bytes)?;
                    rows.apply_all(transaction)?;
                    job.as_ref().map_or(Ok(()), |job| insert(transaction, job, None))
                })
            })
            .await
    }
}

/// Bytes up to which a segment is passed to SQLite as a value, which it copies twice. A larger one is
/// written into its place instead, which changes each page once more.
const MAX_COPIED_BYTES: usize = 8 << 20;

fn keep(transaction: &Transaction<'_>, name: &str, bytes: &[u8]) -> Result<()> {
    if bytes.len() <= MAX_COPIED_BYTES {
        return insert_segment(transaction, name, bytes);
    }
    insert_segment(transaction, name, ZeroBlob(bytes.len() as u64))?;
    transaction
        .last_blob("segment_bytes", "bytes")?
        .write_all(bytes)
        .map_err(PortError::unavailable)
}

fn insert_segment(transaction: &Transaction<'_>, name: &str, bytes: impl ToSql) -> Result<()> {
    let mut statement =
        transaction.statement("INSERT INTO segment_bytes (name, bytes) VALUES (?, ?)")?;
    statement.execute(params![name, bytes]).map_err(sql).map(drop)
}
