//! Signing in with an address and a password.

use trapline_store::Rate;

use super::{
    NewSession, People, Visitor, a_minute, origin::PasswordOrigin, passwords::is_outdated,
};
use crate::{Error, Forbidden, Result, Unauthenticated, metrics};

/// Tries for one account from one address. Another address has its own, so that nobody can lock the
/// account's owner out.
const ACCOUNT_RATE: Rate = a_minute(5);

impl People {
    /// Signs in by mail address and password.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`] when they are not right, in the same words and after the same time
    /// whether anybody has the address, [`Error::Forbidden`] when all teams of the person want their
    /// single sign-on, and [`Error::TooMany`] after many tries.
    pub async fn sign_in(
        &self,
        email: &str,
        password: &str,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        let email = email.trim().to_ascii_lowercase();
        self.may_sign_in(&email, visitor).await.inspect_err(|_| metrics::auth_failed("limited"))?;
        let found = self.person_of(&email).await?;
        let hash = found.as_ref().and_then(|(person, _)| person.password.as_deref());
        let origin = PasswordOrigin::of(visitor, found.as_ref().map(|(person, _)| person));
        let is_right = self.passwords.verify(password, hash, origin).await?;
        let Some((person, _)) = found.filter(|_| is_right) else {
            metrics::auth_failed("password");
            return Err(Error::Unauthenticated(Unauthenticated::WrongPassword));
        };
        if person.password.as_deref().is_some_and(is_outdated) {
            let hash = self.passwords.hash(password, origin).await?;
            let known = person.password;
            self.change(person.id, |row| {
                if row.password == known {
                    row.password = Some(hash.clone());
                }
            })
            .await?;
        }
        let usable = self.usable(None, person.id).await?;
        if usable.memberships.is_empty() && usable.needs_sso {
            return Err(Error::Forbidden(Forbidden::SsoRequired));
        }
        self.begin(person.id, visitor).await
    }

    /// Takes one try of the client's address, and one of the account from that address.
    pub(super) async fn may_sign_in(&self, email: &str, visitor: &Visitor) -> Result<()> {
        self.take_of_address(visitor).await?;
        if self.settings.sign_in_rate.is_some() {
            self.take("sign-in", &format!("{email}|{}", address(visitor)), ACCOUNT_RATE).await?;
        }
        Ok(())
    }

    /// Takes one try of the client's address.
    pub(crate) async fn take_of_address(&self, visitor: &Visitor) -> Result<()> {
        match self.settings.sign_in_rate {
            Some(rate) => self.take("sign-in-address", &address(visitor), rate).await,
            None => Ok(()),
        }
    }
}

fn address(visitor: &Visitor) -> String {
    visitor.address.map_or_else(String::new, |address| address.to_string())
}
