//! Senders: each mail has a subject of its own, and is sent again until it is accepted.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use trapline_tests::Mail;

use super::{
    AGAIN, Load,
    ledger::Kind,
    session::{Failure, Session},
};

/// Between two mails of one sender.
const PACE: Duration = Duration::from_millis(200);

/// Sends until the round ends.
pub(super) async fn send(load: Arc<Load>, number: usize) {
    let mut session = None;
    for n in 0.. {
        if load.is_stopped() {
            break;
        }
        load.deliver(&mut session, number, Kind::Smtp, &format!("mail-{number}-{n:05}.")).await;
        tokio::time::sleep(PACE).await;
    }
}

impl Load {
    /// Sends one mail until it is accepted or the round ends.
    pub(super) async fn deliver(
        &self,
        session: &mut Option<Session>,
        number: usize,
        kind: Kind,
        subject: &str,
    ) {
        let (began, mut tries) = (Instant::now(), 0);
        let raw = Mail::new(subject, &format!("This is {subject}\n")).bytes();
        loop {
            self.ledger.trying(subject);
            match self.attempt(session, number + tries, &raw).await {
                Ok(id) => {
                    self.ledger.accepted(subject, id);
                    if kind == Kind::Smtp {
                        self.ledger.done(kind, number, began, tries + 1);
                    }
                    return;
                }
                Err(Failure::TryAgain) => self.ledger.refused(),
                Err(Failure::Broken) => self.ledger.broken(),
                Err(Failure::Wrong(what)) => self.ledger.wrong(format!("SMTP: {what}")),
            }
            *session = None;
            tries += 1;
            if self.is_stopped() {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn attempt(
        &self,
        session: &mut Option<Session>,
        number: usize,
        raw: &[u8],
    ) -> Result<String, Failure> {
        let address = self.addresses.smtp(number);
        let open = match session {
            Some(open) if open.address == address => open,
            _ => {
                // Half of the senders have credentials, the others an address that is the inbox's.
                let login = (number / 2 % 2 == 1).then_some(&self.inbox);
                session.insert(Session::open(address, login).await?)
            }
        };
        open.mail(&self.inbox.address, raw).await
    }
}
