//! What single sign-on of teams means for sessions: which teams one may act for, and those that begin by it.

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
    /// Whether the person is in another one, which wants its own sign-in.
    pub(super) needs_sso: bool,
}

impl People {
    /// Whether a session may act for a team in which its person has this role. A provider speaks for its
    /// own team alone, so that nobody comes by it to what else its people have. A team that enforces its
    /// provider takes passwords of nobody but its owner, who can then mend the provider's settings.
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

    /// As of the last 5 seconds.
    async fn enforces_sso(&self, team: TeamId) -> Result<bool> {
        if let Some(enforced) = self.known.enforces_sso(team) {
            return Ok(enforced);
        }
        let found = load::<Sso>(&*self.store, &Sso::row(team)).await?;
        let enforced = found.is_some_and(|(sso, _)| sso.enforced);
        self.known.keep_enforces_sso(team, enforced);
        Ok(enforced)
    }

    /// Looks again at what a team enforces: at once in this process, within 5 seconds in others.
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

    /// Whoever has an address for which a team's provider speaks, who may be new. An account whose owner
    /// never confirmed the address may be somebody else's, who waits for the real one to come, unless
    /// the team knows it already.
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
        // What the provider calls somebody may be no name here; nobody is kept out for that.
        let name = name_of(name, &email).or_else(|_| name_of("", &email))?;
        let verified_at = Some(self.clock.now());
        let new = NewPerson { email, name, password: None, verified_at };
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
