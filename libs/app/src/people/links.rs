//! Links that work once. Opening one changes nothing, for mail scanners open every link; its page has a
//! button that does.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
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
    secrets::{random, sha256_hex},
};

/// Bytes of a token.
const TOKEN_BYTES: usize = 32;
/// How long a claim to the first team holds whose person is no member yet: far longer than joining takes.
const CLAIM_HELD: Duration = Duration::from_mins(1);
/// How long a link works that an operator hands on.
const OPERATORS: Duration = Duration::from_hours(24);

/// What a link asks of whoever opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRequest {
    /// Whose link it is; `None` is whoever opens it, who says so.
    pub email: Option<String>,
    /// Whether it makes a person, who may have a name.
    pub is_new: bool,
    /// The name of the team that it leads to, where somebody invites to one.
    pub team: Option<String>,
    /// Whether the password is the one that the person has; else it becomes that.
    pub has_password: bool,
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
    /// The new password.
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
        life: Duration,
    ) -> Result<String> {
        Ok(self.make_link(page, purpose, life).await?.url)
    }

    /// The same, told with the hash under which it is kept.
    pub(crate) async fn make_link(
        &self,
        page: &str,
        purpose: LinkPurpose,
        life: Duration,
    ) -> Result<MadeLink> {
        let token = BASE64URL_NOPAD.encode(&random::<TOKEN_BYTES>());
        let link = OneTimeLink {
            sha256: sha256_hex(&token),
            purpose,
            expires_at: self.clock.now().after(life),
        };
        self.store.write(vec![Op::put(&link, Some(life), When::Absent)?]).await?;
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
        Ok(match link.purpose {
            LinkPurpose::FirstOwner { email } => {
                LinkRequest { email, is_new: true, team: None, has_password: false }
            }
            LinkPurpose::Invitation { team, invitation } => {
                self.invitation_request(team, invitation, &link.sha256).await?
            }
            LinkPurpose::Password { person } => {
                let (person, _) = self.person(person).await?.ok_or(Error::NotFound)?;
                let email = Some(person.email);
                LinkRequest { email, is_new: false, team: None, has_password: false }
            }
        })
    }

    /// Does what a link is for, once, and signs in.
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
                self.accept(known, &input, used, visitor).await?
            }
            LinkPurpose::FirstOwner { email } => {
                self.become_first_owner(email, &input, used, visitor).await?
            }
            LinkPurpose::Password { person } => {
                self.set_password(person, &input.password, used).await?
            }
        };
        self.begin(person, visitor).await
    }

    /// The link, if it still works.
    async fn pending(&self, token: &str, visitor: &Visitor) -> Result<(OneTimeLink, i64)> {
        self.access.may_try(visitor.address)?;
        let row = OneTimeLink::row(&sha256_hex(token));
        let found = load::<OneTimeLink>(&*self.store, &row).await?;
        let works = found.filter(|(link, _)| link.expires_at > self.clock.now());
        if works.is_none() {
            self.access.tried_in_vain(visitor.address, "link");
        }
        works.ok_or(Error::NotFound)
    }

    /// Uses a link up. Of two who come at once, one is too late.
    async fn use_up(&self, used: Op) -> Result<()> {
        match self.store.write(vec![used]).await {
            Err(PortError::Conflict) => Err(Error::NotFound),
            outcome => Ok(outcome?),
        }
    }

    async fn set_password(&self, id: PersonId, password: &str, used: Op) -> Result<PersonId> {
        let (person, _) = self.person(id).await?.ok_or(Error::NotFound)?;
        check_new(password, &person.email)?;
        let (hash, now) = (self.passwords.hash(password).await?, self.clock.now());
        self.use_up(used).await?;
        self.change(id, |person: &mut Person| {
            person.password = Some(hash.clone());
            person.verified_at.get_or_insert(now);
        })
        .await?;
        self.end_all(id).await?;
        Ok(id)
    }

    async fn become_first_owner(
        &self,
        bound: Option<String>,
        input: &LinkInput,
        used: Op,
        visitor: &Visitor,
    ) -> Result<PersonId> {
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
            Some(person) => self.change(person.id, |row| row.password.clone_from(&hash)).await?,
            None => {
                let verified_at = Some(self.clock.now());
                self.create_person(NewPerson { email, name, password: hash, verified_at }).await?
            }
        };
        self.claim_first_team(team, person.id).await?;
        let by = Principal::of_person(team, person.id, Role::Owner).at(visitor.address);
        self.join(&by, person.id).await?;
        Ok(person.id)
    }

    /// Of several links that are used at once, one leads to the team.
    async fn claim_first_team(&self, team: TeamId, person: PersonId) -> Result<()> {
        let claimed_at = self.clock.now();
        let when = match load::<FirstOwner>(&*self.store, &FirstOwner::row()).await? {
            None => When::Absent,
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
