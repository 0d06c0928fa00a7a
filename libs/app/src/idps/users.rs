//! Test users of providers.

mod edit;
mod subjects;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Map, Value};
use trapline_model::{IdpId, IdpUser, IdpUserId, InboxId, Principal, TeamId};
use trapline_store::{load_all, records::IdpUserRecord};

use super::{
    Idps,
    checks::{Issues, check_claims, check_email, check_subject},
    settings::check_name,
};
use crate::Result;

/// The most users of one provider.
pub(super) const MAX_USERS: usize = 1_000;
const MAX_GROUPS: usize = 200;
/// Characters of a group's name.
const MAX_GROUP: usize = 256;
/// Inboxes that are looked up at the same time.
const MAX_CONCURRENT_LOOKUPS: usize = 8;

/// What a new test user is to be.
#[derive(Debug, Clone)]
pub struct NewIdpUser {
    /// The mail address.
    pub email: String,
    /// The full name.
    pub name: String,
    /// The names of the user's groups.
    pub groups: Vec<String>,
    /// More claims.
    pub claims: Map<String, Value>,
    /// What tokens call the user; the user's id when `None`.
    pub subject: Option<String>,
}

/// What is to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct IdpUserChange {
    /// The mail address.
    pub email: Option<String>,
    /// The full name.
    pub name: Option<String>,
    /// The names of all of the user's groups.
    pub groups: Option<Vec<String>>,
    /// All of the user's claims.
    pub claims: Option<Map<String, Value>>,
    /// What tokens call the user.
    pub subject: Option<String>,
}

impl IdpUserChange {
    fn check(&self) -> Result<()> {
        let mut issues = Issues::default();
        if let Some(email) = &self.email {
            issues.note("email", check_email(email));
        }
        if let Some(name) = &self.name {
            issues.note("name", check_name(name));
        }
        if let Some(groups) = &self.groups {
            check_groups(groups, &mut issues);
        }
        if let Some(claims) = &self.claims {
            check_claims(claims, &mut issues);
        }
        if let Some(subject) = &self.subject {
            issues.note("subject", check_subject(subject));
        }
        issues.done()
    }

    fn apply(self, user: &mut IdpUserRecord) {
        user.email = self.email.unwrap_or_else(|| std::mem::take(&mut user.email));
        user.name = self.name.unwrap_or_else(|| std::mem::take(&mut user.name));
        user.groups = self.groups.unwrap_or_else(|| std::mem::take(&mut user.groups));
        user.claims = self.claims.unwrap_or_else(|| std::mem::take(&mut user.claims));
        user.subject = self.subject.unwrap_or_else(|| std::mem::take(&mut user.subject));
    }
}

fn check_groups(groups: &[String], issues: &mut Issues) {
    if groups.len() > MAX_GROUPS {
        issues.add("groups", "too_long", format!("must have at most {MAX_GROUPS} items"));
    }
    for (place, group) in groups.iter().enumerate().take(MAX_GROUPS) {
        if group.is_empty() || group.chars().count() > MAX_GROUP {
            let message = format!("must have 1 to {MAX_GROUP} characters");
            issues.add(&format!("groups[{place}]"), "invalid_value", message);
        }
    }
}

impl Idps {
    /// A provider's users, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the team has no such provider, and when the store
    /// does not answer.
    pub async fn users(&self, by: &Principal, idp: IdpId) -> Result<Vec<IdpUser>> {
        self.load_record(by.team, idp).await?;
        let users = self.user_records(idp).await?;
        let shown = users.into_iter().map(|user| self.present_user(by.team, user));
        stream::iter(shown).buffered(MAX_CONCURRENT_LOOKUPS).try_collect().await
    }

    pub(super) async fn user_records(&self, idp: IdpId) -> Result<Vec<IdpUserRecord>> {
        Ok(load_all(&*self.store, IdpUserRecord::of_idp(idp, MAX_USERS)).await?)
    }

    async fn present_user(&self, team: TeamId, user: IdpUserRecord) -> Result<IdpUser> {
        Ok(IdpUser {
            inbox_id: self.inbox_of(team, &user.email).await?,
            id: user.id,
            email: user.email,
            name: user.name,
            groups: user.groups,
            claims: user.claims,
            subject: user.subject,
            created_at: user.created_at,
            updated_at: user.updated_at,
        })
    }

    /// The team's inbox that a mail address leads to.
    async fn inbox_of(&self, team: TeamId, email: &str) -> Result<Option<InboxId>> {
        let found = self.access.target_of_address(email).await?.and_then(Result::ok);
        Ok(found.filter(|target| target.0.team == team).map(|target| target.inbox()))
    }

    fn new_user(&self, idp: IdpId, new: NewIdpUser) -> IdpUserRecord {
        let id = IdpUserId(self.ids.next());
        let now = self.clock.now();
        IdpUserRecord {
            idp,
            id,
            email: new.email,
            name: new.name,
            groups: new.groups,
            claims: new.claims,
            subject: new.subject.unwrap_or_else(|| id.to_string()),
            created_at: now,
            updated_at: now,
        }
    }
}
