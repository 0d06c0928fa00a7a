//! Which inbox a mail is for: by credentials, or by the recipient's address.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use moka::sync::Cache;
use subtle::ConstantTimeEq;
use trapline_model::InboxId;
use trapline_store::{
    Bus, LiveEvent, Signal, load,
    records::{Inbox, Login},
};
use uuid::Uuid;

use crate::{App, Result, forwarding::Rules, inboxes::seal_context, webhooks::Hooks};

/// Where every process hears of changed logins, webhooks and rules; no inbox has this id.
pub(crate) const EVERYWHERE: InboxId = InboxId(Uuid::nil());
const PAUSE: Duration = Duration::from_secs(1);

/// An inbox as the receiving path knows it.
#[derive(Debug, Clone)]
pub struct Mailbox(pub(crate) Arc<Inbox>);

impl Mailbox {
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

impl App {
    /// Checks a user name, or the whole address of an inbox, and a password (RFC 4616; LOGIN).
    pub async fn login(
        &self,
        username: &str,
        password: &str,
    ) -> Result<Result<Mailbox, LoginRefused>> {
        self.check_login(username, |secret| secret.as_bytes().ct_eq(password.as_bytes()).into())
            .await
    }

    /// Checks a CRAM-MD5 answer (RFC 2195).
    pub async fn login_cram_md5(
        &self,
        username: &str,
        challenge: &str,
        digest: &[u8],
    ) -> Result<Result<Mailbox, LoginRefused>> {
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
    ) -> Result<Result<Mailbox, LoginRefused>> {
        let username = self.username_of(username).unwrap_or(username);
        let Some(login) = self.inbox_of_login(username).await? else {
            return Ok(Err(LoginRefused::Unknown));
        };
        // A password that does not open is a fault of ours, and not the client's wrong password.
        let secret = self.secrets.open(&seal_context(&login.username), &login.password)?;
        if !holds(&secret) {
            return Ok(Err(LoginRefused::Unknown));
        }
        Ok(self.unexpired(login))
    }

    /// The inbox that mail to this address lands in without credentials.
    pub async fn route(&self, recipient: &str) -> Result<Result<Mailbox, LoginRefused>> {
        if let Some(username) = self.username_of(recipient)
            && let Some(login) = self.inbox_of_login(username).await?
        {
            return Ok(self.unexpired(login));
        }
        if !self.settings.catch_all {
            return Ok(Err(LoginRefused::Unknown));
        }
        self.catch_all_mailbox().await.map(Ok)
    }

    /// Whether the inbox still takes mail, as far as this process knows.
    pub async fn still_open(&self, mailbox: &Mailbox) -> Result<Result<Mailbox, LoginRefused>> {
        match self.inbox_of_login(&mailbox.0.username).await? {
            Some(login) if login.id == mailbox.inbox() => Ok(self.unexpired(login)),
            _ if mailbox.0.expired(self.now()) => Ok(Err(LoginRefused::Expired)),
            _ => Ok(Err(LoginRefused::Unknown)),
        }
    }

    /// Whether the password that the inbox had when somebody signed in is still the one. An inbox
    /// that is gone or past its time says so where mail for it is refused.
    pub async fn password_stands(&self, mailbox: &Mailbox) -> Result<bool> {
        let login = self.inbox_of_login(&mailbox.0.username).await?;
        Ok(login.is_none_or(|login| {
            login.id != mailbox.inbox() || login.password == mailbox.0.password
        }))
    }

    /// Removes what an inbox holds that was deleted; a conflict when it is there after all.
    pub async fn discard(&self, mailbox: &Mailbox) -> Result<()> {
        self.purge_deleted(mailbox.0.team, mailbox.inbox(), Some(&mailbox.0.username)).await
    }

    /// Forgets a login here and in every other process.
    pub(crate) async fn login_changed(&self, username: &str) {
        self.logins.invalidate(username);
        self.announce(EVERYWHERE, LiveEvent::LoginChanged { username: username.to_owned() }).await;
    }

    fn unexpired(&self, login: Arc<Inbox>) -> Result<Mailbox, LoginRefused> {
        if login.expired(self.now()) { Err(LoginRefused::Expired) } else { Ok(Mailbox(login)) }
    }

    /// The user name in `<username>@<mail domain>` or `<username>+anything@<mail domain>`.
    fn username_of<'a>(&self, recipient: &'a str) -> Option<&'a str> {
        let (local, domain) = recipient.rsplit_once('@')?;
        let ours = domain.eq_ignore_ascii_case(&self.settings.mail_domain);
        ours.then(|| local.split_once('+').map_or(local, |(username, _)| username))
    }

    /// The inbox with this user name.
    pub(crate) async fn mailbox_named(&self, username: &str) -> Result<Option<Mailbox>> {
        Ok(self.inbox_of_login(username).await?.map(Mailbox))
    }

    /// The inbox that a user name leads to; its letters may come in any case.
    async fn inbox_of_login(&self, username: &str) -> Result<Option<Arc<Inbox>>> {
        let username = username.to_ascii_lowercase();
        if let Some(login) = self.logins.get(&username) {
            return Ok(Some(login));
        }
        let found = load::<Login>(&*self.ports.store, &Login::row(&username)).await?;
        let Some((login, _)) = found else { return Ok(None) };
        let found = load::<Inbox>(&*self.ports.store, &Inbox::row(login.inbox)).await?;
        Ok(found.map(|(inbox, _)| {
            let inbox = Arc::new(inbox);
            self.logins.insert(username, inbox.clone());
            inbox
        }))
    }
}

/// Forgets what other processes changed, and everything whenever a change may have gone unheard.
pub(crate) async fn follow_changes(
    bus: Arc<dyn Bus>,
    logins: Cache<String, Arc<Inbox>>,
    hooks: Arc<Hooks>,
    rules: Arc<Rules>,
) {
    let forget_all = || {
        logins.invalidate_all();
        hooks.forget_all();
        rules.forget_all();
    };
    loop {
        match bus.subscribe(EVERYWHERE).await {
            Ok(mut signals) => {
                forget_all();
                while let Some(signal) = signals.next().await {
                    match signal {
                        Signal::Gap | Signal::Lagged => forget_all(),
                        Signal::Event(event) => match &*event {
                            LiveEvent::LoginChanged { username } => logins.invalidate(username),
                            LiveEvent::HooksChanged { team } => {
                                hooks.forget(*team);
                                rules.forget(*team);
                            }
                            _ => {}
                        },
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "changes of logins, webhooks and rules are not heard");
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
