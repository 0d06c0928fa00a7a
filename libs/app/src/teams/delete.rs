//! The end of a team: it is marked, from which moment on it is there for nobody, and a job removes what it
//! had.

use std::time::Duration;

use trapline_model::{Principal, Role};
use trapline_store::{Op, When};

use super::{Teams, need, target_of};
use crate::{AuditAction, Error, Forbidden, Result, jobs::team_removal};

/// Longer than a process may rely on what it knows of a team.
const CACHES_OVER: Duration = Duration::from_secs(10);

impl Teams {
    /// Deletes the team with everything in it. `name` is the team's, said once more. It is there for nobody
    /// from then on, at once in this process and within 5 seconds in every other; what it had is removed
    /// within a day. Its audit log stays for the operator.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for whoever is not the owner, and for the installation's first team, to which
    /// mail for unknown addresses goes and an operator's links lead; [`Error::Invalid`] for another name; and
    /// [`Error::Conflict`] when somebody changed the team at the same moment.
    pub async fn delete(&self, by: &Principal, name: &str) -> Result<()> {
        need(by, Role::Owner)?;
        let (mut team, version) = self.team(by).await?;
        if self.access.first_team().await? == Some(team.id) {
            return Err(Error::Forbidden(Forbidden::FirstTeam));
        }
        if team.name != name {
            let message = "must be the name of the team, letter by letter";
            return Err(Error::invalid("name", "other_name", message));
        }
        let now = self.clock.now();
        // First the job: it waits until the team is marked, and nothing else would remove what it had.
        self.jobs.schedule(&team_removal(team.id, false, now.after(CACHES_OVER))?).await?;
        team.deleted_at = Some(now);
        let entry = self.audit.entry(by, AuditAction::TeamDeleted, target_of(&team)).await;
        let put = Op::put(&team, None, When::Version(version))?;
        self.audit.write(&entry, vec![put]).await?;
        self.plans.forget(team.id);
        Ok(())
    }
}
