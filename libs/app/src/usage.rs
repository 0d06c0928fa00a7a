//! What teams use of what their plans allow. It uses inboxes.

mod counter;
mod month;

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use trapline_model::{Principal, TeamId, Time};
use trapline_store::Clock;

use crate::{Plan, PlanLimit, Result, inboxes::Inboxes, parts::Parts, plans::Plans};
use counter::MonthlyCounter;
use month::Month;

/// Time between two writes of the counts: with the time of the write, less than a second.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);

/// What a team uses, and may use.
#[derive(Debug, Clone)]
pub struct UsageReport {
    /// The team's plan.
    pub plan: Arc<Plan>,
    /// Inboxes that are there.
    pub inboxes: u64,
    /// People in the team.
    pub members: u64,
    /// Messages that were stored this month: exact for what happened more than a second ago.
    pub messages: u64,
    /// When the month began (UTC).
    pub since: Time,
    /// When the next month begins, and messages are counted from zero.
    pub resets_at: Time,
}

/// Counts what teams use.
pub struct TeamUsage {
    clock: Clock,
    plans: Arc<Plans>,
    inboxes: Arc<Inboxes>,
    counter: MonthlyCounter,
}

impl TeamUsage {
    pub(crate) fn new(parts: &Parts, inboxes: Arc<Inboxes>) -> Self {
        let (clock, plans) = (parts.clock.clone(), parts.plans.clone());
        Self { clock, plans, inboxes, counter: MonthlyCounter::new(parts) }
    }

    /// What the team uses now.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn report(&self, by: &Principal) -> Result<UsageReport> {
        let month = Month::of(self.clock.now());
        Ok(UsageReport {
            plan: self.plans.of(by.team).await?,
            inboxes: self.inboxes.count(by.team).await?,
            members: self.plans.members(by.team).await?,
            messages: self.counter.read(by.team, month).await?,
            since: month.begins_at(),
            resets_at: month.next().begins_at(),
        })
    }

    /// Whether the team may store so many messages more this month.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when it may not, and when the store does not
    /// answer.
    pub(crate) async fn check_messages(&self, team: TeamId, plan: &Plan, more: u64) -> Result<()> {
        const LIMIT: PlanLimit = PlanLimit::MessagesPerMonth;
        if plan.most(LIMIT).is_none() {
            return Ok(());
        }
        let month = Month::of(self.clock.now());
        self.plans.check(plan, LIMIT, self.counter.used(team, month).await?, more)
    }

    /// Counts one message for each of these teams. Costs no write: what was counted is written twice a
    /// second.
    pub(crate) fn stored(&self, teams: impl Iterator<Item = TeamId>) {
        self.counter.count(Month::of(self.clock.now()), teams);
    }

    /// Writes what was counted and is not written yet. Called at the end of a process too, when nothing
    /// is stored any more.
    pub async fn flush(&self) {
        self.counter.flush().await;
    }

    /// Writes what is counted, until shutdown.
    pub(crate) async fn run(self: Arc<Self>, shutdown: CancellationToken) {
        let rounds = async {
            loop {
                self.clock.sleep(FLUSH_INTERVAL).await;
                self.counter.flush().await;
                self.counter.refresh_others().await;
            }
        };
        shutdown.run_until_cancelled(rounds).await;
    }
}
