//! What the SMTP edge asks, answered by the use cases.

use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use trapline_app::{App, Incoming, LoginRefused, Mailbox, metrics};
use trapline_model::Envelope;
use trapline_smtp::{Login, Mail, Mailroom, Observation, Receipt, Refusal, Reject};

/// Credentials choose the inbox; without them the recipient's address does.
pub(crate) struct Inboxes(pub Arc<App>);

#[async_trait]
impl Mailroom for Inboxes {
    type Account = Mailbox;
    type Route = Mailbox;

    async fn authenticate(&self, login: &Login, _peer: IpAddr) -> Result<Mailbox, Reject> {
        let outcome = match login {
            Login::Plain { username, password } => self.0.login(username, password).await,
            Login::CramMd5 { username, challenge, digest } => {
                self.0.login_cram_md5(username, challenge, digest).await
            }
        };
        outcome.map_err(|error| unanswered(&error, Reject::cannot_authenticate()))?.map_err(
            |refused| match refused {
                LoginRefused::Unknown => Reject::bad_credentials(),
                LoginRefused::Expired => Reject::fixed(535, (5, 7, 8), "this inbox has expired"),
            },
        )
    }

    async fn accept(&self, account: Option<&Mailbox>, recipient: &str) -> Result<Mailbox, Reject> {
        let outcome = match account {
            Some(mailbox) => self.0.still_open(mailbox).await,
            None => self.0.route(recipient).await,
        };
        outcome.map_err(|error| unanswered(&error, not_now()))?.map_err(|refused| match refused {
            LoginRefused::Unknown => Reject::unknown_mailbox(),
            LoginRefused::Expired => Reject::disabled_mailbox(),
        })
    }

    fn inbox(&self, mailbox: &Mailbox) -> u128 {
        mailbox.inbox().0.as_u128()
    }

    async fn deliver(
        &self,
        _account: Option<&Mailbox>,
        mail: Mail<Mailbox>,
    ) -> Result<Receipt, Reject> {
        let mut mailboxes: Vec<Mailbox> = Vec::new();
        let mut to = Vec::with_capacity(mail.recipients.len());
        for (recipient, mailbox) in mail.recipients {
            to.push(recipient);
            let new = !mailboxes.iter().any(|other| other.inbox() == mailbox.inbox());
            if new && mailbox.takes_mail(self.0.now()) {
                mailboxes.push(mailbox);
            }
        }
        if mailboxes.is_empty() {
            return Err(Reject::disabled_mailbox());
        }
        let envelope = Envelope { from: mail.from, to };
        let incoming = Incoming { mailboxes, envelope, raw: mail.body };
        match self.0.receive(incoming).await {
            Ok(ids) => Ok(Receipt { ids: ids.iter().map(ToString::to_string).collect() }),
            Err(error) => Err(unanswered(&error, not_now())),
        }
    }

    fn observe(&self, event: Observation) {
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
            Observation::HandshakeFailed => metrics::smtp_fault("handshake"),
            Observation::OutOfMemory => metrics::smtp_fault("memory"),
            Observation::TooSlow => metrics::smtp_fault("slow"),
            Observation::TimedOut => metrics::smtp_fault("timeout"),
            Observation::RecipientRejected(_) => metrics::smtp_fault("recipient"),
            Observation::Authenticated => metrics::smtp_auth(true),
            Observation::AuthenticationFailed(_) => metrics::smtp_auth(false),
            Observation::MessageAccepted { elapsed, .. } => metrics::smtp_mail_accepted(elapsed),
            Observation::MessageRejected(_) => metrics::smtp_mail_rejected(),
        }
    }
}

fn not_now() -> Reject {
    Reject::temporary("the mail could not be stored, try again")
}

fn unanswered(error: &trapline_app::Error, reply: Reject) -> Reject {
    tracing::error!(%error, "an SMTP session was told to try again");
    reply
}
