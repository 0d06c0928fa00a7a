//! Inboxes and the projects that they are grouped under: made, listed, changed, removed; and the bound
//! on an inbox's messages. It uses access only.

mod counts;
mod expiry;
mod list;
mod pages;
mod plan;
mod projects;
mod purge;
mod retention;
mod rows;
mod with_team;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;

use trapline_model::{Inbox, InboxId, Principal, ProjectId, SmtpAccess, TeamId, Time};
use trapline_store::{
    Bus, ChangedInbox, Clock, LiveEvent, MarkedTogether, Op, RateDecision, Store, is_v7,
    records::{self, InboxState, MaintenanceTask, TaskKind},
};

use crate::{
    AuditAction, AuditLog, Error, FirstSteps, Result, Settings,
    access::{Logins, password_context},
    announce::announce,
    ids::Ids,
    inbox_versions::InboxVersions,
    jobs::Jobs,
    keyed_locks::KeyedLocks,
    limits::Limits,
    onboarding::Step,
    parts::Parts,
    plans::Plans,
    secrets::{BASE62, Secrets, USERNAME, random_text},
    storage_room::StorageRoom,
};

use counts::{Counts, MessageCounts};
use list::ListRange;
pub use list::{InboxPage, InboxQuery};
pub use projects::{ProjectPage, ProjectQuery};
pub(crate) use retention::Retention;
use rows::READS_AT_ONCE;
pub(crate) use rows::remaining_ttl;

const USERNAME_LETTERS: usize = 12;
const PASSWORD_LETTERS: usize = 24;

/// The properties of a new inbox; the caller has checked names and bounds.
#[derive(Debug, Clone)]
pub struct NewInbox {
    /// Human-readable.
    pub name: String,
    /// The most messages it keeps, 1 to 10,000; `None` is 1,000, or what the plan allows.
    pub max_messages: Option<u32>,
    /// The project it is grouped under.
    pub project: Option<ProjectId>,
    /// The lifetime of a disposable inbox.
    pub lifetime: Option<Duration>,
}

impl NewInbox {
    /// A lasting inbox with the default bound.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), max_messages: None, project: None, lifetime: None }
    }
}

/// A change of an inbox; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct InboxChange {
    /// Human-readable.
    pub name: Option<String>,
    /// The most messages it keeps, 1 to 10,000.
    pub max_messages: Option<u32>,
    /// The project it is grouped under; `Some(None)` takes it out of its project.
    pub project: Option<Option<ProjectId>>,
    /// The lifetime of a disposable inbox from now on; `Some(None)` makes it a lasting one.
    pub lifetime: Option<Option<Duration>>,
}

/// A service that stores something for an inbox beside its messages.
#[async_trait]
pub(crate) trait InboxDependent: Send + Sync {
    /// Removes what is kept for an inbox that is gone. It may be called again, and again for an inbox
    /// for which nothing is kept.
    async fn inbox_removed(&self, team: TeamId, inbox: InboxId) -> Result<()>;
}

/// Inboxes and projects.
pub struct Inboxes {
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    audit: Arc<AuditLog>,
    first_steps: Arc<FirstSteps>,
    settings: Arc<Settings>,
    limits: Limits,
    plans: Arc<Plans>,
    /// Held by team while an inbox is created, where a plan limits their number.
    creation_locks: KeyedLocks,
    room: Arc<StorageRoom>,
    jobs: Jobs,
    versions: Arc<InboxVersions>,
    logins: Arc<Logins>,
    counts: MessageCounts,
    retention: Arc<Retention>,
    /// What else is kept for inboxes.
    dependent: Arc<dyn InboxDependent>,
}

impl Inboxes {
    pub(crate) fn new(
        parts: &Parts,
        logins: Arc<Logins>,
        retention: Arc<Retention>,
        dependent: Arc<dyn InboxDependent>,
    ) -> Self {
        Self {
            store: parts.ports.store.clone(),
            bus: parts.ports.bus.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            audit: parts.audit.clone(),
            first_steps: parts.first_steps.clone(),
            settings: parts.settings.clone(),
            limits: parts.limits.clone(),
            plans: parts.plans.clone(),
            creation_locks: KeyedLocks::new(),
            room: parts.room.clone(),
            jobs: parts.jobs.clone(),
            versions: parts.versions.clone(),
            logins,
            counts: MessageCounts::new(parts),
            retention,
            dependent,
        }
    }

    /// One inbox with its counts.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has none with this id, or it is past its time.
    pub async fn get(&self, by: &Principal, id: InboxId) -> Result<Inbox> {
        let inbox = self.record(by.team, id).await?;
        let counts = self.counts.of(&inbox).await?;
        self.present(&inbox, counts)
    }

    /// Makes an inbox with its own SMTP credentials.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`] when the plan does not allow it, [`Error::StorageFull`] when there is no
    /// room for it, [`Error::TooManyInboxes`] when the team
    /// makes inboxes faster than it may, and [`Error::Invalid`] for a project that is not there.
    pub async fn create(&self, by: &Principal, new: NewInbox) -> Result<Inbox> {
        let team = by.team;
        let plan = self.plans.of(team).await?;
        let max_messages = self.max_messages_in(&plan, new.max_messages)?;
        self.room.check().await?;
        self.check_project(team, new.project).await?;
        let _turn = self.lock_creation(team, &plan).await?;
        self.meter_inboxes(team).await?;
        let now = self.clock.now();
        let username = random_text(USERNAME_LETTERS, USERNAME);
        let inbox = records::Inbox {
            id: InboxId(self.ids.next()),
            team,
            name: new.name,
            project: new.project,
            max_messages,
            expires_at: new.lifetime.map(|lifetime| now.after(lifetime)),
            created_at: now,
            password: self.new_password(&username)?,
            username,
        };
        let task = inbox.expires_at.map(|due| expiry(&inbox, due)).transpose()?;
        self.write_new(by, &inbox, task).await?;
        self.first_steps.note(team, Step::Inbox).await;
        self.retention.created(inbox.id);
        self.present(&inbox, Counts::default())
    }

    /// Takes one from the team's allowance of new inboxes.
    async fn meter_inboxes(&self, team: TeamId) -> Result<()> {
        let Some(rate) = self.settings.inbox_rate else { return Ok(()) };
        match self.limits.take_if_answered(&format!("inboxes:{team}"), rate).await {
            Some(RateDecision::Limited { retry_after }) => {
                Err(Error::TooManyInboxes { most: rate.burst, retry_after })
            }
            Some(RateDecision::Allowed { .. }) | None => Ok(()),
        }
    }

    /// Changes an inbox. A lower bound takes effect at once, and so does another end.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has none with this id, [`Error::Invalid`] for a project that is
    /// not there, [`Error::QuotaExceeded`] for more messages than the plan allows, and
    /// [`Error::Conflict`] when others change it again and again.
    pub async fn update(&self, by: &Principal, id: InboxId, change: InboxChange) -> Result<Inbox> {
        let team = by.team;
        if change.max_messages.is_some() {
            let plan = self.plans.of(team).await?;
            self.max_messages_in(&plan, change.max_messages)?;
        }
        self.check_project(team, change.project.flatten()).await?;
        let ends = change.lifetime.map(|new| new.map(|lifetime| self.clock.now().after(lifetime)));
        if let Some(Some(due)) = ends {
            // First the task: without a new end it finds that its time has not come.
            let task = expiry(&self.record(team, id).await?, due)?;
            self.store.write(vec![task]).await?;
        }
        let inbox = self
            .edit(by, id, Some(AuditAction::InboxUpdated), |inbox| {
                if let Some(name) = &change.name {
                    inbox.name.clone_from(name);
                }
                inbox.max_messages = change.max_messages.unwrap_or(inbox.max_messages);
                inbox.project = change.project.unwrap_or(inbox.project);
                inbox.expires_at = ends.unwrap_or(inbox.expires_at);
            })
            .await?;
        if change.max_messages.is_some() {
            self.retention.trim(id, inbox.max_messages).await?;
        }
        self.announce_change(team, id, None, None).await;
        let counts = self.counts.of(&inbox).await?;
        self.present(&inbox, counts)
    }

    /// Replaces the SMTP password; the old one stops working.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has none with this id, and [`Error::Conflict`] when others
    /// change it again and again.
    pub async fn rotate_password(&self, by: &Principal, id: InboxId) -> Result<Inbox> {
        let username = self.record(by.team, id).await?.username;
        let password = self.new_password(&username)?;
        let action = Some(AuditAction::InboxCredentialsRotated);
        let inbox = self.edit(by, id, action, |inbox| inbox.password.clone_from(&password)).await?;
        self.announce_change(by.team, id, None, None).await;
        let counts = self.counts.of(&inbox).await?;
        self.present(&inbox, counts)
    }

    /// Removes an inbox at once, and what it holds soon after.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has none with this id, and [`Error::Conflict`] when others
    /// change it again and again.
    pub async fn delete(&self, by: &Principal, id: InboxId) -> Result<()> {
        let team = by.team;
        let (inbox, version) = match self.versioned(team, id).await {
            Err(Error::NotFound) => {
                // A removal that was cut off may have left it in the list, in which every id is a
                // UUIDv7.
                if is_v7(id.0) {
                    self.remove_leftovers(team, id, None).await?;
                }
                return Err(Error::NotFound);
            }
            found => found?,
        };
        // First the job, so that a crash in between leaves no messages without an inbox: the job
        // waits until the inbox is gone.
        self.schedule_purge(&inbox).await?;
        let username = inbox.username.clone();
        let action = Some(AuditAction::InboxDeleted);
        let removed = self.remove_rows(by, (inbox, version), action).await;
        // Where it is not known what was removed, nobody may rely on what was there.
        self.logins.changed(&username).await;
        removed?;
        self.dependent.inbox_removed(team, id).await?;
        self.announce(id, LiveEvent::InboxDeleted).await;
        Ok(())
    }

    async fn check_project(&self, team: TeamId, project: Option<ProjectId>) -> Result<()> {
        let Some(id) = project else { return Ok(()) };
        self.project(team, id).await.map(drop).map_err(|error| match error {
            Error::NotFound => {
                Error::invalid("projectId", "unknown", "there is no project with this id")
            }
            error => error,
        })
    }

    fn new_password(&self, username: &str) -> Result<String> {
        self.secrets.seal(&password_context(username), &random_text(PASSWORD_LETTERS, BASE62))
    }

    /// How many messages an inbox has.
    pub(crate) async fn message_count(&self, inbox: &records::Inbox) -> Result<u64> {
        Ok(self.counts.of(inbox).await?.total)
    }

    /// Announces the inbox as it is after a change: of its own record, of what holds for all its messages,
    /// or of the marks of many.
    pub(crate) async fn announce_change(
        &self,
        team: TeamId,
        id: InboxId,
        state: Option<InboxState>,
        marks: Option<MarkedTogether>,
    ) {
        let changed = async {
            let (record, version) = self.versioned(team, id).await?;
            let (counted_at, counts) = (self.ids.next(), self.counts.of(&record).await?);
            let Counts { total: messages, unread } = counts;
            let changed =
                ChangedInbox { record, version, messages, unread, counted_at, state, marks };
            Ok::<_, Error>(changed)
        };
        // Who listens can read it, if this process cannot.
        let changed = changed.await.ok().map(Box::new);
        self.announce(id, LiveEvent::InboxUpdated { changed }).await;
    }

    async fn announce(&self, inbox: InboxId, event: LiveEvent) {
        announce(&*self.bus, inbox, event).await;
    }

    /// The address that an inbox has.
    pub(crate) fn address(&self, inbox: &records::Inbox) -> String {
        format!("{}@{}", inbox.username, self.settings.mail_domain)
    }

    /// An inbox as its announcement has it.
    pub(crate) fn present_changed(&self, changed: &ChangedInbox) -> Result<Inbox> {
        let counts = Counts { total: changed.messages, unread: changed.unread };
        self.present(&changed.record, counts)
    }

    fn present(&self, inbox: &records::Inbox, counts: Counts) -> Result<Inbox> {
        let password = self.secrets.open(&password_context(&inbox.username), &inbox.password)?;
        Ok(Inbox {
            id: inbox.id,
            name: inbox.name.clone(),
            project_id: inbox.project,
            max_messages: inbox.max_messages,
            expires_at: inbox.expires_at,
            created_at: inbox.created_at,
            message_count: counts.total,
            unread_count: counts.unread,
            smtp: SmtpAccess {
                host: self.settings.smtp_host.clone(),
                port: self.settings.smtp_port,
                tls_port: self.settings.smtp_tls_port,
                username: inbox.username.clone(),
                password,
            },
            address: self.address(inbox),
        })
    }
}

/// The task that removes a disposable inbox at its end.
fn expiry(inbox: &records::Inbox, due: Time) -> Result<Op> {
    let records::Inbox { id, team, username, .. } = inbox;
    let task = TaskKind::ExpireInbox { team: *team, inbox: *id, username: username.clone() };
    Ok(MaintenanceTask::new(due, id.to_string(), task).planned()?)
}
