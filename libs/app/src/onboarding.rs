//! A team's first steps, noted when they happen: one row for each step, written once.

use std::{collections::BTreeMap, sync::Arc};

use moka::sync::Cache;
use trapline_model::{Onboarding, OnboardingStep, Principal, TeamId};
use trapline_store::{
    Clock, Op, Result as StoreResult, Scan, Store, When,
    records::{self, ApiKey, InboxEntry},
};

use crate::Result;

/// Steps that a process knows to be done, so that it neither reads nor writes for them again.
const CAPACITY: u64 = 100_000;

macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident = $id:literal, $title:literal, $href:literal;)+) => {
        /// A first step.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Step { $($(#[$doc])* $step,)+ }

        /// In the order in which they are best made.
        const STEPS: &[(Step, &str, &str, &str)] = &[$((Step::$step, $id, $title, $href)),+];

        impl Step {
            fn id(self) -> &'static str {
                match self { $(Self::$step => $id,)+ }
            }
        }
    };
}

steps! {
    /// The team has an inbox.
    Inbox = "inbox", "Create an inbox", "/inboxes";
    /// A message was caught.
    Message = "message", "Catch a message", "/inboxes";
    /// The team has an API key.
    Key = "key", "Create an API key", "/team/keys";
    /// A wait was answered with a message.
    Wait = "wait", "Wait for a message in a test", "/docs";
    /// A webhook's endpoint took a delivery.
    Webhook = "webhook", "Get a webhook delivered", "/webhooks";
    /// Somebody was invited.
    Invitation = "invitation", "Invite a teammate", "/team/members";
}

/// Notes first steps, and lists them.
pub struct FirstSteps {
    store: Arc<dyn Store>,
    clock: Clock,
    made: Cache<(TeamId, Step), ()>,
}

impl FirstSteps {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { store, clock, made: Cache::new(CAPACITY) }
    }

    /// The steps, and which of them the team has made.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn of(&self, by: &Principal) -> Result<Onboarding> {
        let rows = self.store.scan(records::FirstStep::of_team(by.team)).await?;
        let mut made = BTreeMap::new();
        for row in &rows {
            let records::FirstStep { step, at, .. } = trapline_store::Record::of(row)?;
            made.insert(step, at);
        }
        // Made by a release that did not note it, or by a process that was killed before it could.
        for step in [Step::Inbox, Step::Key] {
            if !made.contains_key(step.id()) && self.is_made(by.team, step).await? {
                self.note(by.team, step).await;
                made.insert(step.id().to_owned(), self.clock.now());
            }
        }
        let steps = STEPS.iter().map(|(_, id, title, href)| OnboardingStep {
            id: (*id).to_owned(),
            title: (*title).to_owned(),
            done: made.contains_key(*id),
            href: (*href).to_owned(),
        });
        let steps: Vec<_> = steps.collect();
        let completed = steps.iter().filter(|step| step.done).count();
        Ok(Onboarding { completed, total: steps.len(), steps })
    }

    /// Whether this process does not know yet that the step was made.
    pub(crate) fn is_unnoted(&self, team: TeamId, step: Step) -> bool {
        !self.made.contains_key(&(team, step))
    }

    /// Notes a step, unless it was made before. What cannot be written is noted when it happens again.
    pub(crate) async fn note(&self, team: TeamId, step: Step) {
        if !self.is_unnoted(team, step) {
            return;
        }
        // First, so that of many at once one asks the store.
        self.made.insert((team, step), ());
        if let Err(error) = self.write_once(team, step).await {
            self.made.invalidate(&(team, step));
            tracing::warn!(%error, "a first step was not noted");
        }
    }

    async fn write_once(&self, team: TeamId, step: Step) -> StoreResult<()> {
        if self.store.get(&records::FirstStep::row(team, step.id())).await?.is_some() {
            return Ok(());
        }
        let at = self.clock.now();
        let row = records::FirstStep { team, step: step.id().to_owned(), at };
        self.store.write(vec![Op::put(&row, None, When::Always)?]).await
    }

    /// Whether there is what the step makes.
    async fn is_made(&self, team: TeamId, step: Step) -> StoreResult<bool> {
        let scans: Vec<Scan> = match step {
            Step::Key => vec![ApiKey::of_team(team, 1)],
            Step::Inbox => InboxEntry::of_team(team).collect(),
            Step::Message | Step::Wait | Step::Webhook | Step::Invitation => Vec::new(),
        };
        for scan in scans {
            let scan = Scan { limit: 1, keys_only: true, ..scan };
            if !self.store.scan(scan).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
