//! The status of each webhook: how its latest attempt ended.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use trapline_model::{TeamId, WebhookId};
use trapline_store::{
    Op, Record as _, Result, Store, When, load, load_all,
    records::{Webhook, WebhookStatus},
};

use super::MAX_WEBHOOKS;
use crate::keyed_locks::KeyedLocks;

/// Webhooks whose latest status is remembered.
const CACHE_CAPACITY: u64 = 10_000;
/// A status that did not change is written at most so often: a webhook may take thousands of deliveries a
/// second.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Reads and writes the latest status of webhooks.
pub(crate) struct WebhookStatuses {
    store: Arc<dyn Store>,
    latest: Cache<WebhookId, WebhookStatus>,
    /// Held while the status of a webhook is read and written.
    locks: KeyedLocks,
}

impl WebhookStatuses {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let latest = Cache::new(CACHE_CAPACITY);
        Self { store, latest, locks: KeyedLocks::new() }
    }

    /// Notes how an attempt went, unless a later one is noted already: a slow attempt must not hide
    /// what came after it.
    pub(super) async fn note(&self, new: WebhookStatus) -> Result<()> {
        if self.is_unchanged(&new) {
            return Ok(());
        }
        let _lock = self.locks.lock(new.id.0).await;
        if self.is_unchanged(&new) {
            return Ok(());
        }
        let stored = load(&*self.store, &new.key()).await?.map(|(stored, _)| stored);
        if let Some(stored) = stored.filter(|stored: &WebhookStatus| stored.at > new.at) {
            self.latest.insert(stored.id, stored);
            return Ok(());
        }
        let put = Op::put(&new, None, When::Always)?;
        self.store.write(vec![put]).await?;
        self.latest.insert(new.id, new);
        Ok(())
    }

    fn is_unchanged(&self, new: &WebhookStatus) -> bool {
        self.latest.get(&new.id).is_some_and(|latest| {
            let same = (latest.status, &latest.error) == (new.status, &new.error);
            latest.at > new.at || (same && new.at.since(latest.at) < REFRESH_INTERVAL)
        })
    }

    pub(super) async fn of(&self, webhook: &Webhook) -> Result<Option<WebhookStatus>> {
        let row = WebhookStatus::row(webhook.team, webhook.id);
        Ok(load(&*self.store, &row).await?.map(|(status, _)| status))
    }

    pub(super) async fn of_team(&self, team: TeamId) -> Result<Vec<WebhookStatus>> {
        load_all(&*self.store, WebhookStatus::of_team(team, 2 * MAX_WEBHOOKS)).await
    }
}
