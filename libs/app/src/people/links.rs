//! Links that work once. Opening one changes nothing, as mail scanners open every link; the button of its
//! page does.

use std::time::Duration;

use trapline_model::{TeamId, Time};
use trapline_store::{
    Op, PortError, When, load,
    records::{LinkPurpose, OneTimeLink},
};

use super::{
    NewSession, People, SignUp, Visitor, addresses::NewAddress, origin::PasswordOrigin,
    passwords::check_new, rows::NewPerson,
};
use crate::{
    Error, Result,
    mail::EmailAddress,
    secrets::{new_token, sha256_hex},
};

/// How long a link of the operator works.
const OPERATOR_LINK_TTL: Duration = Duration::from_hours(24);

/// What a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Makes the owner of the first team.
    FirstOwner,
    /// Lets somebody join a team.
    Invitation,
    /// Gives an account another address.
    NewAddress,
    /// Sets a new password.
    Password,
    /// Makes the account that somebody signed up for.
    SignUp,
    /// Confirms the address of an account.
    Verify,
}

/// What a link asks of whoever opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRequest {
    /// What it is for.
    pub kind: LinkKind,
    /// The mail address that the link is for; with `None` whoever opens it gives one.
    pub email: Option<String>,
    /// Whether it makes a person, who may give a name.
    pub is_new: bool,
    /// The name of the team, for an invitation.
    pub team: Option<String>,
    /// Whether it asks for the password that the person has; else for a new one.
    pub has_password: bool,
    /// Whether the person is signed in where the link is opened, and needs no password to join a team or to
    /// get another address.
    pub is_own: bool,
}

impl LinkRequest {
    fn of(kind: LinkKind, email: Option<String>) -> Self {
        let is_new = kind == LinkKind::FirstOwner;
        Self { kind, email, is_new, team: None, has_password: false, is_own: false }
    }

    /// Whether address, name and password may all be left out, and given later.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.kind == LinkKind::FirstOwner && self.email.is_none()
    }

    /// Whether it asks for a password.
    #[must_use]
    pub fn wants_password(&self) -> bool {
        match self.kind {
            LinkKind::FirstOwner | LinkKind::Password => true,
            LinkKind::Invitation | LinkKind::NewAddress => !self.is_own,
            LinkKind::SignUp | LinkKind::Verify => false,
        }
    }
}

/// A new link.
pub(crate) struct MadeLink {
    pub(crate) url: String,
    /// The SHA-256 of its token, in hex.
    pub(crate) sha256: String,
}

/// The form of whoever uses a link.
#[derive(Debug, Clone, Default)]
pub struct LinkInput {
    /// The mail address, where the link has none.
    pub email: String,
    /// The name of a new person; empty is the part of the address before the `@`.
    pub name: String,
    /// The password, where the link asks for one.
    pub password: String,
}

impl People {
    /// Makes the link by which an operator lets somebody in: without an address the owner of the first
    /// team, which it makes when there is none yet; else the person with the address. It works once,
    /// within 24 hours.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when nobody has the address and the first team has an owner.
    pub async fn operators_link(&self, first_team: TeamId, email: Option<&str>) -> Result<String> {
        let email = email.map(|email| EmailAddress::parse("email", email)).transpose()?;
        let owner = self.first_owner(first_team).await?;
        let person = match &email {
            Some(email) => self.person_of(&email.folded()).await?.map(|(person, _)| person.id),
            None => owner,
        };
        let purpose = match (person, owner) {
            (Some(person), _) => LinkPurpose::Password { person },
            (None, None) => LinkPurpose::FirstOwner { email: email.map(|email| email.folded()) },
            (None, Some(_)) => return Err(Error::NotFound),
        };
        self.new_link("link", purpose, OPERATOR_LINK_TTL).await
    }

    /// Makes a link to a page of that name.
    pub(super) async fn new_link(
        &self,
        page: &str,
        purpose: LinkPurpose,
        lifetime: Duration,
    ) -> Result<String> {
        Ok(self.make_link(page, purpose, lifetime).await?.url)
    }

    /// As [`People::new_link`]; the hash under which the link is stored comes with it.
    pub(crate) async fn make_link(
        &self,
        page: &str,
        purpose: LinkPurpose,
        lifetime: Duration,
    ) -> Result<MadeLink> {
        let token = new_token();
        let made_at = self.clock.now();
        let (sha256, expires_at) = (sha256_hex(&token), made_at.after(lifetime));
        let link = OneTimeLink { sha256, purpose, made_at, expires_at };
        self.store.write(vec![Op::put(&link, Some(lifetime), When::Absent)?]).await?;
        let url = format!("{}/{page}?token={token}", self.settings.base_url);
        Ok(MadeLink { url, sha256: link.sha256 })
    }

    /// What a link asks for. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when it was used, has expired or never existed, and [`Error::TooMany`] for an
    /// address that failed too often.
    pub async fn link(&self, token: &str, visitor: &Visitor) -> Result<LinkRequest> {
        let (link, _) = self.pending(token, visitor).await?;
        let (kind, person) = match link.purpose {
            LinkPurpose::FirstOwner { email } => {
                return Ok(LinkRequest::of(LinkKind::FirstOwner, email));
            }
            LinkPurpose::Invitation { team, invitation } => {
                let known = self.invitation(team, invitation, &link.sha256).await?;
                return self.invitation_request(known.0, visitor).await;
            }
            LinkPurpose::SignUp { email, .. } => {
                return Ok(LinkRequest::of(LinkKind::SignUp, Some(email)));
            }
            LinkPurpose::NewAddress { person, email, .. } => {
                let is_own = visitor.person == Some(person);
                let request = LinkRequest::of(LinkKind::NewAddress, Some(email));
                return Ok(LinkRequest { has_password: true, is_own, ..request });
            }
            LinkPurpose::Password { person } => (LinkKind::Password, person),
            LinkPurpose::Verify { person } => (LinkKind::Verify, person),
        };
        let (person, _) = self.person(person).await?.ok_or(Error::NotFound)?;
        let email = Some(person.email).filter(|email| !email.is_empty());
        Ok(LinkRequest::of(kind, email))
    }

    /// Does what a link is for, once, and begins a session; for the team that it leads to, if any.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when it was used, has expired or never existed, [`Error::Invalid`], which leaves
    /// the link as it was, and [`Error::TooMany`] for an address that failed too often.
    pub async fn use_link(
        &self,
        token: &str,
        input: LinkInput,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        let (link, version) = self.pending(token, visitor).await?;
        let used = Op::Delete { key: OneTimeLink::row(&link.sha256), when: When::Version(version) };
        let person = match link.purpose.clone() {
            LinkPurpose::Invitation { team, invitation } => {
                let known = self.invitation(team, invitation, &link.sha256).await?;
                let person = self.accept(known, &input, used, visitor).await?;
                return self.begin_in(team, person, visitor).await;
            }
            LinkPurpose::FirstOwner { email } => {
                let (team, person) = self.become_first_owner(email, &input, used, visitor).await?;
                return self.begin_in(team, person, visitor).await;
            }
            LinkPurpose::Password { person } => {
                let (row, _) = self.person(person).await?.ok_or(Error::NotFound)?;
                if row.email.is_empty() {
                    self.set_up(&row, &SignUp::from(input), Some(used), visitor).await?;
                    return self.begin(person, visitor).await;
                }
                check_new(&input.password, &row.email)?;
                let origin = PasswordOrigin::of(visitor, Some(&row));
                let hash = self.passwords.hash(&input.password, origin).await?;
                self.use_up(used).await?;
                self.set_password(person, hash, true).await?;
                person
            }
            LinkPurpose::SignUp { email, name, password } => {
                let email = EmailAddress::parse("email", &email)?;
                self.use_up(used).await?;
                let (password, verified_at) = (Some(password), Some(self.clock.now()));
                let new = NewPerson { email: Some(email), name, password, verified_at };
                self.create_account(new, visitor).await?
            }
            LinkPurpose::NewAddress { person, email, is_mailed } => {
                let new = NewAddress { person, email, is_verified: is_mailed };
                self.take_address(&new, &input, used, visitor).await?;
                person
            }
            LinkPurpose::Verify { person } => {
                self.use_up(used).await?;
                let now = self.clock.now();
                self.change(person, |row| {
                    row.verified_at.get_or_insert(now);
                })
                .await?;
                person
            }
        };
        self.begin(person, visitor).await
    }

    /// The link, if it still works.
    async fn pending(&self, token: &str, visitor: &Visitor) -> Result<(OneTimeLink, i64)> {
        self.access.check_auth_attempts(visitor.address)?;
        let row = OneTimeLink::row(&sha256_hex(token));
        let found = load::<OneTimeLink>(&*self.store, &row).await?;
        let Some((link, version)) = found.filter(|(link, _)| link.expires_at > self.clock.now())
        else {
            self.access.record_auth_failure(visitor.address, "link");
            return Err(Error::NotFound);
        };
        if self.is_outdated(&link).await? { Err(Error::NotFound) } else { Ok((link, version)) }
    }

    /// Whether what its person changed later ends a link: a new password ends those that set one or another
    /// address, a new address those that were sent to the one before or make another one.
    async fn is_outdated(&self, link: &OneTimeLink) -> Result<bool> {
        let (id, ends_by_password, email) = match &link.purpose {
            LinkPurpose::Password { person } => (person, true, None),
            LinkPurpose::NewAddress { person, email, .. } => (person, true, Some(email)),
            LinkPurpose::Verify { person } => (person, false, None),
            _ => return Ok(false),
        };
        let (person, _) = self.person(*id).await?.ok_or(Error::NotFound)?;
        let is_after = |at: Option<Time>| at.is_some_and(|at| at > link.made_at);
        Ok(ends_by_password && is_after(person.password_set_at)
            || is_after(person.email_changed_at)
            || email.is_some_and(|email| person.next_email.as_ref() != Some(email)))
    }

    /// Uses a link up. Of two uses at the same moment, one finds it used.
    pub(super) async fn use_up(&self, used: Op) -> Result<()> {
        match self.store.write(vec![used]).await {
            Err(PortError::Conflict) => Err(Error::NotFound),
            outcome => Ok(outcome?),
        }
    }
}

/// The error of an address whose account has another password.
pub(super) fn not_its_password() -> Error {
    let message = "is not the password of this address, which has one already";
    Error::invalid("password", "wrong_password", message)
}
