//! Who is signed in at a provider, as a browser's cookie says.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{IdpUserId, NameIdFormat, Time};
use trapline_store::{load_all, records::IdpUserRecord};

use super::{IdpHandle, Idps, users::MAX_USERS};
use crate::{Error, Result, secrets::new_token};

/// How long somebody stays signed in.
const SESSION_LIFETIME: Duration = Duration::from_hours(8);

/// Somebody who is signed in at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdpSession {
    /// Who it is.
    pub user: IdpUserId,
    /// When the user was chosen.
    pub auth_time: Time,
    /// The session's name in tokens.
    pub sid: String,
    /// The newest SAML sign-in of the session; a logout says its name.
    pub saml: Option<SamlSession>,
}

/// How a session is known to a SAML service provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamlSession {
    /// The service provider's entity id.
    pub sp: String,
    /// The kind of the name.
    pub format: NameIdFormat,
    /// The name that the service provider was told.
    pub name: String,
}

impl Idps {
    /// Begins a session.
    #[must_use]
    pub fn new_session(&self, user: IdpUserId) -> IdpSession {
        let sid = new_token();
        // Seconds, as tokens have them, so that a session and its tokens tell the same time.
        let auth_time = Time::from_millis(self.clock.now().millis() / 1_000 * 1_000);
        IdpSession { user, auth_time, sid, saml: None }
    }

    /// The session as the value of a cookie, which opens at this provider only.
    ///
    /// # Errors
    ///
    /// [`Error::Crypto`] when it is not sealed.
    pub fn seal_session(&self, provider: &IdpHandle, session: &IdpSession) -> Result<String> {
        let saml = serde_json::to_string(&session.saml).map_err(|_| Error::Crypto)?;
        let IdpSession { user, auth_time, sid, .. } = session;
        let text = format!("{user}|{}|{sid}|{saml}", auth_time.millis());
        self.secrets.seal_for_url(&context(provider), &text)
    }

    /// The session of a cookie, unless it is over.
    #[must_use]
    pub fn open_session(&self, provider: &IdpHandle, sealed: &str) -> Option<IdpSession> {
        let text = self.secrets.open_from_url(&context(provider), sealed)?;
        let mut parts = text.splitn(4, '|');
        let user = parts.next()?.parse().ok()?;
        let auth_time = Time::from_millis(parts.next()?.parse().ok()?);
        let sid = parts.next()?.to_owned();
        // Cookies of earlier releases have no such part.
        let saml = parts.next().and_then(|saml| serde_json::from_str(saml).ok()).flatten();
        let is_live = self.clock.now().since(auth_time) < SESSION_LIFETIME;
        is_live.then_some(IdpSession { user, auth_time, sid, saml })
    }

    /// A test user of the provider.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn test_user(
        &self,
        provider: &IdpHandle,
        id: IdpUserId,
    ) -> Result<Option<IdpUserRecord>> {
        self.user_record(provider.settings.id, id).await
    }

    /// The test users of the provider, oldest first.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn test_users(&self, provider: &IdpHandle) -> Result<Vec<IdpUserRecord>> {
        let all = IdpUserRecord::of_idp(provider.settings.id, MAX_USERS);
        Ok(load_all(&*self.store, all).await?)
    }

    /// The test user whom a subject, or else a mail address in any case, names; of several the oldest.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn hinted_user(
        &self,
        provider: &IdpHandle,
        hint: &str,
    ) -> Result<Option<IdpUserRecord>> {
        if let Some(user) = self.user_by_subject(provider.settings.id, hint).await? {
            return Ok(Some(user));
        }
        let mut users = self.test_users(provider).await?.into_iter();
        Ok(users.find(|user| user.email.eq_ignore_ascii_case(hint)))
    }
}

fn context(provider: &IdpHandle) -> String {
    format!("idp-session|{}", provider.settings.id)
}
