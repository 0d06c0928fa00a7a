//! Signing up, forgotten and changed passwords, and confirmed addresses.
//!
//! Answers to strangers are the same whether somebody has the address: only a mail tells.

use std::time::Duration;

use trapline_model::{PersonId, Principal, Role};
use trapline_store::{
    Rate,
    records::{LinkPurpose, Person},
};

use super::{
    NewSession, People, SignedIn, Visitor, notifications,
    passwords::check_new,
    rows::{NewPerson, name_of},
};
use crate::{Error, Forbidden, Result, mail::EmailAddress};

/// Mails of one kind to one person.
const MAILS: Rate = Rate { burst: 3, per: Duration::from_hours(1) };
/// How long a link works by which a new address is confirmed.
const CONFIRM: Duration = Duration::from_hours(24);
/// How long a link works by which a password is chosen.
const RESET: Duration = Duration::from_hours(1);
/// Letters of the name of a new person's team.
const TEAM_LETTERS: usize = 80;

/// Somebody who wants an account.
#[derive(Debug, Clone)]
pub struct SignUp {
    /// The address.
    pub email: String,
    /// The name; empty is that of the address.
    pub name: String,
    /// The password.
    pub password: String,
}

/// What became of a wish for an account.
#[derive(Debug)]
pub enum SignedUp {
    /// There is one, and somebody is signed in; no mail was sent.
    Now(NewSession),
    /// A mail was sent, whose link makes it, or tells that there is one already.
    MailSent,
}

impl People {
    /// Makes an account with a team of its own: at once where the service sends no mail, and else once
    /// its mail is answered.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] where nobody may sign up, [`Error::Invalid`], also for an address that
    /// somebody has where no mail can tell, and [`Error::TooMany`] after a few tries.
    pub async fn sign_up(&self, wish: &SignUp, visitor: &Visitor) -> Result<SignedUp> {
        if !self.settings.sign_up {
            return Err(Error::Forbidden(Forbidden::SignUpOff));
        }
        let email = EmailAddress::parse("email", &wish.email)?;
        let name = name_of(&wish.name, &email)?;
        check_new(&wish.password, &email.folded())?;
        self.take_of_address(visitor).await?;
        let with_mail = self.mail.is_enabled();
        if with_mail {
            self.take("sign-up", &email.owner(), MAILS).await?;
        }
        let hash = self.passwords.hash(&wish.password).await?;
        let known = self.person_of(&email.folded()).await?.map(|(person, _)| person);
        match known {
            Some(person) if with_mail => {
                let purpose = LinkPurpose::Password { person: person.id };
                let link = self.new_link("reset", purpose, RESET).await?;
                self.mail.send(email.as_str(), &notifications::known_already(&link)).await?;
                Ok(SignedUp::MailSent)
            }
            None if with_mail => {
                let purpose =
                    LinkPurpose::SignUp { email: email.as_str().to_owned(), name, password: hash };
                let link = self.new_link("verify", purpose, CONFIRM).await?;
                self.mail.send(email.as_str(), &notifications::sign_up(&link)).await?;
                Ok(SignedUp::MailSent)
            }
            Some(_) => Err(taken()),
            None => {
                let new = NewPerson { email, name, password: Some(hash), verified_at: None };
                let person = self.create_account(new, visitor).await?;
                Ok(SignedUp::Now(self.begin(person, visitor).await?))
            }
        }
    }

    /// Makes a person who owns a new team.
    pub(super) async fn create_account(
        &self,
        new: NewPerson,
        visitor: &Visitor,
    ) -> Result<PersonId> {
        let name: String = new.name.chars().take(TEAM_LETTERS).collect();
        let person = match self.create_person(new).await {
            Err(Error::Conflict) => return Err(taken()),
            person => person?,
        };
        let team = self.access.create_team(&format!("{name}'s team")).await?;
        let by = Principal::of_person(team, person.id, Role::Owner).at(visitor.address);
        self.join(&by, person.id).await?;
        Ok(person.id)
    }

    /// Sends a link by which whoever has the address chooses a new password, and tells whether this
    /// service sends mail at all. It tells nobody whether there is such a person.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for what is no address, and [`Error::TooMany`] after three in an hour.
    pub async fn reset_password(&self, email: &str, visitor: &Visitor) -> Result<bool> {
        let email = EmailAddress::parse("email", email)?;
        self.take_of_address(visitor).await?;
        if !self.mail.is_enabled() {
            return Ok(false);
        }
        self.take("reset", &email.owner(), MAILS).await?;
        if let Some((person, _)) = self.person_of(&email.folded()).await? {
            let purpose = LinkPurpose::Password { person: person.id };
            let link = self.new_link("reset", purpose, RESET).await?;
            self.mail.send(&person.email, &notifications::reset(&link)).await?;
        }
        Ok(true)
    }

    /// Sends a link by which somebody who is signed in confirms the address.
    ///
    /// # Errors
    ///
    /// [`Error::OutboundDisabled`] without a relay, and [`Error::TooMany`] after three in an hour.
    pub async fn verify_address(&self, who: &SignedIn) -> Result<()> {
        self.mail.identity()?;
        let (person, _) = self.person(who.person()).await?.ok_or(Error::NotFound)?;
        self.take("verify", &person.id.to_string(), MAILS).await?;
        let link =
            self.new_link("verify", LinkPurpose::Verify { person: person.id }, CONFIRM).await?;
        self.mail.send(&person.email, &notifications::verify(&link)).await
    }

    /// Changes the password of somebody who knows the one before. All sessions end, and a new one
    /// begins.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the one before is wrong or the new one does not do, and
    /// [`Error::TooMany`] after many tries.
    pub async fn change_password(
        &self,
        who: &SignedIn,
        current: &str,
        new: &str,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        let (person, _) = self.person(who.person()).await?.ok_or(Error::NotFound)?;
        check_new(new, &person.email)?;
        self.may_sign_in(&person.email, visitor).await?;
        if !self.passwords.verify(current, person.password.as_deref()).await? {
            return Err(Error::invalid("current", "wrong_password", "is not the password"));
        }
        let hash = self.passwords.hash(new).await?;
        self.set_password(person.id, hash, false).await?;
        if self.mail.is_enabled() {
            self.mail.send(&person.email, &notifications::changed()).await?;
        }
        self.begin(person.id, visitor).await
    }

    /// Sets the password of somebody who has none; links that would set another no longer work.
    pub(super) async fn set_first_password(
        &self,
        id: PersonId,
        hash: Option<&str>,
    ) -> Result<Person> {
        let now = self.clock.now();
        let set = |person: &mut Person| {
            person.password = hash.map(str::to_owned);
            person.password_set_at = Some(now);
        };
        self.change(id, set).await
    }

    /// Sets a password and ends all sessions; links to earlier ones no longer work.
    pub(super) async fn set_password(
        &self,
        id: PersonId,
        hash: String,
        is_verified: bool,
    ) -> Result<()> {
        let now = self.clock.now();
        self.change(id, |person: &mut Person| {
            person.password = Some(hash.clone());
            person.password_set_at = Some(now);
            if is_verified {
                person.verified_at.get_or_insert(now);
            }
        })
        .await?;
        self.end_all(id).await
    }
}

fn taken() -> Error {
    Error::invalid(
        "email",
        "taken",
        "is somebody's already: sign in, or ask the operator for a link",
    )
}
