//! The rows of an inbox: its own, its login, and its entry in the list of its team.
//!
//! The inbox's own row says whether there is an inbox. What is written before it, and removed after
//! it, leads to no inbox when a crash leaves it behind: such a login is refused, and such an entry is
//! looked at and left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_model::{InboxId, Principal, TeamId, Time};
use trapline_store::{
    Key, Op, PortError, Record, Row, Scan, When, load, load_all,
    records::{Inbox, InboxEntry, Login},
};

use super::Inboxes;
use crate::{AuditAction, Error, Result, audit::Target};

/// How often a change is tried again when somebody else changes the same inbox.
const EDIT_TRIES: usize = 8;
/// How many rows are read at once for one list.
pub(crate) const READS_AT_ONCE: usize = 32;
/// How many of each part of a list are looked at to find some inbox.
const PROBE_ROWS: usize = 4;
/// How long after an inbox's id was made its own row may come: longer than a request takes.
const ROW_DELAY: Duration = Duration::from_mins(10);

impl Inboxes {
    /// Writes a new inbox. Its entry comes first, so that a crash leaves no inbox that nobody sees.
    pub(super) async fn write_new(
        &self,
        by: &Principal,
        inbox: &Inbox,
        task: Option<Op>,
    ) -> Result<()> {
        let ttl = remaining_ttl(inbox, self.clock.now());
        let mut ops = vec![put(&InboxEntry::coming(inbox, 1))?, put(&Login::of(inbox))?];
        ops.extend(task);
        ops.push(Op::put(inbox, ttl, When::Absent)?);
        let entry = self.audit.entry(by, AuditAction::InboxCreated, Target::inbox(inbox)).await;
        self.audit.write(&entry, ops).await?;
        self.write_list_copy(inbox, 1).await;
        Ok(())
    }

    /// Changes an inbox, again when somebody else was faster. Without an action it is part of a change
    /// that has its entry in the audit log already.
    pub(super) async fn edit(
        &self,
        by: &Principal,
        id: InboxId,
        action: Option<AuditAction>,
        edit: impl Fn(&mut Inbox),
    ) -> Result<Inbox> {
        for _ in 0..EDIT_TRIES {
            let (mut inbox, version) = self.versioned(by.team, id).await?;
            edit(&mut inbox);
            // A time to live belongs to each write: what is left of it must be passed again.
            let (ttl, when) = (remaining_ttl(&inbox, self.clock.now()), When::Version(version));
            // One that loses to another change stays for as long as the inbox does, so it has no end.
            let coming = put(&InboxEntry::coming(&inbox, version.saturating_add(1)))?;
            let own = Op::put(&inbox, ttl, when)?;
            match self.write_change(by, action, &inbox, vec![coming, own]).await {
                Ok(()) => {
                    self.write_list_copy(&inbox, version.saturating_add(1)).await;
                    self.logins.changed(&inbox.username).await;
                    return Ok(inbox);
                }
                Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    /// Writes a change of an inbox; with an action, also its entry in the audit log.
    async fn write_change(
        &self,
        by: &Principal,
        action: Option<AuditAction>,
        inbox: &Inbox,
        ops: Vec<Op>,
    ) -> Result<(), PortError> {
        let Some(action) = action else { return self.store.write(ops).await };
        let entry = self.audit.entry(by, action, Target::inbox(inbox)).await;
        self.audit.write(&entry, ops).await
    }

    /// Writes a copy of the inbox into the list of its team. Without it the list is right, and slower.
    async fn write_list_copy(&self, inbox: &Inbox, version: i64) {
        let outcome = async {
            let mut ops = vec![Op::put(
                &InboxEntry::written(inbox, version),
                remaining_ttl(inbox, self.clock.now()),
                When::Always,
            )?];
            if version > 1 {
                let key = InboxEntry::row(inbox.team, inbox.id, version - 1);
                ops.push(Op::Delete { key, when: When::Always });
            }
            Ok::<_, Error>(self.store.write(ops).await?)
        };
        if let Err(error) = outcome.await {
            tracing::warn!(%error, "the list of inboxes has no copy of an inbox");
        }
    }

    /// Removes an inbox that was read at a version, again when somebody changed it at the same moment.
    pub(crate) async fn remove_rows(
        &self,
        by: &Principal,
        (mut inbox, mut version): (Inbox, i64),
        action: Option<AuditAction>,
    ) -> Result<()> {
        let (team, id) = (by.team, inbox.id);
        for _ in 0..EDIT_TRIES {
            let mut ops = vec![
                Op::Delete { key: inbox.key(), when: When::Version(version) },
                Op::Delete { key: Login::row(&inbox.username), when: When::Always },
            ];
            // Read first, so that the delete is later than what another process wrote.
            ops.extend(self.entry_deletes(team, id).await?);
            match self.write_change(by, action, &inbox, ops).await {
                Ok(()) => return Ok(()),
                Err(PortError::Conflict) => {
                    (inbox, version) = self.versioned(team, id).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    /// Removes what is left of an inbox whose own row is gone.
    pub(crate) async fn remove_leftovers(
        &self,
        team: TeamId,
        id: InboxId,
        username: Option<&str>,
    ) -> Result<()> {
        let mut ops = self.entry_deletes(team, id).await?;
        if let Some(username) = username {
            let key = Login::row(username);
            let found = load::<Login>(&*self.store, &key).await?;
            if found.is_some_and(|(login, _)| login.inbox == id) {
                ops.push(Op::Delete { key, when: When::Always });
            }
        }
        Ok(self.store.write(ops).await?)
    }

    async fn entry_deletes(&self, team: TeamId, id: InboxId) -> Result<Vec<Op>> {
        let rows = self.store.scan(InboxEntry::of_inbox(team, id)).await?;
        let partition = InboxEntry::row(team, id, 0).partition;
        let key = |row: Row| Key {
            table: InboxEntry::TABLE,
            partition: partition.clone(),
            sort: row.sort,
        };
        Ok(rows.into_iter().map(|row| Op::Delete { key: key(row), when: When::Always }).collect())
    }

    /// The team's inboxes, oldest first, without those past their time.
    pub(crate) async fn records_of(&self, team: TeamId) -> Result<Vec<Inbox>> {
        let parts = InboxEntry::of_team(team).map(|scan| self.list_part(scan));
        let parts: Vec<_> =
            stream::iter(parts).buffer_unordered(READS_AT_ONCE).try_collect().await?;
        self.resolve(parts.into_iter().flatten().collect()).await
    }

    /// The entries of a part of a list.
    async fn list_part(&self, scan: Scan) -> Result<Vec<InboxEntry>> {
        Ok(load_all(&*self.store, scan).await?)
    }

    /// The inboxes that these entries are about, oldest first, without those past their time. Of an inbox
    /// all entries are among them.
    pub(super) async fn resolve(&self, entries: Vec<InboxEntry>) -> Result<Vec<Inbox>> {
        let mut newest = BTreeMap::<_, InboxEntry>::new();
        for entry in entries {
            let is_newer = |known: &InboxEntry| known.version < entry.version;
            if newest.get(&entry.inbox.0).is_none_or(is_newer) {
                newest.insert(entry.inbox.0, entry);
            }
        }
        let (copies, unsure): (Vec<_>, Vec<_>) =
            newest.into_values().partition(|entry| entry.copy.is_some());
        let looks: Vec<_> = unsure.into_iter().map(|entry| self.look_up(entry)).collect();
        let looked: Vec<_> =
            stream::iter(looks).buffer_unordered(READS_AT_ONCE).try_collect().await?;
        let copies = copies.into_iter().filter_map(|entry| entry.copy);
        let now = self.clock.now();
        let mut inboxes: Vec<_> = copies.chain(looked.into_iter().flatten()).collect();
        inboxes.retain(|inbox: &Inbox| !inbox.expired(now));
        inboxes.sort_by_key(|inbox| inbox.id.0);
        Ok(inboxes)
    }

    /// What an entry without a copy is about. One whose inbox never came goes.
    async fn look_up(&self, entry: InboxEntry) -> Result<Option<Inbox>> {
        match self.record(entry.team, entry.inbox).await {
            Ok(inbox) => Ok(Some(inbox)),
            Err(Error::NotFound) => {
                if Time::of_uuid(entry.inbox.0).after(ROW_DELAY) < self.clock.now() {
                    self.remove_leftovers(entry.team, entry.inbox, Some(&entry.username)).await?;
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Any inbox of the team, the oldest where there are few; `None` where the first entries of each part of
    /// the list are being written or removed.
    pub(crate) async fn some_of(&self, team: TeamId) -> Result<Option<Inbox>> {
        let parts = InboxEntry::of_team(team);
        let parts = parts.map(|scan| Scan { limit: PROBE_ROWS, keys_only: true, ..scan });
        let parts = parts.map(|scan| self.store.scan(scan));
        let rows: Vec<_> = stream::iter(parts).buffered(READS_AT_ONCE).try_collect().await?;
        let ids: BTreeSet<_> = rows.iter().flatten().filter_map(InboxEntry::inbox_of).collect();
        for id in ids {
            match self.record(team, InboxId(id)).await {
                Err(Error::NotFound) => {}
                found => return found.map(Some),
            }
        }
        Ok(None)
    }

    /// The team's inbox; another team's, one past its time, or one of a deleted team is not there.
    pub(crate) async fn record(&self, team: TeamId, id: InboxId) -> Result<Inbox> {
        self.versioned(team, id).await.map(|(inbox, _)| inbox)
    }

    /// These inboxes of the team, in this order; one that is not there is as for [`Inboxes::record`].
    pub(crate) async fn records(&self, team: TeamId, ids: &[InboxId]) -> Result<Vec<Inbox>> {
        let reads: Vec<_> = ids.iter().map(|id| self.record(team, *id)).collect();
        stream::iter(reads).buffered(READS_AT_ONCE).try_collect().await
    }

    /// The same, with the version of its row.
    pub(crate) async fn versioned(&self, team: TeamId, id: InboxId) -> Result<(Inbox, i64)> {
        let found = load::<Inbox>(&*self.store, &Inbox::row(id)).await?;
        let mine = |inbox: &Inbox| inbox.team == team && !inbox.expired(self.clock.now());
        let found = found.filter(|(inbox, _)| mine(inbox)).ok_or(Error::NotFound)?;
        if self.plans.is_there(team).await? { Ok(found) } else { Err(Error::NotFound) }
    }
}

/// What is left of a disposable inbox's life.
pub(crate) fn remaining_ttl(inbox: &Inbox, now: Time) -> Option<Duration> {
    inbox.expires_at.map(|at| at.since(now).max(Duration::from_millis(1)))
}

fn put<R: Record>(record: &R) -> Result<Op, PortError> {
    Op::put(record, None, When::Always)
}
