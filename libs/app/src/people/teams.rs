//! What teams ask of people.

use trapline_model::{PersonId, TeamId};

use super::People;
use crate::Result;

impl People {
    /// Whoever has this address, which is folded.
    pub(crate) async fn with_address(&self, email: &str) -> Result<Option<PersonId>> {
        Ok(self.person_of(email).await?.map(|(person, _)| person.id))
    }

    /// Looks again at what a person is to a team: at once in this process, within 5 seconds in others.
    pub(crate) fn forget_role(&self, team: TeamId, person: PersonId) {
        self.known.forget_role(team, person);
    }
}
