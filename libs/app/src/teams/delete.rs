//! Deletes a team: marks it, from when on nobody finds it, and schedules the job that removes its rows.

use std::time::Duration;

use trapline_model::{Principal, Role};
use trapline_store::{Op, When};

use super::{Teams, require_role, target_of};
use crate::{AuditAction, Error, Forbidden, Result, jobs::team_removal};

/// Longer than any process caches a team.
const CACHES_EXPIRED_AFTER: Duration = Duration::from_secs(10);

impl Teams {
    /// Deletes the team with everything in it; `name` repeats the team's name. Nobody finds it from then on,
    /// at once in this process and within 5 s in every other, and its rows are removed within a day. Its audit
    /// log stays for the operator.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below the owner, and for the installation's first team, to which
    /// mail for unknown addresses goes and an operator's links lead; [`Error::Invalid`] for another name; and
    /// [`Error::Conflict`] when somebody changed the team at the same moment.
    pub async fn delete(&self, by: &Principal, name: &str) -> Result<()> {
        require_role(by, Role::Owner)?;
        let (mut team, version) = self.team(by).await?;
        if self.access.first_team().await? == Some(team.id) {
            return Err(Error::Forbidden(Forbidden::FirstTeam));
        }
        if team.name != name {
            let message = "must be the name of the team, letter by letter";
            return Err(Error::invalid("name", "other_name", message));
        }
        let now = self.clock.now();
        // The job first: it waits until the team is marked, and nothing else would remove the rows.
        self.jobs.schedule(&team_removal(team.id, false, now.after(CACHES_EXPIRED_AFTER))?).await?;
        team.deleted_at = Some(now);
        let entry = self.audit.entry(by, AuditAction::TeamDeleted, target_of(&team)).await;
        let put = Op::put(&team, None, When::Version(version))?;
        self.audit.write(&entry, vec![put]).await?;
        self.plans.forget(team.id);
        Ok(())
    }
}
