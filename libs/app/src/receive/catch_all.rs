//! The inbox that mail to unknown addresses lands in: one of the first team, known by a name, and
//! made again when it is gone.

use moka::sync::Cache;
use tokio::sync::Mutex;
use trapline_model::Principal;
use trapline_store::{Op, When, load, records::FirstRun};

use super::MailReceiver;
use crate::{DeliveryTarget, Error, NewInbox, Result, access::CACHE_TTL};

/// How often it is looked up again when another process changes which inbox it is.
const MAX_TRIES: usize = 4;

/// The cache of the catch-all inbox.
pub(super) struct CatchAll {
    known: Cache<(), DeliveryTarget>,
    /// Held while the inbox is created.
    creation: Mutex<()>,
}

impl CatchAll {
    /// Relies on what was read for at most 5 s.
    pub(super) fn new() -> Self {
        let known = Cache::builder().max_capacity(1).time_to_live(CACHE_TTL).build();
        Self { known, creation: Mutex::new(()) }
    }
}

impl MailReceiver {
    /// The inbox for unknown addresses, made when it is not there.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] before the first start of an installation.
    pub(crate) async fn catch_all(&self) -> Result<DeliveryTarget> {
        if let Some(target) = self.known_catch_all().await? {
            return Ok(target);
        }
        let _turn = self.catch_all.creation.lock().await;
        if let Some(target) = self.known_catch_all().await? {
            return Ok(target);
        }
        for _ in 0..MAX_TRIES {
            match self.find_or_make_catch_all().await {
                Err(Error::Conflict) => {}
                outcome => {
                    let target = outcome?;
                    self.catch_all.known.insert((), target.clone());
                    return Ok(target);
                }
            }
        }
        Err(Error::Conflict)
    }

    async fn known_catch_all(&self) -> Result<Option<DeliveryTarget>> {
        match self.catch_all.known.get(&()) {
            Some(target) => Ok(self.access.still_open(&target).await?.ok()),
            None => Ok(None),
        }
    }

    async fn find_or_make_catch_all(&self) -> Result<DeliveryTarget> {
        let name = &self.settings.catch_all_inbox;
        let found = load::<FirstRun>(&*self.store, &FirstRun::row()).await?;
        let (run, version) = found.ok_or(Error::Unavailable)?;
        if run.catch_all == *name
            && let Some(target) = self.target_of(&run).await?
        {
            return Ok(target);
        }
        if let Some(found) = self.first_inbox_named(&run, name).await? {
            return self.set_catch_all(found, version).await;
        }
        let by = Principal::system(run.team);
        let inbox = self.inboxes.create(&by, NewInbox::named(name)).await?;
        let made = FirstRun { inbox: inbox.id, catch_all: name.clone(), ..run };
        let outcome = self.set_catch_all(made.clone(), version).await;
        if let Err(Error::Conflict) = outcome {
            // Another process was faster, and its inbox is the one: that may be this one, which it found.
            let is_ours = self.access.installed().await?.is_some_and(|run| run.inbox == made.inbox);
            if !is_ours {
                self.inboxes.delete(&by, made.inbox).await?;
            }
        }
        outcome
    }

    /// Stores which inbox it is; a conflict when another process did.
    async fn set_catch_all(&self, run: FirstRun, version: i64) -> Result<DeliveryTarget> {
        let when = When::Version(version);
        let put = Op::put(&run, None, when)?;
        self.store.write(vec![put]).await?;
        self.target_of(&run).await?.ok_or(Error::Conflict)
    }

    async fn first_inbox_named(&self, run: &FirstRun, name: &str) -> Result<Option<FirstRun>> {
        for inbox in self.inboxes.records_of(run.team).await? {
            if inbox.name == name && inbox.expires_at.is_none() {
                let found = FirstRun { inbox: inbox.id, catch_all: name.to_owned(), ..run.clone() };
                if self.target_of(&found).await?.is_some() {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    async fn target_of(&self, run: &FirstRun) -> Result<Option<DeliveryTarget>> {
        match self.inboxes.record(run.team, run.inbox).await {
            Ok(inbox) => self.access.target_named(&inbox.username).await,
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
