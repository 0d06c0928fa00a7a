//! How each webhook does, by its latest attempt.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use tokio::sync::Mutex;
use trapline_model::{TeamId, WebhookId};
use trapline_store::{
    Op, Record as _, Result, Store, When, load,
    records::{Webhook, WebhookStatus},
};

use super::MAX_WEBHOOKS;

const KNOWN_AT_MOST: u64 = 10_000;
/// No news is written at most so often: a webhook may take thousands of deliveries a second.
const REFRESH: Duration = Duration::from_secs(1);
const TURNS: usize = 64;

pub(crate) struct Statuses {
    store: Arc<dyn Store>,
    latest: Cache<WebhookId, WebhookStatus>,
    /// One look-and-write of a webhook at a time.
    turns: [Mutex<()>; TURNS],
}

impl Statuses {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let latest = Cache::new(KNOWN_AT_MOST);
        Self { store, latest, turns: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Notes how an attempt went, unless a later one is noted already: a slow attempt must not hide
    /// what came after it.
    pub(super) async fn note(&self, new: WebhookStatus) -> Result<()> {
        if self.is_no_news(&new) {
            return Ok(());
        }
        let place = new.id.0.as_u128() % (TURNS as u128);
        let _turn = self.turns[usize::try_from(place).unwrap_or(0)].lock().await;
        if self.is_no_news(&new) {
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

    fn is_no_news(&self, new: &WebhookStatus) -> bool {
        self.latest.get(&new.id).is_some_and(|latest| {
            let same = (latest.status, &latest.error) == (new.status, &new.error);
            latest.at > new.at || (same && new.at.since(latest.at) < REFRESH)
        })
    }

    pub(super) async fn of(&self, webhook: &Webhook) -> Result<Option<WebhookStatus>> {
        let row = WebhookStatus::row(webhook.team, webhook.id);
        Ok(load(&*self.store, &row).await?.map(|(status, _)| status))
    }

    pub(super) async fn of_team(&self, team: TeamId) -> Result<Vec<WebhookStatus>> {
        let rows = self.store.scan(WebhookStatus::of_team(team, 2 * MAX_WEBHOOKS)).await?;
        rows.iter().map(WebhookStatus::of).collect()
    }
}
