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
    LinkInput, NewSession, People, SignedIn, Visitor, notifications,
    origin::PasswordOrigin,
    passwords::check_new,
    rows::{NewPerson, name_of},
};
use crate::{Error, Forbidden, Result, mail::EmailAddress};

/// Mails of one kind to one address.
pub(super) const MAIL_RATE: Rate = Rate { burst: 3, per: Duration::from_hours(1) };
/// How long the link of a confirmation works.
pub(super) const CONFIRMATION_TTL: Duration = Duration::from_hours(24);
/// How long the link of a password reset works.
const RESET_TTL: Duration = Duration::from_hours(1);
/// Characters of a person's name in the name of their first team.
const TEAM_NAME_CHARS: usize = 80;

/// The form of somebody who wants an account.
#[derive(Debug, Clone)]
pub struct SignUp {
    /// The mail address, unchecked.
    pub email: String,
    /// The name, of at most 100 characters; empty is the part of the address before the `@`.
    pub name: String,
    /// The password, of 10 to 256 characters.
    pub password: String,
}

impl From<LinkInput> for SignUp {
    fn from(LinkInput { email, name, password }: LinkInput) -> Self {
        Self { email, name, password }
    }
}

/// The outcome of a sign-up.
#[derive(Debug)]
pub enum SignedUp {
    /// The account was made, and its person is signed in. No mail was sent.
    Now(NewSession),
    /// A mail was sent: its link makes the account, or it tells that the address has one.
    MailSent,
}

impl People {
    /// Signs somebody up: makes an account with a team of its own, at once where the service sends no
    /// mail, and else when the link of its mail is used.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] where nobody may sign up, [`Error::Invalid`] for an address, name or password
    /// that does not do and, where the service sends no mail, for an address that has an account, and
    /// [`Error::TooMany`] after a few tries.
    pub async fn sign_up(&self, form: &SignUp, visitor: &Visitor) -> Result<SignedUp> {
        if !self.settings.sign_up {
            return Err(Error::Forbidden(Forbidden::SignUpOff));
        }
        let email = EmailAddress::parse("email", &form.email)?;
        let name = name_of(&form.name, email.as_str())?;
        check_new(&form.password, &email.folded())?;
        self.take_of_address(visitor).await?;
        if !self.mail.is_enabled() {
            let password =
                Some(self.passwords.hash(&form.password, PasswordOrigin::of(visitor, None)).await?);
            let new = NewPerson { email: Some(email), name, password, verified_at: None };
            let person = self.create_account(new, visitor).await?;
            return Ok(SignedUp::Now(self.begin(person, visitor).await?));
        }
        self.take("sign-up", &email.owner(), MAIL_RATE).await?;
        // Made for an address with an account too, so that both answers take as long.
        let password =
            self.passwords.hash(&form.password, PasswordOrigin::of(visitor, None)).await?;
        self.mail_sign_up(&email, name, password).await?;
        Ok(SignedUp::MailSent)
    }

    /// Sends the link that makes an account, or, where the address has one, that resets its password.
    async fn mail_sign_up(
        &self,
        email: &EmailAddress,
        name: String,
        password: String,
    ) -> Result<()> {
        let mail = if let Some((person, _)) = self.person_of(&email.folded()).await? {
            let purpose = LinkPurpose::Password { person: person.id };
            notifications::known_already(&self.new_link("reset", purpose, RESET_TTL).await?)
        } else {
            let purpose = LinkPurpose::SignUp { email: email.as_str().to_owned(), name, password };
            notifications::sign_up(&self.new_link("verify", purpose, CONFIRMATION_TTL).await?)
        };
        self.mail.send(email.as_str(), &mail).await
    }

    /// Makes a person who owns a new team.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the address has an account.
    pub(super) async fn create_account(
        &self,
        new: NewPerson,
        visitor: &Visitor,
    ) -> Result<PersonId> {
        let name: String = new.name.chars().take(TEAM_NAME_CHARS).collect();
        let person = match self.create_person(new).await {
            Err(Error::Conflict) => return Err(address_taken()),
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
        self.take("reset", &email.owner(), MAIL_RATE).await?;
        if let Some((person, _)) = self.person_of(&email.folded()).await? {
            let purpose = LinkPurpose::Password { person: person.id };
            let link = self.new_link("reset", purpose, RESET_TTL).await?;
            self.mail.send(&person.email, &notifications::reset(&link)).await?;
        }
        Ok(true)
    }

    /// Sends a link by which somebody who is signed in confirms the address.
    ///
    /// # Errors
    ///
    /// [`Error::OutboundDisabled`] without a relay, [`Error::Invalid`] for an owner who has given no address, and
    /// [`Error::TooMany`] after three in an hour.
    pub async fn verify_address(&self, who: &SignedIn) -> Result<()> {
        self.mail.identity()?;
        let (person, _) = self.person(who.person()).await?.ok_or(Error::NotFound)?;
        if person.email.is_empty() {
            return Err(Error::invalid("email", "no_address", "is not there yet: set one first"));
        }
        self.take("verify", &person.id.to_string(), MAIL_RATE).await?;
        let link = self
            .new_link("verify", LinkPurpose::Verify { person: person.id }, CONFIRMATION_TTL)
            .await?;
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
        let (known, origin) =
            (person.password.as_deref(), PasswordOrigin::of(visitor, Some(&person)));
        if !self.passwords.verify(current, known, origin).await? {
            return Err(Error::invalid("current", "wrong_password", "is not the password"));
        }
        let hash = self.passwords.hash(new, origin).await?;
        self.set_password(person.id, hash, false).await?;
        if self.mail.is_enabled() {
            self.mail.send(&person.email, &notifications::changed()).await?;
        }
        self.begin(person.id, visitor).await
    }

    /// The person who is known, with the password as their first one if there is one; else a new person.
    pub(super) async fn person_or_new(
        &self,
        known: Option<&Person>,
        new: NewPerson,
    ) -> Result<PersonId> {
        match (known, new.password) {
            (Some(known), None) => Ok(known.id),
            (Some(known), Some(hash)) => {
                let now = self.clock.now();
                self.change(known.id, |person: &mut Person| {
                    person.password = Some(hash.clone());
                    person.password_set_at = Some(now);
                })
                .await?;
                Ok(known.id)
            }
            (None, password) => Ok(self.create_person(NewPerson { password, ..new }).await?.id),
        }
    }

    /// Sets a password and ends all sessions; earlier links that set one no longer work.
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

/// The error of an address that has an account.
pub(super) fn address_taken() -> Error {
    Error::invalid(
        "email",
        "taken",
        "is somebody's already: sign in, or ask the operator for a link",
    )
}
