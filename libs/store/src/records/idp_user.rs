//! Test users of mock identity providers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use trapline_model::{IdpId, IdpUserId, Time};

use super::{text, uuid};
use crate::{Key, Record, RowOwner, Scan, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[IDP_USER, IDP_SUBJECT];

const IDP_USER: &Table = &Table {
    name: "idp_user",
    partition: &[uuid("idp_id")],
    sort: &[uuid("user_id")],
    owner: RowOwner::Idp,
    about: "A test user of a mock identity provider.",
    ..Table::PLAIN
};

const IDP_SUBJECT: &Table = &Table {
    name: "idp_subject",
    partition: &[uuid("idp_id")],
    sort: &[text("subject")],
    writes: Writes::Guarded,
    owner: RowOwner::Idp,
    about: "Which test user a subject is.",
    ..Table::PLAIN
};

/// A test user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpUserRecord {
    /// The provider.
    pub idp: IdpId,
    /// The user's id.
    pub id: IdpUserId,
    /// The mail address.
    pub email: String,
    /// The full name.
    pub name: String,
    /// The names of the user's groups.
    pub groups: Vec<String>,
    /// More claims.
    pub claims: Map<String, Json>,
    /// What tokens call the user.
    pub subject: String,
    /// The time of creation.
    pub created_at: Time,
    /// The time of the last change.
    pub updated_at: Time,
}

impl IdpUserRecord {
    /// The user's row.
    #[must_use]
    pub fn row(idp: IdpId, id: IdpUserId) -> Key {
        let (partition, sort) = (vec![Value::Uuid(idp.0)], vec![Value::Uuid(id.0)]);
        Key { table: IDP_USER, partition, sort }
    }

    /// A provider's users, oldest first.
    #[must_use]
    pub fn of_idp(idp: IdpId, limit: usize) -> Scan {
        Scan::of(IDP_USER, vec![Value::Uuid(idp.0)], limit)
    }
}

impl Record for IdpUserRecord {
    const TABLE: &'static Table = IDP_USER;
    fn key(&self) -> Key {
        Self::row(self.idp, self.id)
    }
}

/// That a subject is a user's. It is written before the user, and may be there without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpSubject {
    /// The provider.
    pub idp: IdpId,
    /// The subject.
    pub subject: String,
    /// Whose it is.
    pub user: IdpUserId,
    /// When it was claimed.
    pub claimed_at: Time,
}

impl IdpSubject {
    /// The row of a subject.
    #[must_use]
    pub fn row(idp: IdpId, subject: &str) -> Key {
        let (partition, sort) = (vec![Value::Uuid(idp.0)], vec![Value::Text(subject.to_owned())]);
        Key { table: IDP_SUBJECT, partition, sort }
    }

    /// The subjects of a provider.
    #[must_use]
    pub fn of_idp(idp: IdpId, limit: usize) -> Scan {
        Scan::of(IDP_SUBJECT, vec![Value::Uuid(idp.0)], limit)
    }
}

impl Record for IdpSubject {
    const TABLE: &'static Table = IDP_SUBJECT;
    fn key(&self) -> Key {
        Self::row(self.idp, &self.subject)
    }
}
