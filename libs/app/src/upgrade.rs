//! Rows of earlier releases, brought into the form that this release reads.
//!
//! A step moves rows from a table of an earlier release, which it prepares itself, to one of this
//! release. It may be killed at any moment and run again, and may find that another process moved a
//! row already. It leaves nothing behind in the old table. To add one: a file in `upgrade`, and a
//! line in [`STEPS`].

mod deliveries;
mod inboxes;
mod queues;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use trapline_store::{Clock, Op, Store, When, load, records::Upgrade};

use crate::{AccessControl, Result, Webhooks, parts::Parts};

/// A move of rows of earlier releases.
struct UpgradeStep {
    /// Its name in the row of finished steps; never used again for another step.
    name: &'static str,
    run: for<'a> fn(&'a Upgrades) -> BoxFuture<'a, Result<()>>,
}

/// All steps, in the order in which they run.
const STEPS: &[UpgradeStep] = &[
    UpgradeStep { name: "deliveries", run: |upgrades| Box::pin(deliveries::run(upgrades)) },
    UpgradeStep { name: "inboxes by id", run: |upgrades| Box::pin(inboxes::run(upgrades)) },
    UpgradeStep { name: "queues", run: |upgrades| Box::pin(queues::run(upgrades)) },
];

/// Brings rows of earlier releases into the form of this one.
pub struct Upgrades {
    store: Arc<dyn Store>,
    clock: Clock,
    access: Arc<AccessControl>,
    webhooks: Arc<Webhooks>,
}

impl Upgrades {
    pub(crate) fn new(parts: &Parts, access: Arc<AccessControl>, webhooks: Arc<Webhooks>) -> Self {
        Self { store: parts.ports.store.clone(), clock: parts.clock.clone(), access, webhooks }
    }

    /// Moves the rows of earlier releases, unless that is done: then it costs one read. Nothing else
    /// may be at work on the data. Safe to run again after it was cut off.
    ///
    /// # Errors
    ///
    /// When the store does not answer; what was moved until then stays moved.
    pub async fn run(&self) -> Result<()> {
        self.run_steps(STEPS).await
    }

    /// Whether nothing is in the form of an earlier release any more.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn are_finished(&self) -> Result<bool> {
        let Upgrade { finished } = self.finished_steps().await?;
        Ok(STEPS.iter().all(|step| is_in(&finished, step)))
    }

    async fn run_steps(&self, steps: &[UpgradeStep]) -> Result<()> {
        let mut row = self.finished_steps().await?;
        let open: Vec<_> = steps.iter().filter(|step| !is_in(&row.finished, step)).collect();
        if open.is_empty() {
            return Ok(());
        }
        // Where there is no installation yet, there are no rows of earlier releases.
        let is_new = self.access.installed().await?.is_none();
        for step in open {
            if !is_new {
                tracing::info!(step = step.name, "rows of an earlier release are moved");
                (step.run)(self).await?;
            }
            row.finished.push(step.name.to_owned());
            let put = Op::put(&row, None, When::Always)?;
            self.store.write(vec![put]).await?;
        }
        Ok(())
    }

    async fn finished_steps(&self) -> Result<Upgrade> {
        let found = load::<Upgrade>(&*self.store, &Upgrade::row()).await?;
        Ok(found.map(|(row, _)| row).unwrap_or_default())
    }
}

fn is_in(finished: &[String], step: &UpgradeStep) -> bool {
    finished.iter().any(|name| name == step.name)
}
