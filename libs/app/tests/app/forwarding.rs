//! Forwarding over the embedded adapters, with a relay that answers from a script and a clock that
//! moves.

mod addresses;
mod forwards;
mod loops;

use std::time::Duration;

use trapline_app::{AddedAddress, Claimed, Lane, OutgoingMail, RelayError};
use trapline_model::{Forward, ForwardMatch, Forwarding, Inbox, MessageId};

use crate::{mail::text_of, support::Bench};

const LOOK: Duration = Duration::from_millis(30);

/// The token of the link in a mail.
fn token_of(mail: &OutgoingMail) -> String {
    let message = text_of(mail);
    let (_, body) = message.split_once("Content-Transfer-Encoding: base64\r\n\r\n").unwrap();
    let body = body.split("\r\n--").next().unwrap().replace("\r\n", "");
    let text = String::from_utf8(data_encoding::BASE64.decode(body.as_bytes()).unwrap()).unwrap();
    let (_, token) = text.split_once("/api/forward-addresses/confirm?token=").unwrap();
    token.split_whitespace().next().unwrap().to_owned()
}

impl Bench {
    /// Adds an address, and returns the token that its owner got.
    async fn asked(&self, email: &str) -> String {
        let added = self.app.forwarding().add_address(&self.by, email).await.unwrap();
        assert!(matches!(added, AddedAddress::New(_)), "{added:?}");
        let mails = self.send_due(Ok(())).await;
        assert_eq!(mails.len(), 1, "{mails:?}");
        token_of(&mails[0])
    }

    /// Adds an address whose owner agrees.
    async fn agreed(&self, email: &str) {
        let token = self.asked(email).await;
        self.app.forwarding().confirm(&token, None).await.unwrap();
    }

    async fn rule(&self, inbox: &Inbox, to: &[&str], matching: Option<ForwardMatch>) {
        let to = to.iter().map(|to| (*to).to_owned()).collect();
        let new = Forwarding { enabled: true, to, matching };
        self.app.forwarding().set_rule(&self.by, inbox.id, new).await.unwrap();
    }

    /// Starts what arrived mail calls for.
    async fn arrive(&self) {
        for lease in self.app.jobs().take(Lane::Received, 100, LOOK).await.unwrap() {
            self.app.arrivals().start(&lease.job).await.unwrap();
            self.app.jobs().complete(lease).await.unwrap();
        }
    }

    /// Forwards what is due now, and returns what the relay got.
    async fn forward_due(
        &self,
        mut answer: impl FnMut(&OutgoingMail) -> Result<(), RelayError>,
    ) -> Vec<OutgoingMail> {
        let mut mails = Vec::new();
        loop {
            let leases = self.app.jobs().take(Lane::Forward, 100, LOOK).await.unwrap();
            if leases.is_empty() {
                return mails;
            }
            for lease in leases {
                let next = match self.app.forwarding().claim(&lease.job).await.unwrap() {
                    Claimed::Finished => None,
                    Claimed::Reschedule(next) => Some(next),
                    Claimed::Run(attempt) => {
                        let sent = answer(&attempt.outgoing);
                        mails.push(attempt.outgoing.clone());
                        self.app.forwarding().record(*attempt, sent).await.unwrap()
                    }
                };
                match next {
                    Some(next) => self.app.jobs().reschedule(lease, &next).await.unwrap(),
                    None => self.app.jobs().complete(lease).await.unwrap(),
                }
            }
        }
    }

    /// A message that somebody asked to have forwarded to one who agreed.
    async fn asked_for(&self) -> MessageId {
        let inbox = self.inbox(10, None).await;
        self.agreed("ada@example.com").await;
        let message = self.deliver(&inbox, "hello").await;
        let to = ["ada@example.com".to_owned()];
        self.app.forwarding().forward(&self.by, message, &to).await.unwrap();
        message
    }

    async fn forwards(&self, message: MessageId) -> Vec<Forward> {
        self.app.forwarding().forwards(&self.by, message).await.unwrap()
    }

    /// Why the only forward of a message failed.
    async fn refusal(&self, message: MessageId) -> Option<String> {
        let forwards = self.forwards(message).await;
        assert_eq!(forwards.len(), 1, "{forwards:?}");
        forwards[0].error.clone()
    }
}
