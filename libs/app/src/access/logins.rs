//! Which inbox a mail is for: by credentials, or by the recipient's address.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use moka::sync::Cache;
use subtle::ConstantTimeEq;
use trapline_model::{InboxId, Time};
use trapline_store::{
    Bus, LiveEvent, Store, load,
    records::{Inbox, Login},
};

use super::{AccessControl, CACHE_CAPACITY, CACHE_TTL};
use crate::{
    Result,
    announce::{BROADCAST, LocalCache, announce},
    parts::Parts,
    plans::Plans,
};

/// An inbox as the receiving path knows it: where mail is delivered to.
#[derive(Debug, Clone)]
pub struct DeliveryTarget(pub(crate) Arc<Inbox>);

impl DeliveryTarget {
    /// The inbox's id.
    #[must_use]
    pub fn inbox(&self) -> InboxId {
        self.0.id
    }
}

/// Why credentials or an address lead to no inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginRefused {
    /// There is no such inbox, or the password is another.
    Unknown,
    /// The disposable inbox is past its time.
    Expired,
}

/// Finds inboxes by user name, and caches them for 5 s or until a change is announced.
pub(crate) struct Logins {
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    /// The domain of inbox addresses.
    mail_domain: String,
    plans: Arc<Plans>,
    known: Cache<String, Arc<Inbox>>,
}

impl Logins {
    pub(crate) fn new(parts: &Parts) -> Self {
        let (store, bus) = (parts.ports.store.clone(), parts.ports.bus.clone());
        let mail_domain = parts.settings.mail_domain.clone();
        let known = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL).build();
        Self { store, bus, mail_domain, plans: parts.plans.clone(), known }
    }

    /// Invalidates a login in the cache of this and every other process.
    pub(crate) async fn changed(&self, username: &str) {
        self.known.invalidate(username);
        let event = LiveEvent::LoginChanged { username: username.to_owned() };
        announce(&*self.bus, BROADCAST, event).await;
    }

    /// The user name in `<username>@<mail domain>` or `<username>+anything@<mail domain>`.
    fn username_of<'a>(&self, recipient: &'a str) -> Option<&'a str> {
        let (local, domain) = recipient.rsplit_once('@')?;
        let ours = domain.eq_ignore_ascii_case(&self.mail_domain);
        ours.then(|| local.split_once('+').map_or(local, |(username, _)| username))
    }

    /// The inbox that a user name leads to, of a team that is there; its letters may come in any case.
    async fn inbox_of(&self, username: &str) -> Result<Option<Arc<Inbox>>> {
        let Some(inbox) = self.any_inbox_of(username).await? else { return Ok(None) };
        Ok(self.plans.is_there(inbox.team).await?.then_some(inbox))
    }

    async fn any_inbox_of(&self, username: &str) -> Result<Option<Arc<Inbox>>> {
        let username = username.to_ascii_lowercase();
        if let Some(inbox) = self.known.get(&username) {
            return Ok(Some(inbox));
        }
        let found = load::<Login>(&*self.store, &Login::row(&username)).await?;
        let Some((login, _)) = found else { return Ok(None) };
        let found = load::<Inbox>(&*self.store, &Inbox::row(login.inbox)).await?;
        Ok(found.map(|(inbox, _)| {
            let inbox = Arc::new(inbox);
            self.known.insert(username, inbox.clone());
            inbox
        }))
    }
}

impl LocalCache for Logins {
    fn invalidate_changed(&self, event: &LiveEvent) {
        if let LiveEvent::LoginChanged { username } = event {
            self.known.invalidate(username);
        }
    }

    fn invalidate_all(&self) {
        self.known.invalidate_all();
    }
}

impl AccessControl {
    /// Checks a user name, or the whole address of an inbox, and a password (RFC 4616; LOGIN).
    ///
    /// # Errors
    ///
    /// When the store does not answer, or the inbox's password does not open.
    pub async fn login(
        &self,
        username: &str,
        password: &str,
    ) -> Result<Result<DeliveryTarget, LoginRefused>> {
        self.check_login(username, |secret| secret.as_bytes().ct_eq(password.as_bytes()).into())
            .await
    }

    /// Checks a CRAM-MD5 answer (RFC 2195).
    ///
    /// # Errors
    ///
    /// When the store does not answer, or the inbox's password does not open.
    pub async fn login_cram_md5(
        &self,
        username: &str,
        challenge: &str,
        digest: &[u8],
    ) -> Result<Result<DeliveryTarget, LoginRefused>> {
        self.check_login(username, |secret| {
            Hmac::<Md5>::new_from_slice(secret.as_bytes()).is_ok_and(|mut mac| {
                mac.update(challenge.as_bytes());
                mac.verify_slice(digest).is_ok()
            })
        })
        .await
    }

    async fn check_login(
        &self,
        username: &str,
        holds: impl FnOnce(&str) -> bool,
    ) -> Result<Result<DeliveryTarget, LoginRefused>> {
        let username = self.logins.username_of(username).unwrap_or(username);
        let Some(inbox) = self.logins.inbox_of(username).await? else {
            return Ok(Err(LoginRefused::Unknown));
        };
        // A password that does not open is a fault of ours, and not the client's wrong password.
        let secret = self.secrets.open(&password_context(&inbox.username), &inbox.password)?;
        if !holds(&secret) {
            return Ok(Err(LoginRefused::Unknown));
        }
        Ok(target_unless_expired(inbox, self.clock.now()))
    }

    /// The inbox that an address is one of; `None` when it is no inbox's.
    pub(crate) async fn target_of_address(
        &self,
        recipient: &str,
    ) -> Result<Option<Result<DeliveryTarget, LoginRefused>>> {
        let Some(username) = self.logins.username_of(recipient) else { return Ok(None) };
        let inbox = self.logins.inbox_of(username).await?;
        Ok(inbox.map(|inbox| target_unless_expired(inbox, self.clock.now())))
    }

    /// The inbox with this user name, even past its time.
    pub(crate) async fn target_named(&self, username: &str) -> Result<Option<DeliveryTarget>> {
        Ok(self.logins.inbox_of(username).await?.map(DeliveryTarget))
    }

    /// Whether the inbox still takes mail, as far as this process knows.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn still_open(
        &self,
        target: &DeliveryTarget,
    ) -> Result<Result<DeliveryTarget, LoginRefused>> {
        match self.logins.inbox_of(&target.0.username).await? {
            Some(inbox) if inbox.id == target.inbox() => {
                Ok(target_unless_expired(inbox, self.clock.now()))
            }
            _ if target.0.expired(self.clock.now()) => Ok(Err(LoginRefused::Expired)),
            _ => Ok(Err(LoginRefused::Unknown)),
        }
    }

    /// Whether the inbox still has the password that it had when somebody signed in. Also true of a
    /// deleted or expired inbox: its mail is refused at the recipient.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn is_password_current(&self, target: &DeliveryTarget) -> Result<bool> {
        let inbox = self.logins.inbox_of(&target.0.username).await?;
        Ok(inbox
            .is_none_or(|inbox| inbox.id != target.inbox() || inbox.password == target.0.password))
    }
}

fn target_unless_expired(inbox: Arc<Inbox>, now: Time) -> Result<DeliveryTarget, LoginRefused> {
    if inbox.expired(now) { Err(LoginRefused::Expired) } else { Ok(DeliveryTarget(inbox)) }
}

/// The context that an inbox's SMTP password is sealed with.
pub(crate) fn password_context(username: &str) -> String {
    format!("smtp:{username}")
}
