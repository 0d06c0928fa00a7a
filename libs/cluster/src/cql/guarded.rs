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
    client::Step,
    error::{is_ambiguous, port_error},
    meters::Operation,
    read::{find, key_values},
    tables::{Guarded, Prepared},
    values::{Bound, Life},
};

/// How often a creation is tried: rows that ended may go between a look at them and the next try.
const TRIES: usize = 3;

/// A row to be written or removed on a condition.
enum Change<'a> {
    Create { key: &'a Key, doc: &'a str, life: Life },
    Update { key: &'a Key, doc: &'a str, life: Life, from: i64 },
    Remove { key: &'a Key, version: i64 },
}

/// What is where a row is to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Empty,
    /// A row past its time, which the server has not removed yet.
    Expired,
}

/// Writes to one partition, if all conditions hold.
pub(super) async fn write(store: &CqlStore, ops: &[Op]) -> Result<()> {
    let [first, ..] = ops else { return Ok(()) };
    let statements = store.tables.of(first.key().table)?;
    let Prepared::Guarded(made) = &statements.writes else {
        return Err(PortError::Misuse("a conditional write to a plain table"));
    };
    let changes = ops.iter().map(|op| Change::of(store, op)).collect::<Result<Vec<_>>>()?;
    // Most creations are of rows that never were, so that is tried before anything is read.
    let mut places = vec![Place::Empty; changes.len()];
    for _ in 0..TRIES {
        if attempt(store, made, &changes, &places).await? {
            return Ok(());
        }
        let seen = look(store, made, &changes).await?;
        let creates_only = changes.iter().all(Change::creates);
        if seen == places && !creates_only {
            break;
        }
        places = seen;
    }
    Err(PortError::Conflict)
}

/// Tries once; false if a condition does not hold.
async fn attempt(
    store: &CqlStore,
    made: &Guarded,
    changes: &[Change<'_>],
    places: &[Place],
) -> Result<bool> {
    let now = store.clock.now().millis();
    let steps = changes.iter().zip(places).map(|(change, place)| change.step(made, *place, now));
    match store.client.run(Operation::Conditional, steps.collect()).await? {
        Ok(answer) => applied(answer),
        Err(error) if is_ambiguous(&error) => settle(store, made, changes).await,
        Err(error) => Err(port_error(error)),
    }
}

/// Looks at the places of the rows that are to be created; a conflict if one is taken, or if there
/// is none, so that another condition must have failed.
async fn look(store: &CqlStore, made: &Guarded, changes: &[Change<'_>]) -> Result<Vec<Place>> {
    if !changes.iter().any(Change::creates) {
        return Err(PortError::Conflict);
    }
    let now = store.clock.now().millis();
    let mut places = vec![Place::Empty; changes.len()];
    for (change, place) in changes.iter().zip(&mut places) {
        let Change::Create { key, .. } = change else { continue };
        match find(&store.client, &made.settle, key).await? {
            None => {}
            Some(row) if row.is_past(now) => *place = Place::Expired,
            Some(_) => return Err(PortError::Conflict),
        }
    }
    Ok(places)
}

/// After an answer that leaves the outcome open: reads at `LOCAL_SERIAL`, which finishes the writes
/// that are under way, and says so if ours was applied. That is certain if every row is exactly as
/// we would have left it. Otherwise it stays open: the server may still be trying, or another
/// writer came after us.
async fn settle(store: &CqlStore, made: &Guarded, changes: &[Change<'_>]) -> Result<bool> {
    for change in changes {
        let (key, doc, life, version) = match change {
            Change::Create { key, doc, life } => (key, doc, life, 1),
            Change::Update { key, doc, life, from } => (key, doc, life, from.saturating_add(1)),
            // The row may be gone by another's hand.
            Change::Remove { .. } => return Err(PortError::Timeout),
        };
        let found = find(&store.client, &made.settle, key).await?;
        let ours = found.is_some_and(|row| {
            row.version == version && row.expires == life.expires && row.doc == *doc
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

impl<'a> Change<'a> {
    fn of(store: &CqlStore, op: &'a Op) -> Result<Self> {
        let life = |ttl| Life::new(&store.clock, ttl);
        match op {
            Op::Put { key, doc, ttl, when: When::Absent } => {
                Ok(Self::Create { key, doc, life: life(*ttl) })
            }
            Op::Put { key, doc, ttl, when: When::Version(from) } => {
                Ok(Self::Update { key, doc, life: life(*ttl), from: *from })
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

    fn step(&self, made: &Guarded, place: Place, now: i64) -> Step<'a> {
        let now = Bound::Int(now);
        let set = |key: &'a Key, doc: &'a str, life: &Life, version: i64| {
            let (ttl, expires) = (Bound::Seconds(life.ttl), Bound::Int(life.expires));
            [ttl, Bound::Text(doc), Bound::Int(version), expires].into_iter().chain(key_values(key))
        };
        let (statement, values) = match self {
            Self::Create { key, doc, life } if place == Place::Empty => {
                (&made.create, set(key, doc, life, 1).collect())
            }
            Self::Create { key, doc, life } => {
                (&made.replace, set(key, doc, life, 1).chain([now]).collect())
            }
            Self::Update { key, doc, life, from } => {
                let set = set(key, doc, life, from.saturating_add(1));
                (&made.update, set.chain([Bound::Int(*from), now]).collect())
            }
            Self::Remove { key, version } => {
                (&made.remove, key_values(key).chain([Bound::Int(*version), now]).collect())
            }
        };
        Step { statement: statement.clone(), values }
    }
}
