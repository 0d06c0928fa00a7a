//! The audit log: who changed what of a team.
//!
//! An entry is written first in the same write as the change that it tells of, so that a change is never
//! there without its entry, wherever a process was killed ([ADR 15](../../../docs/adr/0015-audit.md)). It is a
//! shared part: each service says for itself what it changes.

mod action;
mod kept;
mod names;
mod write_record;

use std::{cmp::Reverse, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use moka::sync::Cache;
use trapline_model::{
    Actor, ActorKind, AuditActor, AuditEntryId, AuditTarget, Principal, TeamId, Time, WebhookId,
};
use trapline_store::{
    Clock, Op, PortError, Record as _, Scan, Store, When,
    records::{self, AuditDay, AuditRecord},
};

use crate::{Result, ids::Ids, rows::RowReader};
pub use action::AuditAction;
pub(crate) use action::{Target, TargetKind};
pub use kept::KeptLog;
use names::ActorNames;

/// Entries that are listed.
const MAX_LISTED: usize = 200;
/// Characters that are stored of a target's name, the first ones.
const MAX_NAME_CHARS: usize = 200;
/// Shortest time between two entries of one actor's reads of the same secret.
const SECRET_READ_INTERVAL: Duration = Duration::from_hours(1);
/// Entries of the cache of secrets that were read.
const SECRET_READ_CAPACITY: u64 = 10_000;
/// Entries of the cache of days that have begun.
const DAY_CAPACITY: u64 = 100_000;
/// Days that are read at the same time.
const MAX_CONCURRENT_DAYS: usize = 16;

/// Writes entries, and lists them.
pub struct AuditLog {
    store: Arc<dyn Store>,
    clock: Clock,
    ids: Arc<Ids>,
    rows: RowReader,
    names: ActorNames,
    /// Who read which webhook's secret within [`SECRET_READ_INTERVAL`]; `None` is those of all.
    secret_reads: Cache<(TeamId, Actor, Option<WebhookId>), ()>,
    /// Days whose row is known to be there.
    days: Cache<AuditDay, ()>,
}

impl AuditLog {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Clock, ids: Arc<Ids>, rows: RowReader) -> Self {
        Self {
            names: ActorNames::new(store.clone()),
            store,
            clock,
            ids,
            rows,
            secret_reads: Cache::builder()
                .max_capacity(SECRET_READ_CAPACITY)
                .time_to_live(SECRET_READ_INTERVAL)
                .build(),
            days: Cache::new(DAY_CAPACITY),
        }
    }

    /// The team's latest 200 entries, newest first.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn latest(&self, by: &Principal) -> Result<Vec<trapline_model::AuditEntry>> {
        let (mut found, earlier) =
            tokio::try_join!(self.latest_by_day(by.team), self.latest_by_month(by.team))?;
        found.extend(earlier);
        // Processes of two releases may have written side by side.
        found.sort_by_key(|entry| Reverse(entry.entry.id.0));
        found.truncate(MAX_LISTED);
        Ok(found.into_iter().map(|entry| entry.entry).collect())
    }

    /// Reads the newest days with entries, one scan each, until there are enough entries.
    async fn latest_by_day(&self, team: TeamId) -> Result<Vec<AuditRecord>> {
        let days = self.store.scan(AuditDay::of_team(team)).await?;
        let days = days.iter().filter_map(|row| self.rows.decode::<AuditDay>(row));
        let days: Vec<_> = days.map(|day| AuditRecord::of_day(team, day.day, MAX_LISTED)).collect();
        let mut entries =
            stream::iter(days).map(|day| self.read(day)).buffered(MAX_CONCURRENT_DAYS);
        let mut found = Vec::new();
        while found.len() < MAX_LISTED
            && let Some(of_day) = entries.try_next().await?
        {
            found.extend(of_day);
        }
        Ok(found)
    }

    /// The entries of earlier releases.
    async fn latest_by_month(&self, team: TeamId) -> Result<Vec<AuditRecord>> {
        let mut found = Vec::new();
        for month in AuditRecord::months(team, self.clock.now(), MAX_LISTED) {
            found.extend(self.read(month).await?);
            if found.len() >= MAX_LISTED {
                break;
            }
        }
        Ok(found)
    }

    async fn read(&self, scan: Scan) -> Result<Vec<AuditRecord>> {
        let rows = self.store.scan(scan).await?;
        Ok(rows.iter().filter_map(|row| self.rows.decode::<AuditRecord>(row)).collect())
    }

    /// An entry that is not written yet.
    pub(crate) async fn entry(
        &self,
        by: &Principal,
        action: AuditAction,
        target: Target,
    ) -> AuditRecord {
        let id = AuditEntryId(self.ids.next());
        let (kind, actor) = match by.actor {
            Actor::Key(key) => (ActorKind::Key, Some(key.to_string())),
            Actor::Person(person) => (ActorKind::Person, Some(person.to_string())),
            Actor::System => (ActorKind::System, None),
        };
        let name = self.name_of(by).await;
        let Target { kind: of, id: target, name: called } = target;
        let entry = trapline_model::AuditEntry {
            id,
            at: Time::of_uuid(id.0),
            actor: AuditActor { kind, id: actor, name },
            action: action.name().to_owned(),
            target: AuditTarget {
                kind: of.name().to_owned(),
                id: target,
                name: called.chars().take(MAX_NAME_CHARS).collect(),
            },
            address: by.address.map(|address| address.to_string()),
        };
        AuditRecord { team: by.team, entry }
    }

    /// The actor's name; empty where it is not known.
    pub(crate) async fn name_of(&self, by: &Principal) -> String {
        self.names.of(by).await
    }

    /// Reads the actor's name anew for the next entry: at once in this process, within 5 minutes in every other.
    pub(crate) fn forget_name(&self, by: &Principal) {
        self.names.forget(by);
    }

    /// Writes a change with its entry before it. A change that is refused has none; of one whose outcome
    /// is not known it stays.
    pub(crate) async fn write(
        &self,
        entry: &AuditRecord,
        change: Vec<Op>,
    ) -> Result<(), PortError> {
        self.begin_day(AuditDay::of_entry(entry)).await?;
        let mut ops = vec![Op::put(entry, None, When::Always)?];
        ops.extend(change);
        let written = self.store.write(ops).await;
        if matches!(written, Err(PortError::Conflict)) {
            self.take_back(entry).await;
        }
        written
    }

    /// Writes the row of a day with entries, once in each process.
    async fn begin_day(&self, day: AuditDay) -> Result<(), PortError> {
        if self.days.contains_key(&day) {
            return Ok(());
        }
        self.store.write(vec![Op::put(&day, None, When::Always)?]).await?;
        self.days.insert(day, ());
        Ok(())
    }

    /// Writes the entry of a change that takes several writes, before the first of them. It stays, however far
    /// they come.
    pub(crate) async fn begin(
        &self,
        by: &Principal,
        action: AuditAction,
        target: Target,
    ) -> Result<()> {
        let entry = self.entry(by, action, target).await;
        Ok(self.write(&entry, Vec::new()).await?)
    }

    /// Removes the entry of a change that was refused.
    async fn take_back(&self, entry: &AuditRecord) {
        let delete = Op::Delete { key: entry.key(), when: When::Always };
        if let Err(error) = self.store.write(vec![delete]).await {
            tracing::warn!(%error, "the audit log tells of a change that was refused");
        }
    }

    /// Records that somebody is about to be shown the secret of a webhook, or with `None` those of all; once
    /// an hour, as programs may list webhooks again and again.
    pub(crate) async fn record_secret_read(
        &self,
        by: &Principal,
        webhook: Option<&records::Webhook>,
    ) -> Result<()> {
        let read = (by.team, by.actor, webhook.map(|hook| hook.id));
        if by.actor == Actor::System || self.secret_reads.contains_key(&read) {
            return Ok(());
        }
        let target = webhook.map_or_else(|| Target::team(by.team), Target::webhook);
        self.begin(by, AuditAction::WebhookSecretRead, target).await?;
        self.secret_reads.insert(read, ());
        Ok(())
    }
}
