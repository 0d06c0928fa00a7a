//! Inboxes: made, listed, changed, removed.

mod list;
mod rows;

use std::time::Duration;

use trapline_model::{Inbox, InboxId, Principal, ProjectId, SmtpAccess, TeamId, Time};
use trapline_store::{
    ChangedInbox, LiveEvent, Op, Verdict,
    records::{self, InboxState, MaintenanceTask, Task},
};

use crate::{
    App, Error, Result,
    counts::Counts,
    housekeeping,
    receive::tell,
    secrets::{BASE62, USERNAME, random_text},
};

pub(crate) use list::ListRange;
pub use list::{InboxPage, InboxQuery};
pub(crate) use rows::{READS_AT_ONCE, life};

const DEFAULT_MAX_MESSAGES: u32 = 1_000;
const USERNAME_LETTERS: usize = 12;
const PASSWORD_LETTERS: usize = 24;

/// What a new inbox is to be; names and bounds are checked at the edge.
#[derive(Debug, Clone)]
pub struct NewInbox {
    /// For people.
    pub name: String,
    /// The most messages it keeps, 1 to 10,000.
    pub max_messages: u32,
    /// The project it is grouped under.
    pub project: Option<ProjectId>,
    /// The life of a disposable inbox.
    pub life: Option<Duration>,
}

impl NewInbox {
    /// A lasting inbox with the default bound.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            max_messages: DEFAULT_MAX_MESSAGES,
            project: None,
            life: None,
        }
    }
}

/// What is to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct InboxChange {
    /// For people.
    pub name: Option<String>,
    /// The most messages it keeps, 1 to 10,000.
    pub max_messages: Option<u32>,
    /// The project it is grouped under; `Some(None)` takes it out of its project.
    pub project: Option<Option<ProjectId>>,
    /// The life of a disposable inbox from now on; `Some(None)` makes it a lasting one.
    pub life: Option<Option<Duration>>,
}

impl App {
    /// One inbox with its counts.
    pub async fn inbox(&self, by: &Principal, id: InboxId) -> Result<Inbox> {
        let team = by.team;
        let inbox = self.inbox_record(team, id).await?;
        let counts = self.counts(&inbox).await?;
        self.present(&inbox, counts)
    }

    /// Makes an inbox with its own SMTP credentials.
    pub async fn create_inbox(&self, by: &Principal, new: NewInbox) -> Result<Inbox> {
        let team = by.team;
        self.room_for_more().await?;
        self.check_project(team, new.project).await?;
        self.meter_inboxes(team).await?;
        let now = self.now();
        let username = random_text(USERNAME_LETTERS, USERNAME);
        let inbox = records::Inbox {
            id: InboxId(self.ids.next()),
            team,
            name: new.name,
            project: new.project,
            max_messages: new.max_messages,
            expires_at: new.life.map(|life| now.after(life)),
            created_at: now,
            password: self.new_password(&username)?,
            username,
        };
        let chore = inbox.expires_at.map(|due| expiry(&inbox, due)).transpose()?;
        self.write_new(&inbox, chore).await?;
        self.retention.created(inbox.id);
        self.present(&inbox, Counts::default())
    }

    /// Takes one from the team's allowance of new inboxes.
    async fn meter_inboxes(&self, team: TeamId) -> Result<()> {
        let Some(rate) = self.settings.inbox_rate else { return Ok(()) };
        match self.take_if_answered(&format!("inboxes:{team}"), rate).await {
            Some(Verdict::Limited { retry_after }) => {
                Err(Error::TooManyInboxes { most: rate.burst, retry_after })
            }
            Some(Verdict::Allowed { .. }) | None => Ok(()),
        }
    }

    /// Changes an inbox. A lower bound takes effect at once, and so does another end.
    pub async fn update_inbox(
        &self,
        by: &Principal,
        id: InboxId,
        change: InboxChange,
    ) -> Result<Inbox> {
        let team = by.team;
        self.check_project(team, change.project.flatten()).await?;
        let ends = change.life.map(|life| life.map(|life| self.now().after(life)));
        if let Some(Some(due)) = ends {
            // First the chore: without a new end it finds that its time has not come.
            let chore = expiry(&self.inbox_record(team, id).await?, due)?;
            self.ports.store.write(vec![chore]).await?;
        }
        let inbox = self
            .edit_inbox(team, id, |inbox| {
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
        self.announce_change(team, id, None).await;
        let counts = self.counts(&inbox).await?;
        self.present(&inbox, counts)
    }

    /// Replaces the SMTP password; the old one stops working.
    pub async fn rotate_password(&self, by: &Principal, id: InboxId) -> Result<Inbox> {
        let team = by.team;
        let username = self.inbox_record(team, id).await?.username;
        let password = self.new_password(&username)?;
        let inbox = self.edit_inbox(team, id, |inbox| inbox.password.clone_from(&password)).await?;
        self.announce_change(team, id, None).await;
        let counts = self.counts(&inbox).await?;
        self.present(&inbox, counts)
    }

    /// Removes an inbox at once, and what it holds soon after.
    pub async fn delete_inbox(&self, by: &Principal, id: InboxId) -> Result<()> {
        let team = by.team;
        let inbox = match self.inbox_record(team, id).await {
            Err(Error::NotFound) => {
                // A removal that was cut off may have left it in the list.
                self.remove_leftovers(team, id, None).await?;
                return Err(Error::NotFound);
            }
            found => found?,
        };
        // First the job, so that a crash in between leaves no messages without an inbox: the job
        // waits until the inbox is gone.
        housekeeping::schedule_purge(self, &inbox).await?;
        let removed = self.remove_inbox_rows(team, id).await;
        // Where it is not known what was removed, nobody may rely on what was there.
        self.login_changed(&inbox.username).await;
        removed?;
        self.remove_rule(team, id).await?;
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
        self.secrets.seal(&seal_context(username), &random_text(PASSWORD_LETTERS, BASE62))
    }

    /// Tells who listens; whoever misses it reads the store again.
    pub(crate) async fn announce(&self, inbox: InboxId, event: LiveEvent) {
        tell(&*self.ports.bus, inbox, event).await;
    }

    /// Tells who listens what an inbox is now that it was changed.
    pub(crate) async fn announce_change(
        &self,
        team: TeamId,
        id: InboxId,
        state: Option<InboxState>,
    ) {
        let changed = async {
            let (record, version) = self.versioned_inbox(team, id).await?;
            let (counted_at, counts) = (self.ids.next(), self.counts(&record).await?);
            let Counts { total: messages, unread } = counts;
            Ok::<_, Error>(ChangedInbox { record, version, messages, unread, counted_at, state })
        };
        // Who listens can read it, if this process cannot.
        let changed = changed.await.ok().map(Box::new);
        self.announce(id, LiveEvent::InboxUpdated { changed }).await;
    }

    fn address(&self, inbox: &records::Inbox) -> String {
        format!("{}@{}", inbox.username, self.settings.mail_domain)
    }

    pub(crate) fn present(&self, inbox: &records::Inbox, counts: Counts) -> Result<Inbox> {
        let password = self.secrets.open(&seal_context(&inbox.username), &inbox.password)?;
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
    let task = Task::ExpireInbox { team: *team, inbox: *id, username: username.clone() };
    Ok(MaintenanceTask::new(due, id.to_string(), task).planned()?)
}

/// What an SMTP password is sealed for.
pub(crate) fn seal_context(username: &str) -> String {
    format!("smtp:{username}")
}

/// What is left of a disposable inbox's life.
pub(crate) fn remaining(expires_at: Option<Time>, now: Time) -> Option<Duration> {
    expires_at.map(|at| at.since(now))
}
