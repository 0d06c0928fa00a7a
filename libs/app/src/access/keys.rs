//! Creates and authenticates API keys, and records when they were last used.

use std::{net::IpAddr, sync::Arc, time::Duration};

use trapline_model::{Access, Actor, ApiKeyId, KEY_PREFIX, KeyMaker, Principal, TeamId, Time};
use trapline_store::{
    Op, When,
    records::{self, KeyOrigin},
};

use super::AccessControl;
use crate::{
    AuditAction, Error, Result, Unauthenticated,
    audit::Target,
    metrics,
    onboarding::Step,
    secrets::{BASE62, random_text, sha256_hex},
};

/// Random characters of a key, after its `tl_`.
const KEY_LENGTH: usize = 32;
/// Characters of a key that lists show.
const PREFIX_LENGTH: usize = 8;
/// How long an expired key is still told apart from an unknown one.
const EXPIRED_KEY_RETENTION: Duration = Duration::from_hours(30 * 24);

/// The properties of a new API key.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Human-readable.
    pub name: String,
    /// What it may do.
    pub access: Access,
    /// When it stops working.
    pub expires_at: Option<Time>,
    /// A value chosen by the operator; `None` makes a random one.
    pub value: Option<String>,
}

impl AccessControl {
    /// Makes a key for an operator and returns its value, which is kept nowhere.
    ///
    /// # Errors
    ///
    /// When the store does not take it.
    pub async fn create_key(&self, by: &Principal, new: NewKey) -> Result<String> {
        let (_, value) = self.create_key_of(by, new, KeyOrigin::Command).await?;
        Ok(value)
    }

    pub(crate) async fn create_key_of(
        &self,
        by: &Principal,
        new: NewKey,
        origin: KeyOrigin,
    ) -> Result<(records::ApiKey, String)> {
        let team = by.team;
        let value =
            new.value.unwrap_or_else(|| format!("{KEY_PREFIX}{}", random_text(KEY_LENGTH, BASE62)));
        let key = records::ApiKey {
            id: ApiKeyId(self.ids.next()),
            team,
            name: new.name,
            prefix: value.chars().take(PREFIX_LENGTH).collect(),
            sha256: sha256_hex(&value),
            access: new.access,
            expires_at: new.expires_at,
            created_at: self.clock.now(),
            origin: Some(origin),
            created_by: self.creator(by).await,
        };
        let by_hash = records::ApiKeyByHash {
            sha256: key.sha256.clone(),
            team,
            id: key.id,
            access: key.access,
            expires_at: key.expires_at,
        };
        let ttl = key.expires_at.map(|at| at.since(self.clock.now()) + EXPIRED_KEY_RETENTION);
        let ops = vec![Op::put(&key, ttl, When::Always)?, Op::put(&by_hash, ttl, When::Always)?];
        let entry = self.audit.entry(by, AuditAction::ApiKeyCreated, Target::api_key(&key)).await;
        self.audit.write(&entry, ops).await?;
        self.first_steps.note(team, Step::Key).await;
        self.attempts.note_created(&by_hash.sha256);
        Ok((key, value))
    }

    /// The person who asks, if one does.
    async fn creator(&self, by: &Principal) -> Option<KeyMaker> {
        let Actor::Person(id) = by.actor else { return None };
        Some(KeyMaker { id, name: self.audit.name_of(by).await })
    }

    /// Finds out who sends this key.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`] when it is no key or its time is over, and [`Error::TooMany`] for an
    /// address from which many keys came that are none, unless the key is one that worked lately.
    pub async fn authenticate(&self, value: &str, address: Option<IpAddr>) -> Result<Principal> {
        let found = self.find_key(value, address).await;
        match &found {
            // Whoever has a key that was one does not guess.
            Err(Error::Unauthenticated(Unauthenticated::Expired)) => {
                metrics::auth_failed("expired");
            }
            Err(Error::Unauthenticated(_)) => self.record_auth_failure(address, "unknown"),
            _ => {}
        }
        let key = found?;
        self.note_use(key.team, key.id).await;
        Ok(Principal::of_key(key.team, key.id, key.access).at(address))
    }

    async fn find_key(
        &self,
        value: &str,
        address: Option<IpAddr>,
    ) -> Result<Arc<records::ApiKeyByHash>> {
        let unknown = || Error::Unauthenticated(Unauthenticated::Unknown);
        if !value.starts_with(KEY_PREFIX) {
            self.check_auth_attempts(address)?;
            return Err(unknown());
        }
        let sha256 = sha256_hex(value);
        let key = match self.keys.get(&sha256) {
            Some(key) => key,
            None => self.look_up_key(sha256, address).await?.ok_or_else(unknown)?,
        };
        if !self.plans.is_there(key.team).await? {
            return Err(unknown());
        }
        if key.expires_at.is_some_and(|at| at <= self.clock.now()) {
            return Err(Error::Unauthenticated(Unauthenticated::Expired));
        }
        Ok(key)
    }

    async fn look_up_key(
        &self,
        sha256: String,
        address: Option<IpAddr>,
    ) -> Result<Option<Arc<records::ApiKeyByHash>>> {
        let row = records::ApiKeyByHash::row(&sha256);
        let found =
            self.look_up_credential::<records::ApiKeyByHash>(&sha256, &row, address).await?;
        let key = found.map(|(key, _)| Arc::new(key));
        if let Some(key) = &key {
            self.keys.insert(sha256, key.clone());
        }
        Ok(key)
    }

    async fn note_use(&self, team: TeamId, id: ApiKeyId) {
        if self.key_uses.contains_key(&id) {
            return;
        }
        self.key_uses.insert(id, ());
        let used = records::ApiKeyUse { team, id, last_used_at: self.clock.now() };
        let written = match Op::put(&used, None, When::Always) {
            Ok(put) => self.store.write(vec![put]).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::warn!(%error, "the last use of an API key was not noted");
        }
    }
}
