//! Writes, checked and put in order before the writer sees them.

use std::{sync::Arc, time::Duration};

use rusqlite::params_from_iter;
use trapline_store::{Op, PortError, Result, Storage, Table, When, Writes, by_partition};

use super::Tables;
use crate::{
    statements::{Form, Statements},
    values::{Parameter, sql},
    writer::Transaction,
};

/// Operations by partition, in the order in which each partition comes first.
pub(crate) struct WritePlan(Vec<Vec<PlannedOp>>);

struct PlannedOp {
    op: Op,
    statements: Arc<Statements>,
}

impl WritePlan {
    /// Checks every operation, so that a misuse writes nothing.
    pub(crate) fn of(tables: &Tables, ops: Vec<Op>) -> Result<Self> {
        let step = |op: Op| Ok(PlannedOp { statements: tables.of(op.key().table)?, op });
        let steps = |ops: Vec<Op>| ops.into_iter().map(step).collect();
        by_partition(ops)?.into_iter().map(steps).collect::<Result<_>>().map(Self)
    }

    /// About how much will be written, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let size = |step: &PlannedOp| match &step.op {
            Op::Put { doc, .. } => doc.len() + size_of::<Op>(),
            Op::Delete { .. } | Op::DeleteUntil { .. } => size_of::<Op>(),
        };
        self.0.iter().flatten().map(size).sum()
    }

    /// Whether only plain tables are written.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.iter().flatten().all(|step| step.op.key().table.writes == Writes::Plain)
    }

    /// Writes one partition after the other, each of them whole or not at all.
    pub(crate) fn apply(&self, transaction: &Transaction<'_>) -> Result<()> {
        let whole = |steps: &Vec<PlannedOp>| match &steps[..] {
            // One statement is atomic by itself.
            [step] if step.statements.split.is_none() => step.apply(transaction),
            steps => {
                transaction.atomically(|| steps.iter().try_for_each(|step| step.apply(transaction)))
            }
        };
        self.0.iter().try_for_each(whole)
    }

    /// Writes all partitions, for a caller who undoes them all when one fails.
    pub(crate) fn apply_all(&self, transaction: &Transaction<'_>) -> Result<()> {
        self.0.iter().flatten().try_for_each(|step| step.apply(transaction))
    }
}

impl PlannedOp {
    fn apply(&self, transaction: &Transaction<'_>) -> Result<()> {
        let (sql_text, changed_when) = self.choose();
        if let (Op::Put { doc, .. }, Some(split)) = (&self.op, &self.statements.split) {
            let rest = &doc[self.head_len(doc)..];
            transaction.statement(&split.put_rest)?.execute([rest]).map_err(sql)?;
            let mut put_new = transaction.statement(&split.put_new)?;
            let parameters = params_from_iter(self.parameters(transaction));
            if put_new.execute(parameters).map_err(sql)? > 0 {
                return Ok(());
            }
        }
        let mut statement = transaction.statement(sql_text)?;
        let changed =
            statement.execute(params_from_iter(self.parameters(transaction))).map_err(sql)?;
        if changed == 0 && changed_when != When::Always {
            return Err(PortError::Conflict);
        }
        Ok(())
    }

    /// How much of a document is kept in its row, in bytes.
    fn head_len(&self, doc: &str) -> usize {
        match (self.statements.form, self.op.key().table.storage) {
            (Form::Split, Storage::Headed { rest }) => doc.find(rest).unwrap_or(doc.len()),
            _ => doc.len(),
        }
    }

    fn choose(&self) -> (&str, When) {
        let made = &self.statements;
        match &self.op {
            Op::Put { when: When::Always, .. } => (&made.put, When::Always),
            Op::Put { when: when @ (When::Absent | When::AbsentAt(_)), .. } => {
                (&made.put_absent, *when)
            }
            Op::Put { when, .. } => (&made.put_version, *when),
            Op::Delete { when: When::Version(version), .. } => {
                (&made.delete_version, When::Version(*version))
            }
            Op::Delete { .. } => (&made.delete, When::Always),
            Op::DeleteUntil { .. } => (&made.delete_until, When::Always),
        }
    }

    /// The parameters in the order that [`Statements`] gives.
    fn parameters(&self, transaction: &Transaction<'_>) -> Vec<Parameter<'_>> {
        let (now, key) = (transaction.now(), self.op.key());
        let expiry = |ttl: &Option<Duration>| {
            let ttl = stored_ttl(key.table, *ttl);
            Parameter::MaybeInt(ttl.map(|ttl| now.after(ttl).millis()))
        };
        let mut bound: Vec<_> =
            key.partition.iter().chain(&key.sort).map(Parameter::Value).collect();
        match &self.op {
            Op::Put { doc, ttl, when: When::Version(version), .. } => {
                bound.splice(0..0, [Parameter::Text(doc), expiry(ttl)]);
                bound.extend([Parameter::Int(*version), Parameter::Int(now.millis())]);
            }
            Op::Put { doc, ttl, when, .. } => {
                bound.push(Parameter::Text(&doc[..self.head_len(doc)]));
                let version = match when {
                    When::Absent => Some(1),
                    When::AbsentAt(version) => Some(*version),
                    When::Always | When::Version(_) => None,
                };
                bound.extend(version.map(Parameter::Int));
                bound.push(expiry(ttl));
                bound.extend(version.map(|_| Parameter::Int(now.millis())));
            }
            Op::Delete { when: When::Version(version), .. } => {
                bound.extend([Parameter::Int(*version), Parameter::Int(now.millis())]);
            }
            Op::Delete { .. } | Op::DeleteUntil { .. } => {}
        }
        bound
    }
}

/// The time to live that a row is stored with. Rows of a queue have none but their own: this process
/// alone reads them and misses none, and without one they need no entry in the index of ends.
fn stored_ttl(table: &Table, ttl: Option<Duration>) -> Option<Duration> {
    match table.storage {
        Storage::Queue { .. } => ttl,
        Storage::Rows | Storage::Headed { .. } | Storage::List | Storage::Log { .. } => {
            table.effective_ttl(ttl)
        }
    }
}
