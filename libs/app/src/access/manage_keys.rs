//! Lists and revokes API keys, and keeps the one key that a setting names.

use std::collections::HashMap;

use trapline_model::{
    self as model, Access, Actor, ApiKeyId, KEY_PREFIX, Principal, Role, TeamId, Time,
};
use trapline_store::{
    Op, Record, Scan, When, load, load_all,
    records::{ApiKey, ApiKeyByHash, ApiKeyUse, KeyOrigin},
};

use super::{AccessControl, NewKey};
use crate::{AuditAction, Error, Forbidden, Result, audit::Target, secrets::sha256_hex};

/// Keys of one team that a list reads at most; a key is a few hundred bytes.
const MAX_KEYS: usize = 100_000;
/// Keys that people of one team may make; operators may make more.
const MAX_OWN_KEYS: usize = 1_000;
/// The name of a key that a setting names. Releases that did not note a key's origin used it too, and
/// for nothing else.
const SETTING_KEY_NAME: &str = "Configured key";

/// An API key as the `trapline key` commands show it.
#[derive(Debug, Clone)]
pub struct ApiKeyDetails {
    /// The key's id.
    pub id: ApiKeyId,
    /// Human-readable.
    pub name: String,
    /// The value's first letters.
    pub prefix: String,
    /// What it may do.
    pub access: Access,
    /// When it stops working.
    pub expires_at: Option<Time>,
    /// When it was made.
    pub created_at: Time,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Time>,
    /// Whether a setting names it, so that the next start with that setting makes it again.
    pub is_configured: bool,
}

impl AccessControl {
    /// The team's keys, newest first.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn keys(&self, by: &Principal) -> Result<Vec<ApiKeyDetails>> {
        let last = self.last_uses(by.team).await?;
        let keys = self.key_records(by.team).await?;
        Ok(keys.iter().map(|key| known(key, last.get(&key.id).copied())).collect())
    }

    /// The team's keys that `text` names: by id, by the letters that [`ApiKeyDetails::prefix`] shows, or by
    /// the whole value.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn keys_named(&self, by: &Principal, text: &str) -> Result<Vec<ApiKeyDetails>> {
        let sha256 = sha256_hex(text);
        let mut keys = self.key_records(by.team).await?;
        keys.retain(|key| key.id.to_string() == text || key.prefix == text || key.sha256 == sha256);
        Ok(keys.iter().map(|key| known(key, None)).collect())
    }

    /// The team's keys as the API lists them, newest first.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn list_keys(&self, by: &Principal) -> Result<Vec<model::ListedApiKey>> {
        let last = self.last_uses(by.team).await?;
        let keys = self.key_records(by.team).await?;
        Ok(keys.into_iter().map(|key| shown(&last, key)).collect())
    }

    /// Creates a key on behalf of a person. Returns it with its value, which is kept nowhere.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for whoever is no signed-in admin, and [`Error::Invalid`] when the team has 1,000
    /// keys.
    pub async fn make_key(
        &self,
        by: &Principal,
        new: NewKey,
    ) -> Result<(model::ListedApiKey, String)> {
        need_admin(by)?;
        let keys = Scan { keys_only: true, ..ApiKey::of_team(by.team, MAX_OWN_KEYS) };
        if self.store.scan(keys).await?.len() >= MAX_OWN_KEYS {
            let message = format!("a team has at most {MAX_OWN_KEYS} keys; revoke some");
            return Err(Error::invalid("", "too_many", message));
        }
        let (key, value) = self.create_key_of(by, new, KeyOrigin::Person).await?;
        Ok((shown(&HashMap::new(), key), value))
    }

    /// Revokes a key: at once in this process, and within 5 seconds in every other.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such key.
    pub async fn revoke_key(&self, by: &Principal, id: ApiKeyId) -> Result<()> {
        let found = load::<ApiKey>(&*self.store, &ApiKey::row(by.team, id)).await?;
        let (key, _) = found.ok_or(Error::NotFound)?;
        self.revoke(by, &key).await
    }

    /// Creates the key that the setting names, and revokes the one that it named before.
    pub(crate) async fn set_configured_key(&self, team: TeamId, value: &str) -> Result<()> {
        if !value.starts_with(KEY_PREFIX) {
            let message = format!("a key begins with {KEY_PREFIX}");
            return Err(Error::invalid("apiKey", "invalid", message));
        }
        let sha256 = sha256_hex(value);
        let by = Principal::system(team);
        if self.store.get(&ApiKeyByHash::row(&sha256)).await?.is_none() {
            let new = NewKey {
                name: SETTING_KEY_NAME.to_owned(),
                access: Access::Write,
                expires_at: None,
                value: Some(value.to_owned()),
            };
            self.create_key_of(&by, new, KeyOrigin::Setting).await?;
        }
        for key in self.key_records(team).await? {
            if is_configured(&key) && key.sha256 != sha256 {
                self.revoke(&by, &key).await?;
                tracing::info!(prefix = key.prefix, "the key that a setting named was replaced");
            }
        }
        Ok(())
    }

    async fn revoke(&self, by: &Principal, key: &ApiKey) -> Result<()> {
        // The row that requests are recognised by goes first: what a crash leaves is only listed.
        let rows = [ApiKeyByHash::row(&key.sha256), key.key(), ApiKeyUse::row(key.team, key.id)];
        let delete = |key| Op::Delete { key, when: When::Always };
        let entry = self.audit.entry(by, AuditAction::ApiKeyRevoked, Target::api_key(key)).await;
        self.audit.write(&entry, rows.into_iter().map(delete).collect()).await?;
        self.keys.invalidate(&key.sha256);
        Ok(())
    }

    async fn last_uses(&self, team: TeamId) -> Result<HashMap<ApiKeyId, Time>> {
        let rows = self.store.scan(ApiKeyUse::of_team(team, MAX_KEYS)).await?;
        let uses =
            rows.iter().map(|row| ApiKeyUse::of(row).map(|used| (used.id, used.last_used_at)));
        Ok(uses.collect::<Result<_, _>>()?)
    }

    async fn key_records(&self, team: TeamId) -> Result<Vec<ApiKey>> {
        Ok(load_all(&*self.store, ApiKey::of_team(team, MAX_KEYS)).await?)
    }
}

/// Only signed-in admins and owners create keys: no key creates another.
fn need_admin(by: &Principal) -> Result<()> {
    match by.actor {
        Actor::Person(_) if by.role >= Role::Admin => Ok(()),
        Actor::Person(_) => Err(Error::Forbidden(Forbidden::AdminRequired)),
        Actor::Key(_) | Actor::System => Err(Error::Forbidden(Forbidden::PersonRequired)),
    }
}

fn shown(last: &HashMap<ApiKeyId, Time>, key: ApiKey) -> model::ListedApiKey {
    model::ListedApiKey {
        id: key.id,
        name: key.name,
        prefix: key.prefix,
        access: key.access,
        expires_at: key.expires_at,
        created_at: key.created_at,
        last_used_at: last.get(&key.id).copied(),
        created_by: key.created_by,
    }
}

fn is_configured(key: &ApiKey) -> bool {
    match key.origin {
        Some(origin) => origin == KeyOrigin::Setting,
        None => key.name == SETTING_KEY_NAME,
    }
}

fn known(key: &ApiKey, last_used_at: Option<Time>) -> ApiKeyDetails {
    ApiKeyDetails {
        id: key.id,
        name: key.name.clone(),
        prefix: key.prefix.clone(),
        access: key.access,
        expires_at: key.expires_at,
        created_at: key.created_at,
        last_used_at,
        is_configured: is_configured(key),
    }
}
