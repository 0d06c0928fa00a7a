//! What teams ask of people.

use trapline_model::{PersonId, TeamId};
use trapline_store::{
    Scan, load,
    records::{Membership, Session},
};

use super::People;
use crate::Result;

/// Members that are counted; no plan is asked about more.
const MAX_MEMBERS: usize = 100_000;

impl People {
    /// Whoever has this address, which is folded.
    pub(crate) async fn with_address(&self, email: &str) -> Result<Option<PersonId>> {
        Ok(self.person_of(email).await?.map(|(person, _)| person.id))
    }

    /// Whether the plan of a team lets one more join.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when it does not, and when the store does not
    /// answer.
    pub(crate) async fn check_room(&self, team: TeamId) -> Result<()> {
        let keys = Scan { keys_only: true, ..Membership::of_team(team, MAX_MEMBERS) };
        let members = self.store.scan(keys).await?.len();
        self.plans.check_members(team, u64::try_from(members).unwrap_or(u64::MAX)).await
    }

    /// Looks again at what a person is to a team: at once in this process, within 5 seconds in others.
    pub(crate) fn forget_role(&self, team: TeamId, person: PersonId) {
        self.known.forget_role(team, person);
    }

    /// Ends the sessions of a person that act for a team.
    pub(crate) async fn end_sessions_of(&self, person: PersonId, team: TeamId) -> Result<()> {
        for listed in self.listed_sessions(person).await? {
            let found = load::<Session>(&*self.store, &Session::row(&listed.sha256)).await?;
            if found.is_some_and(|(session, _)| session.team == Some(team)) {
                self.end(&listed).await?;
            }
        }
        Ok(())
    }
}
