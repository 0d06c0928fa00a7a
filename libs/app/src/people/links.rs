//! Links that work once. Opening one changes nothing, for mail scanners open every link; its page has a
//! button that does.

use std::time::Duration;

use trapline_model::{PersonId, Principal, Role, TeamId};
use trapline_store::{
    Op, PortError, When, load,
    records::{FirstOwner, LinkPurpose, OneTimeLink, Person},
};

use super::{
    NewSession, People, Visitor,
    passwords::check_new,
    rows::{NewPerson, name_of},
};
use crate::{
    Error, Result,
    mail::EmailAddress,
    secrets::{new_token, sha256_hex},
};

/// How long a claim to the first team holds whose person is no member yet: far longer than joining takes.
const CLAIM_HELD: Duration = Duration::from_mins(1);
/// How long a link works that an operator hands on.
const OPERATORS: Duration = Duration::from_hours(24);

/// What a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Makes the owner of the first team.
    FirstOwner,
    /// Lets somebody join a team.
    Invitation,
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
    /// Whose link it is; `None` is whoever opens it, who says so.
    pub email: Option<String>,
    /// Whether it makes a person, who may say a name.
    pub is_new: bool,
    /// The name of the team that it leads to, where somebody invites to one.
    pub team: Option<String>,
    /// Whether the password is the one that the person has; else it becomes that.
    pub has_password: bool,
    /// Whether it is the link of whoever is signed in there, who needs no password to join a team.
    pub is_own: bool,
}

impl LinkRequest {
    fn of(kind: LinkKind, email: Option<String>) -> Self {
        let is_new = kind == LinkKind::FirstOwner;
        Self { kind, email, is_new, team: None, has_password: false, is_own: false }
    }

    /// Whether it wants a password.
    #[must_use]
    pub fn wants_password(&self) -> bool {
        match self.kind {
            LinkKind::FirstOwner | LinkKind::Password => true,
            LinkKind::Invitation => !self.is_own,
            LinkKind::SignUp | LinkKind::Verify => false,
        }
    }
}

/// A link that was just made.
pub(crate) struct MadeLink {
    pub(crate) url: String,
    /// The SHA-256 of its token, in hex.
    pub(crate) sha256: String,
}

/// What whoever opens a link says.
#[derive(Debug, Clone, Default)]
pub struct LinkInput {
    /// The address, where the link does not know it.
    pub email: String,
    /// The name of a new person; empty is that of the address.
    pub name: String,
    /// The new password, where the link wants one.
    pub password: String,
}

impl People {
    /// Makes the link by which an operator lets somebody in: without an address the owner of the first
    /// team, who is made by it when there is none yet; else whoever has the address. It works once,
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
        self.new_link("link", purpose, OPERATORS).await
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

    /// The same, told with the hash under which it is kept.
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

    /// What a link asks. Nothing is changed by it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when it was used, is over or never was.
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
            LinkPurpose::Password { person } => (LinkKind::Password, person),
            LinkPurpose::Verify { person } => (LinkKind::Verify, person),
        };
        let (person, _) = self.person(person).await?.ok_or(Error::NotFound)?;
        Ok(LinkRequest::of(kind, Some(person.email)))
    }

    /// Does what a link is for, once, and signs in: into the team that it leads to, where there is one.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when it was used, is over or never was, and [`Error::Invalid`], which leaves
    /// the link as it was.
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
                return self.begin_in(Some(team), person, visitor).await;
            }
            LinkPurpose::FirstOwner { email } => {
                let (team, person) = self.become_first_owner(email, &input, used, visitor).await?;
                return self.begin_in(Some(team), person, visitor).await;
            }
            LinkPurpose::Password { person } => {
                let (row, _) = self.person(person).await?.ok_or(Error::NotFound)?;
                check_new(&input.password, &row.email)?;
                let hash = self.passwords.hash(&input.password).await?;
                self.use_up(used).await?;
                self.set_password(person, hash, true).await?;
                person
            }
            LinkPurpose::SignUp { email, name, password } => {
                let email = EmailAddress::parse("email", &email)?;
                self.use_up(used).await?;
                let (password, verified_at) = (Some(password), Some(self.clock.now()));
                let new = NewPerson { email, name, password, verified_at };
                self.create_account(new, visitor).await?
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

    /// The link, if it still works: a password that was set later ends those that would set another.
    async fn pending(&self, token: &str, visitor: &Visitor) -> Result<(OneTimeLink, i64)> {
        self.access.check_auth_attempts(visitor.address)?;
        let row = OneTimeLink::row(&sha256_hex(token));
        let found = load::<OneTimeLink>(&*self.store, &row).await?;
        let Some((link, version)) = found.filter(|(link, _)| link.expires_at > self.clock.now())
        else {
            self.access.record_auth_failure(visitor.address, "link");
            return Err(Error::NotFound);
        };
        if let LinkPurpose::Password { person } = &link.purpose {
            let person = self.person(*person).await?.map(|(person, _)| person);
            let set_at = person.ok_or(Error::NotFound)?.password_set_at;
            if set_at.is_some_and(|at| at > link.made_at) {
                return Err(Error::NotFound);
            }
        }
        Ok((link, version))
    }

    /// Uses a link up. Of two who come at once, one is too late.
    async fn use_up(&self, used: Op) -> Result<()> {
        match self.store.write(vec![used]).await {
            Err(PortError::Conflict) => Err(Error::NotFound),
            outcome => Ok(outcome?),
        }
    }

    async fn become_first_owner(
        &self,
        bound: Option<String>,
        input: &LinkInput,
        used: Op,
        visitor: &Visitor,
    ) -> Result<(TeamId, PersonId)> {
        let email = EmailAddress::parse("email", bound.as_deref().unwrap_or(&input.email))?;
        let name = name_of(&input.name, &email)?;
        check_new(&input.password, &email.folded())?;
        let team = self.access.first_team().await?.ok_or(Error::NotFound)?;
        let known = self.person_of(&email.folded()).await?.map(|(person, _)| person);
        let hash = match &known {
            Some(Person { password: Some(hash), .. }) => {
                // Whoever has a link to the team has none to the account.
                if !self.passwords.verify(&input.password, Some(hash)).await? {
                    let message = "is not the password of this address, which has one already";
                    return Err(Error::invalid("password", "wrong_password", message));
                }
                None
            }
            _ => Some(self.passwords.hash(&input.password).await?),
        };
        self.use_up(used).await?;
        let person = match known {
            Some(person) if hash.is_none() => person,
            Some(person) => self.set_first_password(person.id, hash.as_deref()).await?,
            None => {
                let verified_at = Some(self.clock.now());
                self.create_person(NewPerson { email, name, password: hash, verified_at }).await?
            }
        };
        self.claim_first_team(team, person.id).await?;
        let by = Principal::of_person(team, person.id, Role::Owner).at(visitor.address);
        self.join(&by, person.id).await?;
        Ok((team, person.id))
    }

    /// Of several links that are used at once, one leads to the team.
    pub(super) async fn claim_first_team(&self, team: TeamId, person: PersonId) -> Result<()> {
        let claimed_at = self.clock.now();
        let when = match load::<FirstOwner>(&*self.store, &FirstOwner::row()).await? {
            None => When::Absent,
            Some((claim, _)) if claim.person == person => return Ok(()),
            Some((claim, version)) => {
                let is_owned = self.first_owner(team).await?.is_some();
                // Whoever made it may be about to join.
                if is_owned || claimed_at.since(claim.claimed_at) < CLAIM_HELD {
                    return Err(Error::NotFound);
                }
                When::Version(version)
            }
        };
        let claim = Op::put(&FirstOwner { person, claimed_at }, None, when)?;
        self.use_up(claim).await
    }
}
