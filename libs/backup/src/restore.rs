//! Writing what an archive holds into an empty installation.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, future::try_join_all, stream};
use trapline_model::{InboxId, Time};
use trapline_store::{
    Clock, Group, JobDelivery, Key, Op, PortError, Ports, Record as _, Row, Table, Value,
    WalkedRow, When, Writes, by_partition, load,
    records::{Inbox, MaintenanceTask, Message, Outbox, TABLES, WorkLease, removal_of_inbox},
};

use crate::{Archive, BackupError, LEFT_OUT, Manifest, Part, error::ArchiveResult};

/// Partitions that are written at the same time.
const PARTITIONS_IN_FLIGHT: usize = 32;
/// Rows of a partition that are written together.
const ROWS_TOGETHER: usize = 100;
/// Segments that are written at the same time, as long as they are small.
const SEGMENTS_TOGETHER: usize = 32;
/// How long they are together, in bytes, unless one is larger by itself.
const BYTES_TOGETHER: usize = 8 << 20;
/// The time over which tasks are spread that were due before the restore.
const SPREAD_MILLIS: i64 = 600_000;

/// Where an archive is restored.
pub struct Restore<'a> {
    /// The backend, with every table prepared.
    pub ports: &'a Ports,
    /// The clock that it goes by.
    pub clock: &'a Clock,
}

impl Restore<'_> {
    /// Whether nothing is there.
    ///
    /// # Errors
    ///
    /// [`BackupError::NotEmpty`] names a table that has rows.
    pub async fn check_empty(&self) -> ArchiveResult<()> {
        let about_processes = ["heartbeat", "progress"];
        for table in TABLES.into_iter().filter(|table| !about_processes.contains(&table.name)) {
            let mut place = None;
            loop {
                let part = self.ports.store.walk(table, place, 1).await?;
                if !part.rows.is_empty() {
                    return Err(BackupError::NotEmpty(table.name));
                }
                place = part.next;
                if place.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Writes all that the archive holds and that is not past its time. The key files are the caller's. Until
    /// [`Restore::finish`] the installation is marked as not whole.
    ///
    /// # Errors
    ///
    /// Those of [`Archive::next`] and of the backend.
    pub async fn run(&self, archive: &mut Archive) -> ArchiveResult<Manifest> {
        self.mark().await?;
        let mut segments = Vec::new();
        while let Some(part) = archive.next().await? {
            match part {
                Part::Key { .. } => {}
                Part::Rows { table, rows } => self.rows(table, rows).await?,
                Part::Segment { name, bytes } => {
                    segments.push((name, bytes));
                    let bytes: usize = segments.iter().map(|(_, bytes)| bytes.len()).sum();
                    if segments.len() >= SEGMENTS_TOGETHER || bytes >= BYTES_TOGETHER {
                        self.segments(std::mem::take(&mut segments)).await?;
                    }
                }
            }
        }
        self.segments(segments).await?;
        self.remove_orphans().await?;
        archive.manifest().cloned().ok_or(BackupError::Foreign)
    }

    /// Says that the installation is whole.
    ///
    /// # Errors
    ///
    /// When the store does not answer; the installation is not served then.
    pub async fn finish(&self) -> ArchiveResult<()> {
        let key = WorkLease::row(WorkLease::RESTORE);
        if let Some((_, version)) = load::<WorkLease>(&*self.ports.store, &key).await? {
            let delete = Op::Delete { key, when: When::Version(version) };
            self.ports.store.write(vec![delete]).await?;
        }
        Ok(())
    }

    async fn mark(&self) -> ArchiveResult<()> {
        let lease = WorkLease {
            name: WorkLease::RESTORE.to_owned(),
            holder: "trapline restore".to_owned(),
        };
        let put = Op::put(&lease, None, When::Absent)?;
        match self.ports.store.write(vec![put]).await {
            Err(PortError::Conflict) => Err(BackupError::NotEmpty("lease")),
            written => Ok(written?),
        }
    }

    async fn rows(&self, table: &'static Table, rows: Vec<WalkedRow>) -> ArchiveResult<()> {
        if LEFT_OUT.contains(&table.name) {
            return Ok(());
        }
        let now = self.clock.now();
        let is_job = table.name == Outbox::TABLE.name;
        if is_job && self.ports.job_delivery == JobDelivery::WithRows {
            return self.jobs(&rows).await;
        }
        let ops = rows.into_iter().filter_map(|row| restored(table, row, now).transpose());
        let partitions = by_partition(ops.collect::<ArchiveResult<_, _>>()?)?;
        let parts = partitions.iter().flat_map(|ops| ops.chunks(ROWS_TOGETHER)).map(<[Op]>::to_vec);
        let writes: Vec<_> = parts.map(|ops| self.ports.store.write(ops)).collect();
        let written = stream::iter(writes).buffer_unordered(PARTITIONS_IN_FLIGHT);
        Ok(written.try_for_each(async |()| Ok(())).await?)
    }

    /// Jobs of an outbox, for a queue that keeps what it takes.
    async fn jobs(&self, rows: &[WalkedRow]) -> ArchiveResult<()> {
        for row in rows {
            match Outbox::of(&row.row) {
                Ok(Outbox { due, job }) => self.ports.queue.publish(&job, Some(due)).await?,
                Err(error) => tracing::warn!(%error, "a job cannot be read, and is left out"),
            }
        }
        Ok(())
    }

    async fn segments(&self, segments: Vec<(String, bytes::Bytes)>) -> ArchiveResult<()> {
        let commit = |(segment, bytes)| {
            let (before, rows) = (Vec::new(), Vec::new());
            self.ports.intake.commit(Group { segment, bytes, before, rows, job: None })
        };
        try_join_all(segments.into_iter().map(commit)).await?;
        Ok(())
    }

    /// Removes what belongs to inboxes that are not there: those that were deleted while a cluster was backed
    /// up, and those past their time.
    async fn remove_orphans(&self) -> ArchiveResult<()> {
        let store = &*self.ports.store;
        for partition in store.partitions(Message::TABLE).await? {
            let [Value::Uuid(id)] = partition.as_slice() else { continue };
            let inbox = InboxId(*id);
            if store.get(&Inbox::row(inbox)).await?.is_none() {
                store.write(removal_of_inbox(store, inbox).await?).await?;
            }
        }
        Ok(())
    }
}

/// The write of a row with what is left of its time; `None` when that is nothing.
fn restored(
    table: &'static Table,
    row: WalkedRow,
    now: Time,
) -> ArchiveResult<Option<Op>, PortError> {
    let WalkedRow { partition, row, expires } = row;
    let ttl = match expires {
        Some(expires) if expires <= now => return Ok(None),
        expires => expires.map(|expires| expires.since(now)),
    };
    if let Some(op) = planned_anew(table, &row, now)? {
        return Ok(Some(op));
    }
    let when = match table.writes {
        Writes::Plain => When::Always,
        Writes::Guarded => When::AbsentAt(row.version),
    };
    let key = Key { table, partition, sort: row.sort };
    Ok(Some(Op::Put { key, doc: row.doc, ttl, when }))
}

/// What was due before now is due soon: readers of queues begin at this time, and go only forward. What this
/// release cannot read stays where it was.
fn planned_anew(table: &Table, row: &Row, now: Time) -> ArchiveResult<Option<Op>, PortError> {
    if table.name == Outbox::TABLE.name
        && Outbox::place(row).is_some_and(|(due, _)| due <= now)
        && let Ok(outbox) = Outbox::of(row)
    {
        return Outbox { due: now, ..outbox }.put().map(Some);
    }
    if table.name == MaintenanceTask::TABLE.name
        && let Some((due, subject)) = MaintenanceTask::place(row).filter(|(due, _)| *due <= now)
        && let Ok(task) = MaintenanceTask::of(row)
    {
        let queue = task.task.queue();
        // Tasks about one subject are at different times, and must be so again.
        let within = due.millis().rem_euclid(SPREAD_MILLIS).unsigned_abs();
        let due = now.after(Duration::from_millis(within));
        return Ok(Some(MaintenanceTask::put(queue, due, subject, row.doc.clone())));
    }
    Ok(None)
}
