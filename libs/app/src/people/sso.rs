//! Single sign-on and sessions: which teams a session may act for, and sessions that begin by it.

use trapline_model::{PersonId, Role, TeamId};
use trapline_store::{
    load,
    records::{Membership, Sso},
};

use super::{
    NewSession, People, Visitor,
    rows::{NewPerson, name_of},
};
use crate::{Error, Result, SsoProblem, mail::EmailAddress};

/// The teams that a session may act for.
pub(super) struct Usable {
    /// By the age of the teams, oldest first.
    pub(super) memberships: Vec<Membership>,
    /// Whether the person is in another team, which enforces its single sign-on.
    pub(super) needs_sso: bool,
}

impl People {
    /// Whether a session may act for a team in which its person has this role. A session by a team's provider
    /// acts for that team alone, so that the provider leads to nothing else of its people. A team that
    /// enforces its single sign-on takes the password of its owner only, who can then mend its settings.
    pub(super) async fn may_act(
        &self,
        sso: Option<TeamId>,
        team: TeamId,
        role: Role,
    ) -> Result<bool> {
        match sso {
            Some(of) => Ok(of == team),
            None => Ok(role == Role::Owner || !self.enforces_sso(team).await?),
        }
    }

    /// Whether a team enforces its single sign-on, as it was at most 5 s ago.
    async fn enforces_sso(&self, team: TeamId) -> Result<bool> {
        if let Some(enforced) = self.known.enforces_sso(team) {
            return Ok(enforced);
        }
        let found = load::<Sso>(&*self.store, &Sso::row(team)).await?;
        let enforced = found.is_some_and(|(sso, _)| sso.enforced);
        self.known.keep_enforces_sso(team, enforced);
        Ok(enforced)
    }

    /// Forgets whether a team enforces its single sign-on: it is read anew at once in this process, and
    /// within 5 s in every other.
    pub(crate) fn forget_sso(&self, team: TeamId) {
        self.known.forget_enforces_sso(team);
    }

    /// The teams that a session of the person may act for.
    pub(super) async fn usable(&self, sso: Option<TeamId>, person: PersonId) -> Result<Usable> {
        let mut usable = Usable { memberships: Vec::new(), needs_sso: false };
        for membership in self.memberships(person).await? {
            if self.may_act(sso, membership.team, membership.role).await? {
                usable.memberships.push(membership);
            } else {
                usable.needs_sso |= sso.is_none();
            }
        }
        Ok(usable)
    }

    /// The person with an address that a team's provider vouches for, made if there is none. An account whose
    /// address nobody confirmed is refused unless it is in the team already: a stranger may have made it,
    /// to share it with the address's owner.
    ///
    /// # Errors
    ///
    /// [`SsoProblem::UnconfirmedAccount`] for such an account.
    pub(crate) async fn vouched_for(
        &self,
        team: TeamId,
        email: EmailAddress,
        name: &str,
    ) -> Result<PersonId> {
        if let Some((person, _)) = self.person_of(&email.folded()).await? {
            let is_trusted =
                person.verified_at.is_some() || self.role(team, person.id).await?.is_some();
            return if is_trusted {
                Ok(person.id)
            } else {
                Err(Error::Sso(SsoProblem::UnconfirmedAccount))
            };
        }
        // A name by the provider that is none here keeps nobody out.
        let name = name_of(name, email.as_str()).or_else(|_| name_of("", email.as_str()))?;
        let verified_at = Some(self.clock.now());
        let new = NewPerson { email: Some(email), name, password: None, verified_at };
        Ok(self.create_person(new).await?.id)
    }

    /// Begins a session that acts for the team whose provider sent its person.
    pub(crate) async fn begin_by_sso(
        &self,
        team: TeamId,
        person: PersonId,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        self.begin_via(Some(team), Some(team), person, visitor).await
    }
}
