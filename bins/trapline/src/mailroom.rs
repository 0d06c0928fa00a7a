//! The mailroom of the SMTP edge: authenticates, routes and stores mail through the use cases.

mod auth_throttle;
mod log;

use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use trapline_app::{App, DeliveryTarget, Error, Incoming, LoginRefused, PlanLimit, metrics};
use trapline_model::{Envelope, MessageId};
use trapline_smtp::{
    Login, Mail, Mailroom, Observation, ProxyFault, Receipt, Refusal, Reject, Stage,
};

use self::{auth_throttle::AuthThrottle, log::MailLog};

/// Delivers to the inbox of the credentials, or without them to that of the recipient's address.
pub(crate) struct InboxMailroom {
    app: Arc<App>,
    auth_throttle: AuthThrottle,
    mail_log: MailLog,
}

impl InboxMailroom {
    /// The answers to all failed sign-ins of an address but the first `free_failures` are delayed.
    pub(crate) fn new(app: Arc<App>, free_failures: u32) -> Self {
        Self { app, auth_throttle: AuthThrottle::new(free_failures), mail_log: MailLog::new() }
    }

    async fn check_login(&self, login: &Login) -> Result<DeliveryTarget, Reject> {
        let outcome = match login {
            Login::Plain { username, password } => {
                self.app.access().login(username, password).await
            }
            Login::CramMd5 { username, challenge, digest } => {
                self.app.access().login_cram_md5(username, challenge, digest).await
            }
        };
        outcome.map_err(|error| reject_for(&error, Reject::cannot_authenticate()))?.map_err(
            |refused| match refused {
                LoginRefused::Unknown => Reject::bad_credentials(),
                LoginRefused::Expired => Reject::fixed(535, (5, 7, 8), "this inbox has expired"),
            },
        )
    }

    /// The inboxes that still take mail when it has arrived.
    async fn still_open(
        &self,
        mailboxes: Vec<DeliveryTarget>,
    ) -> Result<Vec<DeliveryTarget>, Reject> {
        let mut open: Vec<DeliveryTarget> = Vec::with_capacity(mailboxes.len());
        let mut closed = Reject::disabled_mailbox();
        for mailbox in mailboxes {
            match self.app.access().still_open(&mailbox).await {
                Ok(Ok(mailbox)) => open.push(mailbox),
                Ok(Err(refused)) => closed = reject_recipient(refused),
                Err(error) => return Err(reject_for(&error, cannot_store())),
            }
        }
        if open.is_empty() { Err(closed) } else { Ok(open) }
    }

    /// Removes what was stored in inboxes that were deleted meanwhile. Returns whether all were.
    async fn discard_if_deleted(&self, mailboxes: &[DeliveryTarget]) -> bool {
        let mut gone = true;
        for mailbox in mailboxes {
            match self.app.access().still_open(mailbox).await {
                Ok(Err(LoginRefused::Unknown)) => {
                    if let Err(error) = self.app.inboxes().discard(mailbox).await {
                        tracing::warn!(%error, "mail of a deleted inbox is left to its purge");
                    }
                }
                _ => gone = false,
            }
        }
        gone
    }

    async fn store(
        &self,
        mail: Mail<DeliveryTarget>,
    ) -> Result<(Vec<DeliveryTarget>, Vec<MessageId>), Reject> {
        let mut mailboxes: Vec<DeliveryTarget> = Vec::new();
        let mut to = Vec::with_capacity(mail.recipients.len());
        for (recipient, mailbox) in mail.recipients {
            to.push(recipient);
            if !mailboxes.iter().any(|other| other.inbox() == mailbox.inbox()) {
                mailboxes.push(mailbox);
            }
        }
        let mailboxes = self.still_open(mailboxes).await?;
        let envelope = Envelope { from: mail.from, to };
        let incoming = Incoming { targets: mailboxes.clone(), envelope, raw: mail.body };
        let ids = self.app.receive().deliver(incoming).await;
        let ids = ids.map_err(|error| reject_for(&error, cannot_store()))?;
        if self.discard_if_deleted(&mailboxes).await {
            return Err(Reject::unknown_mailbox());
        }
        Ok((mailboxes, ids))
    }
}

#[async_trait]
impl Mailroom for InboxMailroom {
    type Account = DeliveryTarget;
    type Route = DeliveryTarget;

    async fn authenticate(&self, login: &Login, peer: IpAddr) -> Result<DeliveryTarget, Reject> {
        self.auth_throttle.attempt(peer, self.check_login(login)).await
    }

    async fn confirm(&self, account: &DeliveryTarget) -> Result<(), Reject> {
        const REPLACED: Reject =
            Reject::fixed(530, (5, 7, 0), "the password was replaced, authenticate again");
        let stands = self.app.access().is_password_current(account).await;
        let stands = stands.map_err(|error| reject_for(&error, cannot_store()))?;
        if stands { Ok(()) } else { Err(REPLACED) }
    }

    async fn accept(
        &self,
        account: Option<&DeliveryTarget>,
        recipient: &str,
        peer: IpAddr,
    ) -> Result<DeliveryTarget, Reject> {
        let outcome = match account {
            Some(mailbox) => self.app.access().still_open(mailbox).await,
            None => self.app.receive().route(recipient).await,
        };
        let outcome = match outcome {
            Ok(Ok(mailbox)) => self.app.receive().check_quota(&mailbox).await.map(|()| Ok(mailbox)),
            outcome => outcome.map(|refused| refused.map_err(reject_recipient)),
        };
        let outcome = outcome.map_err(|error| reject_for(&error, cannot_store())).flatten();
        outcome.inspect_err(|reject| {
            let inbox = account.map(|mailbox| mailbox.inbox().to_string());
            self.mail_log.refused(peer, "rcpt", reject.code, inbox.as_deref());
        })
    }

    async fn may_come(&self, mailbox: &DeliveryTarget, octets: u64) -> Result<(), Reject> {
        let allowed = self.app.receive().check_size(mailbox, octets).await;
        allowed.map_err(|error| reject_for(&error, cannot_store()))
    }

    fn inbox(&self, mailbox: &DeliveryTarget) -> u128 {
        mailbox.inbox().0.as_u128()
    }

    async fn deliver(
        &self,
        _account: Option<&DeliveryTarget>,
        mail: Mail<DeliveryTarget>,
    ) -> Result<Receipt, Reject> {
        let (peer, octets) = (mail.peer, mail.body.len());
        let first = mail.recipients.first().map(|(_, mailbox)| mailbox.inbox().to_string());
        match self.store(mail).await {
            Ok((mailboxes, ids)) => {
                let inboxes = log::first_ids(mailboxes.iter().map(DeliveryTarget::inbox));
                self.mail_log.accepted(peer, &inboxes, &log::first_ids(ids.iter()), octets);
                Ok(Receipt { ids: ids.iter().map(ToString::to_string).collect() })
            }
            Err(reject) => {
                self.mail_log.refused(peer, "data", reject.code, first.as_deref());
                Err(reject)
            }
        }
    }

    fn observe(&self, peer: IpAddr, event: Observation) {
        self.log(peer, event);
        match event {
            Observation::SessionOpened => {
                metrics::smtp_connection("accepted");
                metrics::smtp_session_opened();
            }
            Observation::SessionClosed(_) => metrics::smtp_session_closed(),
            Observation::ConnectionRefused(Refusal::Connections) => {
                metrics::smtp_connection("refused_connections");
            }
            Observation::ConnectionRefused(Refusal::PerAddress) => {
                metrics::smtp_connection("refused_per_address");
            }
            Observation::Replied(code) => metrics::smtp_reply(code),
            Observation::ProxyRefused(fault) => metrics::smtp_fault(proxy_fault(fault)),
            Observation::HandshakeFailed => metrics::smtp_fault("handshake"),
            Observation::OutOfMemory => metrics::smtp_fault("memory"),
            Observation::TooSlow => metrics::smtp_fault("slow"),
            Observation::TimedOut => metrics::smtp_fault("timeout"),
            Observation::RecipientRejected(_) => metrics::smtp_fault("recipient"),
            Observation::Authenticated => metrics::smtp_auth(true),
            Observation::AuthenticationFailed(_) => metrics::smtp_auth(false),
            Observation::MessageAccepted { elapsed, .. } => metrics::smtp_mail_accepted(elapsed),
            Observation::MessageRejected(_) => metrics::smtp_mail_rejected(),
            Observation::Refused { .. } => metrics::smtp_fault("command"),
        }
    }
}

impl InboxMailroom {
    /// Logs a refusal; those that concern an inbox are logged where the inbox is known.
    fn log(&self, peer: IpAddr, event: Observation) {
        let (stage, code) = match event {
            Observation::ConnectionRefused(_) => ("connect", 421),
            Observation::AuthenticationFailed(code) => ("auth", code),
            Observation::OutOfMemory | Observation::TooSlow => ("data", 421),
            Observation::Refused { stage, code } => (stage_name(stage), code),
            _ => return,
        };
        self.mail_log.refused(peer, stage, code, None);
    }
}

const fn proxy_fault(fault: ProxyFault) -> &'static str {
    match fault {
        ProxyFault::Untrusted => "proxy_untrusted",
        ProxyFault::NoHeader => "proxy_header",
        ProxyFault::Timeout => "proxy_timeout",
    }
}

const fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Auth => "auth",
        Stage::Mail => "mail",
        Stage::Rcpt => "rcpt",
        Stage::Data => "data",
        Stage::Other => "command",
    }
}

fn reject_recipient(refused: LoginRefused) -> Reject {
    match refused {
        LoginRefused::Unknown => Reject::unknown_mailbox(),
        LoginRefused::Expired => Reject::disabled_mailbox(),
    }
}

/// The reply while a backend does not answer.
fn cannot_store() -> Reject {
    Reject::temporary("the mail could not be stored, try again")
}

/// The reply to an error of a use case; `reply` where the error has none of its own.
fn reject_for(error: &Error, reply: Reject) -> Reject {
    match error {
        Error::StorageFull => {
            return Reject::fixed(452, (4, 3, 1), "the server's disk is full, try again later");
        }
        Error::QuotaExceeded { limit: PlanLimit::MessageBytes, most, .. } => {
            let text = format!("the team's plan allows messages of {most} octets");
            return Reject::new(552, (5, 3, 4), text);
        }
        Error::QuotaExceeded { limit, most, .. } => {
            return Reject::over_quota(format!(
                "the team's plan allows no more: {limit} is {most}"
            ));
        }
        _ => {}
    }
    tracing::error!(%error, "an SMTP session was told to try again");
    reply
}
