//! Writes without a condition.

use futures_util::{StreamExt, stream};
use trapline_store::{Op, PortError, Result};

use super::{
    CqlStore,
    client::BoundStep,
    error::port_error,
    meters::RequestKind,
    read::{key_values, look_at_range},
    stamps::Partition,
    tables::Prepared,
    values::{Expiry, Param},
};

/// Requests under way at once in an unordered write.
const IN_FLIGHT: usize = 64;
/// About the most that a part of an unordered write holds: both servers do best with small batches.
const PART_BYTES: usize = 40 << 10;

/// Writes to one partition, whole or not at all.
pub(super) async fn write(store: &CqlStore, ops: &[Op]) -> Result<()> {
    if !has_effect(store, ops).await? {
        return Ok(());
    }
    send(store, steps(store, ops)?).await
}

/// Writes to many partitions, and tries all even when some fail.
pub(super) async fn write_all(store: &CqlStore, partitions: &[Vec<Op>]) -> Result<()> {
    let mut parts = Vec::new();
    for ops in partitions {
        if has_effect(store, ops).await? {
            for part in in_parts(ops) {
                parts.push(steps(store, part)?);
            }
        }
    }
    let sends: Vec<_> = parts.into_iter().map(|steps| send(store, steps)).collect();
    let sent = stream::iter(sends).buffer_unordered(IN_FLIGHT);
    sent.fold(Ok(()), async |all, one| all.and(one)).await
}

async fn send(store: &CqlStore, steps: Vec<BoundStep<'_>>) -> Result<()> {
    store.client.run(RequestKind::Write, steps).await?.map_err(port_error)?;
    Ok(())
}

/// Cuts operations into parts of bounded size, each with one at least.
pub(super) fn in_parts(mut ops: &[Op]) -> Vec<&[Op]> {
    let mut parts = Vec::new();
    while !ops.is_empty() {
        let sizes = ops.iter().scan(0, |sum, op| {
            *sum += bytes(op);
            Some(*sum)
        });
        let fit = sizes.take_while(|sum| *sum <= PART_BYTES).count().max(1);
        let (part, rest) = ops.split_at(fit);
        parts.push(part);
        ops = rest;
    }
    parts
}

fn bytes(op: &Op) -> usize {
    match op {
        Op::Put { doc, .. } => doc.len() + size_of::<Op>(),
        Op::Delete { .. } | Op::DeleteUntil { .. } => size_of::<Op>(),
    }
}

/// Whether there is anything to write: range deletes of ranges without a row would leave only tombstones.
/// Reads the write times in each range, since its delete must win over rows that this process never read.
async fn has_effect(store: &CqlStore, ops: &[Op]) -> Result<bool> {
    let mut has_effect = false;
    for op in ops {
        has_effect |= match op {
            Op::DeleteUntil { until } => look_at_range(store, until).await?,
            Op::Put { .. } | Op::Delete { .. } => true,
        };
    }
    Ok(has_effect)
}

/// Each statement has a write time of its own, later than those before it. With one time for all of
/// a batch a delete would win over every put in it.
fn steps<'a>(store: &CqlStore, ops: &'a [Op]) -> Result<Vec<BoundStep<'a>>> {
    ops.iter().map(|op| step(store, op)).collect()
}

fn step<'a>(store: &CqlStore, op: &'a Op) -> Result<BoundStep<'a>> {
    let statements = store.tables.of(op.key().table)?;
    let Prepared::Plain(made) = &statements.writes else {
        return Err(PortError::Misuse("a plain write to a guarded table"));
    };
    let partition = Partition::of(op.key().table, &op.key().partition);
    let stamp = Param::Int(store.stamps.next(partition));
    let key = key_values(op.key());
    let (statement, values) = match op {
        Op::Put { doc, ttl, .. } => {
            let Expiry { expires, ttl } =
                Expiry::new(&store.clock, op.key().table.effective_ttl(*ttl));
            let rest = [Param::Text(doc), Param::Int(expires), Param::Seconds(ttl), stamp];
            (Some(&made.put), key.chain(rest).collect())
        }
        Op::Delete { .. } => (Some(&made.delete), [stamp].into_iter().chain(key).collect()),
        Op::DeleteUntil { .. } => (
            made.range.as_ref().map(|range| &range.delete),
            [stamp].into_iter().chain(key).collect(),
        ),
    };
    let statement = statement.ok_or(PortError::Misuse("a range delete in an ascending table"))?;
    Ok(BoundStep { statement: statement.clone(), values })
}
