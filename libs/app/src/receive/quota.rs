//! Checks a mail against the plans of the teams that it is for.

use std::sync::Arc;

use trapline_model::{TeamId, Time};

use super::{Incoming, MailReceiver};
use crate::{DeliveryTarget, Plan, PlanLimit, Result};

impl MailReceiver {
    /// Whether the team of an inbox may store one more message this month. Asked before a mail is taken,
    /// so that a refused one costs nothing.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when it may not, and when the store does not
    /// answer.
    pub async fn check_quota(&self, target: &DeliveryTarget) -> Result<()> {
        let team = target.0.team;
        let plan = self.plans.of(team).await?;
        self.usage.check_messages(team, &plan, 1).await
    }

    /// Whether the plan of an inbox's team allows a message of so many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when it does not, and when the store does
    /// not answer.
    pub async fn check_size(&self, target: &DeliveryTarget, bytes: u64) -> Result<()> {
        let plan = self.plans.of(target.0.team).await?;
        self.plans.check(&plan, PlanLimit::MessageBytes, 0, bytes)
    }

    /// Whether every team allows the mail, and until when it is kept in each of its inboxes; `None` is
    /// for as long as the inbox keeps it.
    pub(super) async fn check_plans(&self, mail: &Incoming) -> Result<Vec<Option<Time>>> {
        let now = self.clock.now();
        // Few, and one almost always.
        let mut teams: Vec<(TeamId, u64, Arc<Plan>)> = Vec::new();
        let mut kept_until = Vec::with_capacity(mail.targets.len());
        for target in &mail.targets {
            let team = target.0.team;
            let known = teams.iter().position(|(known, ..)| *known == team);
            let place = if let Some(place) = known {
                place
            } else {
                teams.push((team, 0, self.plans.of(team).await?));
                teams.len() - 1
            };
            let (_, messages, plan) = &mut teams[place];
            *messages += 1;
            kept_until.push(plan.retention().map(|kept| now.after(kept)));
        }
        for (team, messages, plan) in &teams {
            self.plans.check(plan, PlanLimit::MessageBytes, 0, mail.raw.len() as u64)?;
            self.usage.check_messages(*team, plan, *messages).await?;
        }
        Ok(kept_until)
    }
}
