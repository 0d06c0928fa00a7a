//! Reads what a call asks for, and writes what it changes.

use std::{collections::HashMap, time::Duration};

use futures_util::future::try_join_all;
use sha2::{Digest as _, Sha256};
use trapline_mocks::{Loaded, MAX_LISTED, StoredObject, Want, Write, WriteLife};
use trapline_model::Time;
use trapline_store::{Job, Key, Op, PortError, Rate, RateDecision, Row, When, records::MockEpoch};
use uuid::Uuid;

use super::Mocks;
use crate::{Result, ids, rows::write_all};

/// Objects of a kind that a mock has, the newest.
pub(super) const MAX_OBJECTS: usize = MAX_LISTED;
/// The longest id of a row; no row has a longer one.
const MAX_ID: usize = 512;
const KEY_LIFE: Duration = Duration::from_hours(24);
const EVENT_LIFE: Duration = Duration::from_hours(1);
const MINUTE: Duration = Duration::from_mins(1);

/// What was read for a call, with the versions of its rows.
#[derive(Default)]
pub(super) struct Reads {
    pub(super) loaded: Loaded,
    versions: HashMap<(String, String), i64>,
}

enum RowRead {
    Row((String, String), Option<(String, i64)>),
    Kind((String, usize), Vec<StoredObject>),
    Allowance(Result<(), u64>),
}

impl Mocks {
    /// Reads these beside what was read before.
    pub(super) async fn read(
        &self,
        of: MockEpoch,
        wants: Vec<Want>,
        into: &mut Reads,
    ) -> Result<()> {
        let reads = wants.into_iter().map(|want| self.read_one(of, want));
        for read in try_join_all(reads).await? {
            match read {
                RowRead::Row(key, row) => {
                    let (doc, version) = row.unzip();
                    if let Some(version) = version {
                        into.versions.insert(key.clone(), version);
                    }
                    into.loaded.rows.insert(key, doc);
                }
                RowRead::Kind(key, objects) => {
                    into.loaded.kinds.insert(key, objects);
                }
                RowRead::Allowance(allowance) => into.loaded.allowance = Some(allowance),
            }
        }
        Ok(())
    }

    async fn read_one(&self, of: MockEpoch, want: Want) -> Result<RowRead> {
        match want {
            Want::Row { kind, id } if id.len() > MAX_ID => Ok(RowRead::Row((kind, id), None)),
            Want::Row { kind, id } => {
                let row = self.store.get(&of.item(&kind, &id)).await?;
                let open = |row: Row| self.opened_item(of, &row).map(|doc| (doc, row.version));
                Ok(RowRead::Row((kind, id), row.map(open).transpose()?))
            }
            Want::Kind { kind, most } => {
                let objects = self.objects_of(of, &kind, most.min(MAX_OBJECTS)).await?;
                Ok(RowRead::Kind((kind, most), objects))
            }
            Want::Allowance { per_minute } => {
                let rate = Rate { burst: per_minute, per: MINUTE };
                let key = format!("mock:{}:{}", of.mock, of.epoch);
                // A limiter that does not answer lets calls through.
                Ok(RowRead::Allowance(match self.limits.take_if_answered(&key, rate).await {
                    Some(RateDecision::Limited { retry_after }) => {
                        Err(retry_after.as_secs().max(1))
                    }
                    _ => Ok(()),
                }))
            }
        }
    }

    /// The newest objects of a kind, newest first. A row that does not decode is left out.
    pub(super) async fn objects_of(
        &self,
        of: MockEpoch,
        kind: &str,
        limit: usize,
    ) -> Result<Vec<StoredObject>> {
        let rows = self.store.scan(of.items(kind, limit)).await?;
        let object = |row: &Row| {
            self.opened_item(of, row).map(|doc| serde_json::from_str::<StoredObject>(&doc).ok())
        };
        rows.iter().map(object).filter_map(Result::transpose).collect()
    }

    /// One object.
    pub(super) async fn object(
        &self,
        of: MockEpoch,
        kind: &str,
        id: &str,
    ) -> Result<Option<StoredObject>> {
        if id.len() > MAX_ID {
            return Ok(None);
        }
        let Some(row) = self.store.get(&of.item(kind, id)).await? else { return Ok(None) };
        Ok(serde_json::from_str(&self.opened_item(of, &row)?).ok())
    }

    /// The newest entries of a kind that is a log, newest first. One that does not decode is left out.
    pub(super) async fn entries_of(&self, of: MockEpoch, kind: &str) -> Result<Vec<StoredObject>> {
        let rows = self.store.scan(of.entries(MAX_OBJECTS)).await?;
        let entries = rows.iter().filter_map(|row| serde_json::from_str(&row.doc).ok());
        Ok(entries.filter(|entry: &StoredObject| entry.kind == kind).collect())
    }

    /// Writes what a call changes, all of it or nothing, and with it the job that sends what is to be sent. What
    /// is apart is written before: it is the same when the call is run again.
    pub(super) async fn commit(
        &self,
        of: MockEpoch,
        reads: &Reads,
        writes: Vec<Write>,
        job: Option<Job>,
    ) -> Result<(), PortError> {
        let sealed = writes.into_iter().map(|write| self.with_sealed_secret(of, write));
        let writes = sealed.collect::<Result<Vec<_>, _>>()?;
        let (apart, together): (Vec<_>, Vec<_>) =
            writes.into_iter().partition(|write| write.life.is_apart());
        let ops = |writes: Vec<Write>| -> Vec<Op> {
            writes.into_iter().filter_map(|write| reads.op(of, write)).collect()
        };
        write_all(&*self.store, ops(apart)).await?;
        let ops = ops(together);
        match job {
            Some(job) => self.jobs.schedule_with_batch(ops, &job).await,
            None if ops.is_empty() => Ok(()),
            None => self.store.write(ops).await,
        }
    }
}

impl Reads {
    /// The write of a row: at the version that was read, or new. The removal of a row that is not there is none.
    fn op(&self, of: MockEpoch, write: Write) -> Option<Op> {
        let Write { kind, id, doc, life, .. } = write;
        if let WriteLife::Log { at } = life {
            let (key, ttl) = (of.entry(id_of_entry(at, &kind, &id)), Some(MockEpoch::KEPT));
            return doc.map(|doc| Op::Put { key, doc, ttl, when: When::Always });
        }
        let key: Key = of.item(&kind, &id);
        let version = self.versions.get(&(kind, id)).copied();
        let ttl = match life {
            WriteLife::Object | WriteLife::Apart | WriteLife::Log { .. } => MockEpoch::KEPT,
            WriteLife::Key => KEY_LIFE,
            WriteLife::Event => EVENT_LIFE,
        };
        match (doc, version) {
            (Some(doc), version) => {
                let when = version.map_or(When::Absent, When::Version);
                Some(Op::Put { key, doc, ttl: Some(ttl), when })
            }
            (None, Some(version)) => Some(Op::Delete { key, when: When::Version(version) }),
            (None, None) => None,
        }
    }
}

/// The id of an entry, the same however often it comes: a `UUIDv7` with its time.
fn id_of_entry(at: Time, kind: &str, id: &str) -> Uuid {
    ids::of_hash(at, &Sha256::digest(format!("{kind}/{id}").as_bytes()).into())
}
