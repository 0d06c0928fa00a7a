//! The inbox that mail to unknown addresses lands in: one of the first team, known by a name, and
//! made again when it is gone.

use std::time::Duration;

use moka::sync::Cache;
use tokio::sync::Mutex;
use trapline_model::Principal;
use trapline_store::{Op, When, load, records::FirstRun};

use crate::{App, Error, Mailbox, NewInbox, Result};

/// How often it is looked for again when another process changes which one it is.
const TRIES: usize = 4;

/// What a process knows of the inbox.
pub(crate) struct CatchAll {
    known: Cache<(), Mailbox>,
    /// Makes one at a time.
    making: Mutex<()>,
}

impl CatchAll {
    /// Relies on what was read for at most `known_for`.
    pub(crate) fn new(known_for: Duration) -> Self {
        let known = Cache::builder().max_capacity(1).time_to_live(known_for).build();
        Self { known, making: Mutex::new(()) }
    }
}

impl App {
    /// The inbox, made when it is not there. Fails before the first start of an installation.
    pub(crate) async fn catch_all_mailbox(&self) -> Result<Mailbox> {
        if let Some(mailbox) = self.known_catch_all().await? {
            return Ok(mailbox);
        }
        let _turn = self.catch_all.making.lock().await;
        if let Some(mailbox) = self.known_catch_all().await? {
            return Ok(mailbox);
        }
        for _ in 0..TRIES {
            match self.find_or_make_catch_all().await {
                Err(Error::Conflict) => {}
                outcome => {
                    let mailbox = outcome?;
                    self.catch_all.known.insert((), mailbox.clone());
                    return Ok(mailbox);
                }
            }
        }
        Err(Error::Conflict)
    }

    async fn known_catch_all(&self) -> Result<Option<Mailbox>> {
        match self.catch_all.known.get(&()) {
            Some(mailbox) => Ok(self.still_open(&mailbox).await?.ok()),
            None => Ok(None),
        }
    }

    async fn find_or_make_catch_all(&self) -> Result<Mailbox> {
        let name = &self.settings.catch_all_inbox;
        let found = load::<FirstRun>(&*self.ports.store, &FirstRun::row()).await?;
        let (run, version) = found.ok_or(Error::Unavailable)?;
        if run.catch_all == *name
            && let Some(mailbox) = self.mailbox_of(&run).await?
        {
            return Ok(mailbox);
        }
        if let Some(found) = self.first_inbox_named(&run, name).await? {
            return self.appoint(found, version).await;
        }
        let by = Principal::system(run.team);
        let inbox = self.create_inbox(&by, NewInbox::named(name)).await?;
        let made = FirstRun { inbox: inbox.id, catch_all: name.clone(), ..run };
        let outcome = self.appoint(made.clone(), version).await;
        if let Err(Error::Conflict) = outcome {
            // Another process was faster, and its inbox is the one: that may be this one, which it found.
            let is_ours = self.installed().await?.is_some_and(|run| run.inbox == made.inbox);
            if !is_ours {
                self.delete_inbox(&by, made.inbox).await?;
            }
        }
        outcome
    }

    /// Writes down which inbox it is; a conflict when somebody else did.
    async fn appoint(&self, run: FirstRun, version: i64) -> Result<Mailbox> {
        let when = When::Version(version);
        let put = Op::put(&run, None, when)?;
        self.ports.store.write(vec![put]).await?;
        self.mailbox_of(&run).await?.ok_or(Error::Conflict)
    }

    async fn first_inbox_named(&self, run: &FirstRun, name: &str) -> Result<Option<FirstRun>> {
        for inbox in self.inbox_records(run.team).await? {
            if inbox.name == name && inbox.expires_at.is_none() {
                let found = FirstRun { inbox: inbox.id, catch_all: name.to_owned(), ..run.clone() };
                if self.mailbox_of(&found).await?.is_some() {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    async fn mailbox_of(&self, run: &FirstRun) -> Result<Option<Mailbox>> {
        match self.inbox_record(run.team, run.inbox).await {
            Ok(inbox) => self.mailbox_named(&inbox.username).await,
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
