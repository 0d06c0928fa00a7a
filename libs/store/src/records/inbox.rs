//! Projects, inboxes, and how mail finds an inbox.

mod list;

use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, ProjectId, TeamId, Time};
use uuid::Uuid;

use super::{of_team, single, text, uuid};
use crate::{Key, Record, RowOwner, Table, Value, Writes};

use list::INBOX_ENTRY;
pub use list::InboxEntry;

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[PROJECT, INBOX, INBOX_ENTRY, LOGIN, INBOX_STATE];

const PROJECT: &Table = &Table {
    name: "project",
    partition: &[uuid("team_id")],
    sort: &[uuid("project_id")],
    owner: RowOwner::Team,
    about: "A project, under which inboxes are grouped.",
    ..Table::PLAIN
};

const INBOX: &Table = &Table {
    name: "inbox_by_id",
    partition: &[uuid("inbox_id")],
    writes: Writes::Guarded,
    about: "An inbox; its password is sealed. It alone says whether there is one.",
    ..Table::PLAIN
};

const LOGIN: &Table = &Table {
    name: "login",
    partition: &[text("username")],
    about: "Which inbox an SMTP user name belongs to.",
    ..Table::PLAIN
};

const INBOX_STATE: &Table = &Table {
    name: "inbox_state",
    partition: &[uuid("inbox_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Inbox,
    about: "What holds for all messages of an inbox at once: up to where they are read.",
    ..Table::PLAIN
};

/// A project.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Project {
    /// The project's id.
    pub id: ProjectId,
    /// The team it belongs to.
    pub team: TeamId,
    /// The name that people gave it, of at most 100 characters.
    pub name: String,
    /// The time of creation.
    pub created_at: Time,
}

impl Project {
    /// The project's row.
    #[must_use]
    pub fn row(team: TeamId, id: ProjectId) -> Key {
        of_team(PROJECT, team, id.0)
    }
}

impl Record for Project {
    const TABLE: &'static Table = PROJECT;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// An inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbox {
    /// The inbox's id.
    pub id: InboxId,
    /// The team it belongs to.
    pub team: TeamId,
    /// The name that people gave it, of at most 100 characters.
    pub name: String,
    /// The project it is grouped under.
    pub project: Option<ProjectId>,
    /// The most messages it keeps.
    pub max_messages: u32,
    /// When a disposable inbox is gone.
    pub expires_at: Option<Time>,
    /// The time of creation.
    pub created_at: Time,
    /// The SMTP user name, unique in the installation.
    pub username: String,
    /// The SMTP password, sealed.
    pub password: String,
}

impl Inbox {
    /// The inbox's row. Whoever reads it for a team must look whether it is that team's.
    #[must_use]
    pub fn row(id: InboxId) -> Key {
        single(INBOX, Value::Uuid(id.0))
    }

    /// Whether a disposable inbox is past its time.
    #[must_use]
    pub fn expired(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

impl Record for Inbox {
    const TABLE: &'static Table = INBOX;
    fn key(&self) -> Key {
        Self::row(self.id)
    }
}

/// Finds an inbox by its SMTP user name. It never changes, and may be there without its inbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Login {
    /// The SMTP user name.
    pub username: String,
    /// The inbox.
    pub inbox: InboxId,
}

impl Login {
    /// The login of an inbox.
    #[must_use]
    pub fn of(inbox: &Inbox) -> Self {
        Self { username: inbox.username.clone(), inbox: inbox.id }
    }

    /// The row of a user name.
    #[must_use]
    pub fn row(username: &str) -> Key {
        single(LOGIN, Value::Text(username.to_owned()))
    }
}

impl Record for Login {
    const TABLE: &'static Table = LOGIN;
    fn key(&self) -> Key {
        Self::row(&self.username)
    }
}

/// What holds for all messages of an inbox at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxState {
    /// The inbox.
    pub inbox: InboxId,
    /// Messages up to this one are read, unless a later mark says otherwise.
    pub read_up_to: Uuid,
    /// A UUIDv7 of the moment in which that was said.
    pub at: Uuid,
}

impl InboxState {
    /// The inbox's row.
    #[must_use]
    pub fn row(inbox: InboxId) -> Key {
        single(INBOX_STATE, Value::Uuid(inbox.0))
    }
}

impl Record for InboxState {
    const TABLE: &'static Table = INBOX_STATE;
    fn key(&self) -> Key {
        Self::row(self.inbox)
    }
}
