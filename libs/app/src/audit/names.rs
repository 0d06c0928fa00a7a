//! Names of actors, so that an entry tells who it was after a key is gone.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use trapline_model::{Actor, Principal, TeamId};
use trapline_store::{
    Result, Store, load,
    records::{ApiKey, Person},
};

/// How long a name is used after it was read.
const CACHE_TTL: Duration = Duration::from_mins(5);
/// Names in the cache.
const CACHE_CAPACITY: u64 = 10_000;

/// Names of keys and people, read once in 5 minutes.
pub(super) struct ActorNames {
    store: Arc<dyn Store>,
    known: Cache<(TeamId, Actor), Arc<str>>,
}

impl ActorNames {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let known = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL).build();
        Self { store, known }
    }

    /// The actor's name; empty where it cannot be told, which keeps nobody from what they do.
    pub(super) async fn of(&self, by: &Principal) -> String {
        if by.actor == Actor::System {
            return String::new();
        }
        let actor = (by.team, by.actor);
        if let Some(name) = self.known.get(&actor) {
            return name.as_ref().to_owned();
        }
        match self.read(by).await {
            Ok(name) => {
                let name: Arc<str> = name.unwrap_or_default().into();
                self.known.insert(actor, name.clone());
                name.as_ref().to_owned()
            }
            Err(error) => {
                tracing::warn!(%error, "an entry of the audit log has no name of its actor");
                String::new()
            }
        }
    }

    /// Forgets the actor's name, which has changed.
    pub(super) fn forget(&self, by: &Principal) {
        self.known.invalidate(&(by.team, by.actor));
    }

    async fn read(&self, by: &Principal) -> Result<Option<String>> {
        match by.actor {
            Actor::Key(id) => {
                let key = load::<ApiKey>(&*self.store, &ApiKey::row(by.team, id)).await?;
                Ok(key.map(|(key, _)| key.name))
            }
            Actor::Person(id) => {
                let person = load::<Person>(&*self.store, &Person::row(id)).await?;
                Ok(person.map(|(person, _)| person.name))
            }
            Actor::System => Ok(None),
        }
    }
}
