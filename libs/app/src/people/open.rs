//! A server at which nobody signs in: whoever reaches it acts as the owner of its first team.

use trapline_model::{PersonId, TeamId};

use super::{People, SignedIn, Visitor, rows::NewPerson};
use crate::{Error, Result, Unauthenticated, mail::EmailAddress};

impl People {
    /// Whether people sign in here. Else [`People::anyone`] says who asks.
    #[must_use]
    pub fn wants_sign_in(&self) -> bool {
        self.settings.sign_in
    }

    /// Whoever sends a request without a key or a session to a server at which nobody signs in: the
    /// person who took over the first team, in the role that they have in it now.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`] where people sign in, and where that person has left the team.
    pub async fn anyone(&self, visitor: &Visitor) -> Result<SignedIn> {
        let missing = || Error::Unauthenticated(Unauthenticated::Missing);
        if self.wants_sign_in() {
            return Err(missing());
        }
        let (team, person) = *self.owner.get_or_try_init(|| self.take_over(visitor)).await?;
        let role = self.role(team, person).await?.ok_or_else(missing)?;
        Ok(SignedIn::without_session(person, visitor.address).acting_for(team, role))
    }

    /// The first team and its first owner, who is made where nobody has taken it over.
    async fn take_over(&self, visitor: &Visitor) -> Result<(TeamId, PersonId)> {
        let team = self.access.first_team().await?.ok_or(Error::NotFound)?;
        if let Some(person) = self.first_owner(team).await? {
            return Ok((team, person));
        }
        let email = EmailAddress::parse("email", &format!("owner@{}", self.settings.mail_domain))?;
        let known = self.person_of(&email.folded()).await?.map(|(person, _)| person);
        let name = "Owner".to_owned();
        let new = NewPerson { email: Some(email), name, password: None, verified_at: None };
        let person = self.person_or_new(known.as_ref(), new).await?;
        self.own_first_team(team, person, visitor).await?;
        Ok((team, person))
    }
}
