//! Sessions of people, and links that work once.

use std::{net::IpAddr, time::Duration};

use serde::{Deserialize, Serialize};
use trapline_model::{InvitationId, PersonId, TeamId, Time};

use super::{single, text, uuid};
use crate::{Key, Record, Scan, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[SESSION, SESSION_OF_PERSON, ONE_TIME_LINK];

const SESSION: &Table = &Table {
    name: "session",
    partition: &[text("sha256")],
    writes: Writes::Guarded,
    about: "Who is signed in with a token, of which only the SHA-256 is kept.",
    ..Table::PLAIN
};

const SESSION_OF_PERSON: &Table = &Table {
    name: "session_of_person",
    partition: &[uuid("person_id")],
    sort: &[text("sha256")],
    about: "A person's sessions, so that they can be listed and ended.",
    ..Table::PLAIN
};

const ONE_TIME_LINK: &Table = &Table {
    name: "one_time_link",
    partition: &[text("sha256")],
    writes: Writes::Guarded,
    about: "What a link does that works once, under the SHA-256 of its token.",
    ..Table::PLAIN
};

/// One browser in which somebody is signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    /// SHA-256 of the token, in hex.
    pub sha256: String,
    /// Who is signed in.
    pub person: PersonId,
    /// The team that requests act for; `None` while the person is in no team.
    pub team: Option<TeamId>,
    /// The time of the sign-in.
    pub created_at: Time,
    /// The time of the last request, to the minute.
    pub last_seen_at: Time,
    /// Where it signed in from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The browser by its own words, of at most 256 characters.
    #[serde(default)]
    pub user_agent: String,
    /// The team whose identity provider sent the person, and for which alone the session acts; `None` is a
    /// password or a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sso: Option<TeamId>,
}

impl Session {
    /// Longest time between two requests of a session.
    pub const IDLE_TIMEOUT: Duration = Duration::from_hours(14 * 24);
    /// Longest time from the sign-in to the session's end.
    pub const MAX_AGE: Duration = Duration::from_hours(60 * 24);

    /// When the session ends without a further request.
    #[must_use]
    pub fn ends_at(&self) -> Time {
        self.last_seen_at.after(Self::IDLE_TIMEOUT).min(self.created_at.after(Self::MAX_AGE))
    }

    /// The row of a hash in hex.
    #[must_use]
    pub fn row(sha256: &str) -> Key {
        single(SESSION, Value::Text(sha256.to_owned()))
    }
}

impl Record for Session {
    const TABLE: &'static Table = SESSION;
    fn key(&self) -> Key {
        Self::row(&self.sha256)
    }
}

/// A session of a person. It is written before the [`Session`] and lives as long as one may at most.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionOfPerson {
    /// Who is signed in.
    pub person: PersonId,
    /// SHA-256 of the token, in hex.
    pub sha256: String,
    /// The time of the sign-in.
    pub created_at: Time,
}

impl SessionOfPerson {
    /// The person's sessions, at most `limit`.
    #[must_use]
    pub fn of_person(person: PersonId, limit: usize) -> Scan {
        let partition = vec![Value::Uuid(person.0)];
        let table = SESSION_OF_PERSON;
        Scan::of(table, partition, limit)
    }
}

impl Record for SessionOfPerson {
    const TABLE: &'static Table = SESSION_OF_PERSON;
    fn key(&self) -> Key {
        let (partition, sort) =
            (vec![Value::Uuid(self.person.0)], vec![Value::Text(self.sha256.clone())]);
        Key { table: SESSION_OF_PERSON, partition, sort }
    }
}

/// A link that works once: whoever removes its row, by the version that was read, has used it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneTimeLink {
    /// SHA-256 of the token, in hex.
    pub sha256: String,
    /// What it does.
    pub purpose: LinkPurpose,
    /// When it was made.
    pub made_at: Time,
    /// From when on it is refused.
    pub expires_at: Time,
}

/// What a link does that works once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkPurpose {
    /// Makes the first person, who owns the first team.
    FirstOwner {
        /// Who that is to be; `None` lets whoever opens it say.
        email: Option<String>,
    },
    /// Lets somebody join a team.
    Invitation {
        /// The team.
        team: TeamId,
        /// The invitation, which knows whether this is its last link.
        invitation: InvitationId,
    },
    /// Makes an account. What somebody said who signed up waits here until the address is confirmed.
    SignUp {
        /// The address.
        email: String,
        /// The name.
        name: String,
        /// The password's Argon2id hash as a PHC string.
        password: String,
    },
    /// Confirms a person's address.
    Verify {
        /// Whose.
        person: PersonId,
    },
    /// Gives a person another address, ends the person's sessions and begins one.
    NewAddress {
        /// Whose it becomes.
        person: PersonId,
        /// The address as it is compared.
        email: String,
        /// Whether a mail to that address has the link, so that whoever uses it reads mail there.
        is_mailed: bool,
    },
    /// Sets a person's password, ends the person's sessions and begins one.
    Password {
        /// Whose.
        person: PersonId,
    },
}

impl OneTimeLink {
    /// The row of a hash in hex.
    #[must_use]
    pub fn row(sha256: &str) -> Key {
        single(ONE_TIME_LINK, Value::Text(sha256.to_owned()))
    }
}

impl Record for OneTimeLink {
    const TABLE: &'static Table = ONE_TIME_LINK;
    fn key(&self) -> Key {
        Self::row(&self.sha256)
    }
}
