//! Addresses of people: whose one is, and how somebody gets another one.
//!
//! The row of an address says whose it is, and is written on a condition, so that an address is one person's
//! ([ADR 24](../../../../docs/adr/0024-changed-addresses.md)).

use trapline_model::PersonId;
use trapline_store::{
    Op, PortError, When, load,
    records::{LinkPurpose, Person, PersonByEmail},
};

use super::{
    People, SignedIn, Visitor,
    account::{CONFIRMATION_TTL, MAIL_RATE, address_taken},
    links::LinkInput,
    notifications,
    origin::PasswordOrigin,
};
use crate::{AuditAction, Error, Result, mail::EmailAddress};

/// An address that somebody is to get.
pub(super) struct NewAddress {
    pub(super) person: PersonId,
    /// The address as it is compared.
    pub(super) email: String,
    /// Whether whoever uses its link has shown that they read mail there.
    pub(super) is_verified: bool,
}

impl People {
    /// Sends a link to an address, by which it becomes that of whoever is signed in. Returns the link where this
    /// service sends no mail. It tells nobody whether somebody has the address: only the mail to it does. A later
    /// one ends this one.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for what is no address, for the person's own, and for a wrong password, and
    /// [`Error::TooMany`] after many tries and after three mails in an hour.
    pub async fn ask_new_address(
        &self,
        who: &SignedIn,
        email: &str,
        password: &str,
        visitor: &Visitor,
    ) -> Result<Option<String>> {
        let email = EmailAddress::parse("email", email)?;
        let (person, _) = self.person(who.person()).await?.ok_or(Error::NotFound)?;
        if email.folded() == person.email {
            return Err(Error::invalid("email", "unchanged", "is your address already"));
        }
        self.check_password(&person, password, visitor).await?;
        let is_mailed = self.mail.is_enabled();
        if is_mailed {
            self.take("new-address-by", &person.id.to_string(), MAIL_RATE).await?;
            self.take("new-address", &email.owner(), MAIL_RATE).await?;
        }
        self.change(person.id, |row| row.next_email = Some(email.folded())).await?;
        // Made for a taken address too, so that both answers take as long.
        let purpose =
            LinkPurpose::NewAddress { person: person.id, email: email.folded(), is_mailed };
        let link = self.new_link("verify", purpose, CONFIRMATION_TTL).await?;
        if !is_mailed {
            return Ok(Some(link));
        }
        let mail = match self.person_of(&email.folded()).await? {
            Some(_) => notifications::taken_already(),
            None => notifications::new_address(&link),
        };
        self.mail.send(email.as_str(), &mail).await?;
        Ok(None)
    }

    /// Checks the password that somebody says is theirs.
    async fn check_password(
        &self,
        person: &Person,
        password: &str,
        visitor: &Visitor,
    ) -> Result<()> {
        self.may_sign_in(&person.email, visitor).await?;
        let origin = PasswordOrigin::of(visitor, Some(person));
        let Some(hash) = person.password.as_deref() else {
            let message =
                "is needed, and you have none yet: choose one by the link for a forgotten one";
            return Err(Error::invalid("password", "no_password", message));
        };
        if self.passwords.verify(password, Some(hash), origin).await? {
            return Ok(());
        }
        Err(Error::invalid("password", "wrong_password", "is not your password"))
    }

    /// Gives somebody the address of a link, ends their sessions, and tells the address before. Whoever uses the
    /// link is signed in as that person or has the password: whoever reads a mail that was sent to a
    /// mistyped address has neither.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a wrong password and, as [`People::create_account`], for an address that has an
    /// account; the link works on. [`Error::NotFound`] when it was used at the same moment.
    pub(super) async fn take_address(
        &self,
        new: &NewAddress,
        input: &LinkInput,
        used: Op,
        visitor: &Visitor,
    ) -> Result<()> {
        let (person, _) = self.person(new.person).await?.ok_or(Error::NotFound)?;
        if visitor.person != Some(person.id) {
            self.check_password(&person, &input.password, visitor).await?;
        }
        let when = self.claim_condition(&new.email, person.id).await?.ok_or_else(address_taken)?;
        self.use_up(used).await?;
        let now = self.clock.now();
        let change = |row: &mut Person| {
            row.email_changed_at = Some(now);
            row.verified_at = new.is_verified.then_some(now);
        };
        self.move_to(&person, &new.email, when, change, visitor).await?;
        self.leave_address(&person).await;
        Ok(())
    }

    /// Claims an address for somebody who asked for it, writes it into their row with what else changes, and ends
    /// their sessions.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when somebody else was faster, and [`Error::NotFound`] when the person asked for another
    /// one meanwhile.
    pub(super) async fn move_to(
        &self,
        person: &Person,
        email: &str,
        when: When,
        change: impl Fn(&mut Person),
        visitor: &Visitor,
    ) -> Result<()> {
        match self.claim(email, person.id, when).await {
            Err(Error::Conflict) => return Err(address_taken()),
            claimed => claimed?,
        }
        let (address, action) = (visitor.address, AuditAction::MemberAddressChanged);
        self.tell_teams(person.id, address, action, &person.name).await?;
        let moved = self.change(person.id, |row| {
            if row.next_email.as_deref() == Some(email) {
                email.clone_into(&mut row.email);
                row.next_email = None;
                change(row);
            }
        });
        if moved.await?.email != email {
            return Err(Error::NotFound);
        }
        self.end_all(person.id).await
    }

    /// Writes that an address, which is folded, is a person's.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] where the condition does not hold.
    pub(super) async fn claim(&self, email: &str, person: PersonId, when: When) -> Result<()> {
        let claim = PersonByEmail { email: email.to_owned(), person };
        Ok(self.store.write(vec![Op::put(&claim, None, when)?]).await?)
    }

    /// Gives the address free that somebody had, and tells it. The change holds without that: an address that
    /// is nobody's can be claimed, and a mail is no more than a notice.
    async fn leave_address(&self, before: &Person) {
        let left = async {
            let row = PersonByEmail::row(&before.email);
            let found = load::<PersonByEmail>(&*self.store, &row).await?;
            if let Some((_, version)) = found.filter(|(claim, _)| claim.person == before.id) {
                let delete = Op::Delete { key: row, when: When::Version(version) };
                match self.store.write(vec![delete]).await {
                    // Somebody else has claimed it.
                    Err(PortError::Conflict) => {}
                    outcome => outcome?,
                }
            }
            if self.mail.is_enabled() {
                self.mail.send(&before.email, &notifications::address_changed()).await?;
            }
            Ok::<_, Error>(())
        };
        if let Err(error) = left.await {
            tracing::warn!(%error, "an address that somebody had was not told of the new one");
        }
    }

    /// The condition on which a person may claim an address, which is folded; `None` when it is somebody
    /// else's. A claim is over whose person is not there, or neither has the address nor is about to get it: a
    /// process may have ended in the middle of a change.
    pub(super) async fn claim_condition(&self, email: &str, id: PersonId) -> Result<Option<When>> {
        let row = PersonByEmail::row(email);
        let Some((claim, version)) = load::<PersonByEmail>(&*self.store, &row).await? else {
            return Ok(Some(When::Absent));
        };
        let holder = self.person(claim.person).await?.map(|(person, _)| person);
        let is_held = holder.is_some_and(|person| {
            person.id != id
                && (person.email == email || person.next_email.as_deref() == Some(email))
        });
        Ok((!is_held).then_some(When::Version(version)))
    }
}
