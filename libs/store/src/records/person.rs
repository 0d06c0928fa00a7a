//! People, and what they are to teams.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use trapline_model::{PersonId, Role, TeamId, Time};

use super::{of_team, single, team_scan, text, uuid};
use crate::{Key, Record, RowOwner, Scan, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] =
    &[PERSON, PERSON_BY_EMAIL, MEMBERSHIP, TEAM_OF_PERSON, FIRST_OWNER];

const PERSON: &Table = &Table {
    name: "person",
    partition: &[uuid("person_id")],
    writes: Writes::Guarded,
    about: "Somebody who signs in. Of the password only its Argon2id hash is kept.",
    ..Table::PLAIN
};

const PERSON_BY_EMAIL: &Table = &Table {
    name: "person_by_email",
    partition: &[text("email")],
    writes: Writes::Guarded,
    about: "Whose a mail address is.",
    ..Table::PLAIN
};

const MEMBERSHIP: &Table = &Table {
    name: "membership",
    partition: &[uuid("team_id")],
    sort: &[uuid("person_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "A person's role in a team.",
    ..Table::PLAIN
};

const TEAM_OF_PERSON: &Table = &Table {
    name: "team_of_person",
    partition: &[uuid("person_id")],
    sort: &[uuid("team_id")],
    about: "The teams that a person may be in; the membership says whether.",
    ..Table::PLAIN
};

const FIRST_OWNER: &Table = &Table {
    name: "first_owner",
    partition: &[text("name")],
    writes: Writes::Guarded,
    about: "Who took over the first team; it is in the hands of no second one.",
    ..Table::PLAIN
};

/// Somebody who signs in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Person {
    /// The person's id.
    pub id: PersonId,
    /// The address as it is compared: trimmed and in lower case.
    pub email: String,
    /// The address in the same form that the person asked for, and that they get by its link; a claim of it
    /// holds meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_email: Option<String>,
    /// When the address was changed; `None` where it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_changed_at: Option<Time>,
    /// The name that others see, of at most 100 characters.
    pub name: String,
    /// The password's Argon2id hash as a PHC string; `None` while no password is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// When the password was set; `None` where it never was again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_set_at: Option<Time>,
    /// When the address was shown to be the person's own; `None` is not yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<Time>,
    /// The networks that the person signed in from, the newest last, of which there are at most 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_in_from: Vec<IpAddr>,
    /// The time of creation.
    pub created_at: Time,
}

impl Person {
    /// The person's row.
    #[must_use]
    pub fn row(id: PersonId) -> Key {
        single(PERSON, Value::Uuid(id.0))
    }
}

impl Record for Person {
    const TABLE: &'static Table = PERSON;
    fn key(&self) -> Key {
        Self::row(self.id)
    }
}

/// Finds a person by address. It is written only if absent, or in place of one that does not hold, which keeps
/// addresses unique. It holds while its person has the address, or is about to get it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PersonByEmail {
    /// The address as it is compared.
    pub email: String,
    /// Whose it is.
    pub person: PersonId,
}

impl PersonByEmail {
    /// The row of an address, which is in the form that is compared.
    #[must_use]
    pub fn row(email: &str) -> Key {
        single(PERSON_BY_EMAIL, Value::Text(email.to_owned()))
    }
}

impl Record for PersonByEmail {
    const TABLE: &'static Table = PERSON_BY_EMAIL;
    fn key(&self) -> Key {
        Self::row(&self.email)
    }
}

/// What a person is to a team.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Membership {
    /// The team.
    pub team: TeamId,
    /// The person.
    pub person: PersonId,
    /// What the person may decide about.
    pub role: Role,
    /// Since when.
    pub joined_at: Time,
}

impl Membership {
    /// The row of a person in a team.
    #[must_use]
    pub fn row(team: TeamId, person: PersonId) -> Key {
        of_team(MEMBERSHIP, team, person.0)
    }

    /// The team's people, at most `limit`.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(MEMBERSHIP, team, limit)
    }
}

impl Record for Membership {
    const TABLE: &'static Table = MEMBERSHIP;
    fn key(&self) -> Key {
        Self::row(self.team, self.person)
    }
}

/// A team that a person may be in. It is written before the [`Membership`] and removed after it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TeamOfPerson {
    /// The person.
    pub person: PersonId,
    /// The team.
    pub team: TeamId,
}

impl TeamOfPerson {
    /// The teams of a person, at most `limit`.
    #[must_use]
    pub fn of_person(person: PersonId, limit: usize) -> Scan {
        let partition = vec![Value::Uuid(person.0)];
        Scan::of(TEAM_OF_PERSON, partition, limit)
    }
}

impl Record for TeamOfPerson {
    const TABLE: &'static Table = TEAM_OF_PERSON;
    fn key(&self) -> Key {
        let (partition, sort) = (vec![Value::Uuid(self.person.0)], vec![Value::Uuid(self.team.0)]);
        Key { table: TEAM_OF_PERSON, partition, sort }
    }
}

/// Who took over the first team. The claim comes before the membership: one of somebody who is no member
/// is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FirstOwner {
    /// The first owner.
    pub person: PersonId,
    /// When the claim was made.
    pub claimed_at: Time,
}

impl FirstOwner {
    /// The row, of which there is one.
    #[must_use]
    pub fn row() -> Key {
        single(FIRST_OWNER, Value::Text("first_owner".to_owned()))
    }
}

impl Record for FirstOwner {
    const TABLE: &'static Table = FIRST_OWNER;
    fn key(&self) -> Key {
        Self::row()
    }
}
