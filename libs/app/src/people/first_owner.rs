//! The owner of the first team, who comes by a link of the first start, and may give an address later.

use std::time::Duration;

use trapline_model::{PersonId, Principal, Role, TeamId};
use trapline_store::{
    Op, When, load,
    records::{FirstOwner, Person},
};

use super::{
    LinkInput, NewSession, People, SignUp, SignedIn, Visitor,
    account::address_taken,
    links::not_its_password,
    origin::PasswordOrigin,
    passwords::check_new,
    rows::{NewPerson, name_of},
};
use crate::{Error, Result, mail::EmailAddress};

/// How long a claim to the first team holds before its person is a member: far longer than joining takes.
const CLAIM_TTL: Duration = Duration::from_mins(1);

impl People {
    /// Makes whoever uses the link of the first start the owner of the first team: the person with the address that
    /// they say, or that the link is for. Who says neither address nor password does so later.
    ///
    /// # Errors
    ///
    /// Those of [`People::use_link`].
    pub(super) async fn become_first_owner(
        &self,
        bound: Option<String>,
        input: &LinkInput,
        used: Op,
        visitor: &Visitor,
    ) -> Result<(TeamId, PersonId)> {
        if bound.is_none() && input.email.is_empty() && input.password.is_empty() {
            return self.become_owner_without_address(input, used, visitor).await;
        }
        let email = EmailAddress::parse("email", bound.as_deref().unwrap_or(&input.email))?;
        let name = name_of(&input.name, email.as_str())?;
        check_new(&input.password, &email.folded())?;
        let team = self.access.first_team().await?.ok_or(Error::NotFound)?;
        let known = self.person_of(&email.folded()).await?.map(|(person, _)| person);
        let origin = PasswordOrigin::of(visitor, known.as_ref());
        let hash = match &known {
            Some(Person { password: Some(hash), .. }) => {
                // The link leads to the team, and not to an account that is there already.
                if !self.passwords.verify(&input.password, Some(hash), origin).await? {
                    return Err(not_its_password());
                }
                None
            }
            _ => Some(self.passwords.hash(&input.password, origin).await?),
        };
        self.use_up(used).await?;
        let new = NewPerson {
            email: Some(email),
            name,
            password: hash,
            verified_at: Some(self.clock.now()),
        };
        let person = self.person_or_new(known.as_ref(), new).await?;
        self.own_first_team(team, person, visitor).await?;
        Ok((team, person))
    }

    /// Makes an owner who has only the session that begins by the link.
    async fn become_owner_without_address(
        &self,
        input: &LinkInput,
        used: Op,
        visitor: &Visitor,
    ) -> Result<(TeamId, PersonId)> {
        let name = name_of(&input.name, "")?;
        let team = self.access.first_team().await?.ok_or(Error::NotFound)?;
        self.use_up(used).await?;
        let new = NewPerson { email: None, name, password: None, verified_at: None };
        let person = self.create_person(new).await?.id;
        self.own_first_team(team, person, visitor).await?;
        Ok((team, person))
    }

    /// Makes a person the owner of the first team, which has none.
    pub(super) async fn own_first_team(
        &self,
        team: TeamId,
        person: PersonId,
        visitor: &Visitor,
    ) -> Result<()> {
        self.claim_first_team(team, person).await?;
        let by = Principal::of_person(team, person, Role::Owner).at(visitor.address);
        self.join(&by, person).await
    }

    /// Claims the first team. Of several links that are used at the same moment, one gets it.
    async fn claim_first_team(&self, team: TeamId, person: PersonId) -> Result<()> {
        let claimed_at = self.clock.now();
        let when = match load::<FirstOwner>(&*self.store, &FirstOwner::row()).await? {
            None => When::Absent,
            Some((claim, _)) if claim.person == person => return Ok(()),
            Some((claim, version)) => {
                let is_owned = self.first_owner(team).await?.is_some();
                // Its person may be about to join.
                if is_owned || claimed_at.since(claim.claimed_at) < CLAIM_TTL {
                    return Err(Error::NotFound);
                }
                When::Version(version)
            }
        };
        let claim = Op::put(&FirstOwner { person, claimed_at }, None, when)?;
        self.use_up(claim).await
    }

    /// Gives whoever came by the first link without them an address and a password, and their name if it is not
    /// empty. All sessions end, and a new one begins.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for an address, name or password that does not do, for an address that has an account,
    /// and for a person who has one; [`Error::TooMany`] after many tries.
    pub async fn set_up_account(
        &self,
        who: &SignedIn,
        form: &SignUp,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        self.take_of_address(visitor).await?;
        let (person, _) = self.person(who.person()).await?.ok_or(Error::NotFound)?;
        self.set_up(&person, form, None, visitor).await?;
        self.begin(person.id, visitor).await
    }

    /// The same for a person as read; `used` uses a link up that led to it.
    pub(super) async fn set_up(
        &self,
        person: &Person,
        form: &SignUp,
        used: Option<Op>,
        visitor: &Visitor,
    ) -> Result<()> {
        if !person.email.is_empty() {
            return Err(has_address());
        }
        let email = EmailAddress::parse("email", &form.email)?.folded();
        let given = if form.name.trim().is_empty() { &person.name } else { &form.name };
        let name = name_of(given, &email)?;
        check_new(&form.password, &email)?;
        let when = self.claim_condition(&email, person.id).await?.ok_or_else(address_taken)?;
        let origin = PasswordOrigin::of(visitor, Some(person));
        let hash = self.passwords.hash(&form.password, origin).await?;
        if let Some(used) = used {
            self.use_up(used).await?;
        }
        let asked = self.change(person.id, |row| {
            if row.email.is_empty() {
                row.next_email = Some(email.clone());
            }
        });
        if !asked.await?.email.is_empty() {
            return Err(has_address());
        }
        let now = self.clock.now();
        let change = |row: &mut Person| {
            row.name.clone_from(&name);
            row.password = Some(hash.clone());
            row.password_set_at = Some(now);
            // They came by a link of the operator, which confirms the address that is given there too.
            row.verified_at = Some(now);
        };
        self.move_to(person, &email, when, change, visitor).await
    }
}

fn has_address() -> Error {
    let message = "is there already, and is changed by a link to another one";
    Error::invalid("email", "set_already", message)
}
