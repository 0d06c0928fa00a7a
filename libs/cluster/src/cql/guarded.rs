//! Conditional writes: lightweight transactions.
//!
//! They never mix with plain ones, because the two are ordered by different clocks.

use scylla::{
    response::query_result::QueryResult,
    value::{CqlValue, Row as CqlRow},
};
use trapline_store::{Key, Op, PortError, Result, When};

use super::{
    CqlStore,
    client::BoundStep,
    error::{is_ambiguous, port_error},
    meters::RequestKind,
    read::{find, key_values},
    tables::{Guarded, Prepared},
    values::{Expiry, Param},
};

/// How often a creation is tried: rows that ended may go between a look at them and the next try.
const MAX_TRIES: usize = 3;

/// A row to be written or removed on a condition.
enum GuardedWrite<'a> {
    Create { key: &'a Key, doc: &'a str, expiry: Expiry, version: i64 },
    Update { key: &'a Key, doc: &'a str, expiry: Expiry, from: i64 },
    Remove { key: &'a Key, version: i64 },
}

/// What is where a row is to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CreateTarget {
    Empty,
    /// A row past its time, which the server has not removed yet.
    Expired,
}

/// Writes to one partition, if all conditions hold.
pub(super) async fn write(store: &CqlStore, ops: &[Op]) -> Result<()> {
    let [first, ..] = ops else { return Ok(()) };
    let prepared = store.tables.of(first.key().table)?;
    let Prepared::Guarded(statements) = &prepared.writes else {
        return Err(PortError::Misuse("a conditional write to a plain table"));
    };
    let changes = ops.iter().map(|op| GuardedWrite::of(store, op)).collect::<Result<Vec<_>>>()?;
    // Most creations are of rows that never were, so that is tried before anything is read.
    let mut targets = vec![CreateTarget::Empty; changes.len()];
    for _ in 0..MAX_TRIES {
        if attempt(store, statements, &changes, &targets).await? {
            return Ok(());
        }
        let seen = find_targets(store, statements, &changes).await?;
        let creates_only = changes.iter().all(GuardedWrite::creates);
        if seen == targets && !creates_only {
            break;
        }
        targets = seen;
    }
    Err(PortError::Conflict)
}

/// Tries once; false if a condition does not hold.
async fn attempt(
    store: &CqlStore,
    statements: &Guarded,
    changes: &[GuardedWrite<'_>],
    targets: &[CreateTarget],
) -> Result<bool> {
    let now = store.clock.now().millis();
    let steps =
        changes.iter().zip(targets).map(|(change, target)| change.step(statements, *target, now));
    match store.client.run(RequestKind::Conditional, steps.collect()).await? {
        Ok(answer) => applied(answer),
        Err(error) if is_ambiguous(&error) => resolve_ambiguous(store, statements, changes).await,
        Err(error) => Err(port_error(error)),
    }
}

/// Looks at what is where rows are to be created; a conflict if one is taken, or if there
/// is none, so that another condition must have failed.
async fn find_targets(
    store: &CqlStore,
    statements: &Guarded,
    changes: &[GuardedWrite<'_>],
) -> Result<Vec<CreateTarget>> {
    if !changes.iter().any(GuardedWrite::creates) {
        return Err(PortError::Conflict);
    }
    let now = store.clock.now().millis();
    let mut targets = vec![CreateTarget::Empty; changes.len()];
    for (change, target) in changes.iter().zip(&mut targets) {
        let GuardedWrite::Create { key, .. } = change else { continue };
        match find(&store.client, &statements.serial_read, key).await? {
            None => {}
            Some(row) if row.is_past(now) => *target = CreateTarget::Expired,
            Some(_) => return Err(PortError::Conflict),
        }
    }
    Ok(targets)
}

/// After an answer that leaves the outcome open: reads at `LOCAL_SERIAL`, which finishes the writes
/// that are under way, and says so if ours was applied. That is certain if every row is exactly as
/// we would have left it. Otherwise it stays open: the server may still be trying, or another
/// writer came after us.
async fn resolve_ambiguous(
    store: &CqlStore,
    statements: &Guarded,
    changes: &[GuardedWrite<'_>],
) -> Result<bool> {
    for change in changes {
        let (key, doc, expiry, version) = match change {
            GuardedWrite::Create { key, doc, expiry, version } => (key, doc, expiry, *version),
            GuardedWrite::Update { key, doc, expiry, from } => {
                (key, doc, expiry, from.saturating_add(1))
            }
            // The row may be gone by another's hand.
            GuardedWrite::Remove { .. } => return Err(PortError::Timeout),
        };
        let found = find(&store.client, &statements.serial_read, key).await?;
        let ours = found.is_some_and(|row| {
            row.version == version && row.expires == expiry.expires && row.doc == *doc
        });
        if !ours {
            return Err(PortError::Timeout);
        }
    }
    Ok(true)
}

/// The first column says whether the conditions held. Cassandra adds the rows only where they did
/// not, ScyllaDB always.
fn applied(answer: QueryResult) -> Result<bool> {
    let answer = answer.into_rows_result().map_err(PortError::unavailable)?;
    let mut rows = answer.rows::<CqlRow>().map_err(PortError::unavailable)?;
    let row = rows.next().transpose().map_err(PortError::unavailable)?;
    match row.and_then(|row| row.columns.into_iter().next().flatten()) {
        Some(CqlValue::Boolean(applied)) => Ok(applied),
        _ => Err(PortError::unavailable("an answer without [applied] to a conditional write")),
    }
}

impl<'a> GuardedWrite<'a> {
    fn of(store: &CqlStore, op: &'a Op) -> Result<Self> {
        let expiry = |ttl| Expiry::new(&store.clock, ttl);
        match op {
            Op::Put { key, doc, ttl, when: When::Absent } => {
                Ok(Self::Create { key, doc, expiry: expiry(*ttl), version: 1 })
            }
            Op::Put { key, doc, ttl, when: When::AbsentAt(version) } => {
                Ok(Self::Create { key, doc, expiry: expiry(*ttl), version: *version })
            }
            Op::Put { key, doc, ttl, when: When::Version(from) } => {
                Ok(Self::Update { key, doc, expiry: expiry(*ttl), from: *from })
            }
            Op::Delete { key, when: When::Version(version) } => {
                Ok(Self::Remove { key, version: *version })
            }
            _ => Err(PortError::Misuse("a plain write to a guarded table")),
        }
    }

    fn creates(&self) -> bool {
        matches!(self, Self::Create { .. })
    }

    fn step(&self, statements: &Guarded, target: CreateTarget, now: i64) -> BoundStep<'a> {
        let now = Param::Int(now);
        let set = |key: &'a Key, doc: &'a str, expiry: &Expiry, version: i64| {
            let (ttl, expires) = (Param::Seconds(expiry.ttl), Param::Int(expiry.expires));
            [ttl, Param::Text(doc), Param::Int(version), expires].into_iter().chain(key_values(key))
        };
        let (statement, values) = match self {
            Self::Create { key, doc, expiry, version } if target == CreateTarget::Empty => {
                (&statements.create, set(key, doc, expiry, *version).collect())
            }
            Self::Create { key, doc, expiry, version } => {
                (&statements.replace, set(key, doc, expiry, *version).chain([now]).collect())
            }
            Self::Update { key, doc, expiry, from } => {
                let set = set(key, doc, expiry, from.saturating_add(1));
                (&statements.update, set.chain([Param::Int(*from), now]).collect())
            }
            Self::Remove { key, version } => {
                (&statements.remove, key_values(key).chain([Param::Int(*version), now]).collect())
            }
        };
        BoundStep { statement: statement.clone(), values }
    }
}
