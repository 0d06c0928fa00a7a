//! What the clients of one day do.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::json;
use trapline_tests::{Deployment, Events, Hooks, Mail, Rest, Smtp, eventually, sha256_hex};

use crate::ledger::{KEPT, Lasting, Ledger};

/// Lasting inboxes; the first is followed, and told to the webhooks.
const LASTING: usize = 3;
/// Mails into each of them in a round.
const MAILS: usize = 4;
/// Disposable inboxes that a round makes.
const DISPOSABLE: usize = 3;
/// Of a round: what the rest of it is for others.
const ROUND: Duration = Duration::from_millis(500);

/// The clients, and what they were promised.
pub(crate) struct Traffic {
    pub(crate) lasting: Vec<Lasting>,
    pub(crate) ledger: Ledger,
    pub(crate) hooks: Hooks,
    sent: usize,
}

impl Traffic {
    /// Makes the lasting inboxes, and two webhooks: one that answers, and one that nobody answers.
    pub(crate) async fn begin(server: &Deployment) -> Self {
        let rest = server.rest();
        let (hooks, address) = Hooks::listen(Ipv4Addr::LOCALHOST);
        let mut lasting = Vec::new();
        for _ in 0..LASTING {
            lasting.push(Lasting::new(rest.inbox().await));
        }
        let followed = &lasting[0].inbox.id;
        for (url, inbox) in [(format!("http://{address}/"), followed), (dead(), followed)] {
            let hook = json!({ "url": url, "inboxId": inbox });
            rest.post("/api/webhooks", hook).await.expect(201);
        }
        Self { lasting, ledger: Ledger::default(), hooks, sent: 0 }
    }

    /// Rounds until the evening, and a stream all day. The first day fills the inboxes.
    pub(crate) async fn day(&mut self, server: &Deployment, number: u32, evening: Instant) {
        if number == 0 {
            self.mails(server, KEPT).await;
        }
        let rest = server.rest();
        let events = self.lasting[0].inbox.path("/events");
        let mut stream = rest.events(&events, None).await;
        if stream.status() != 200 {
            self.fault(format!("a stream got {}", stream.status()));
            return;
        }
        stream.comment().await;
        let told = Arc::new(Mutex::new(BTreeSet::new()));
        let follower = tokio::spawn(follow(stream, Arc::clone(&told)));
        let before = self.lasting[0].accepted.len();
        loop {
            let began = Instant::now();
            self.mails(server, MAILS).await;
            self.disposables(server, &rest).await;
            self.delete_one(&rest).await;
            tokio::time::sleep(ROUND.saturating_sub(began.elapsed())).await;
            if Instant::now() >= evening {
                break;
            }
        }
        let due: BTreeSet<_> =
            self.lasting[0].accepted[before..].iter().map(|(id, _)| id.clone()).collect();
        self.ledger.events += due.len();
        let all = async || due.is_subset(&told.lock().unwrap()).then_some(());
        eventually("an event for each mail of the day", all).await;
        follower.abort();
    }

    /// So many mails into each lasting inbox, each inbox over one connection.
    async fn mails(&mut self, server: &Deployment, count: usize) {
        for (number, lasting) in self.lasting.iter_mut().enumerate() {
            let mut smtp = Smtp::hello(server.smtp()[0]).await;
            smtp.login(&lasting.inbox.username, &lasting.inbox.password).await;
            for _ in 0..count {
                self.sent += 1;
                let raw = mail(self.sent);
                let mut ids = smtp.transact("app@example.test", &["ada@example.test"], &raw).await;
                let id = ids.remove(0);
                if number == 0 {
                    self.ledger.told.insert(id.clone());
                }
                lasting.accepted.push((id, sha256_hex(&raw)));
                self.ledger.accepted += 1;
            }
            smtp.quit().await;
        }
    }

    /// Disposable inboxes, each with a wait for the code that is sent to it. Every second is deleted,
    /// the others end by themselves.
    async fn disposables(&mut self, server: &Deployment, rest: &Rest) {
        for number in 0..DISPOSABLE {
            let body = json!({ "name": "Job", "expiresInMinutes": 60 + 600 * number });
            let inbox = rest.inbox_with(body).await;
            self.sent += 1;
            let raw = mail(self.sent);
            let waited = inbox.path("/messages/wait");
            let send = async {
                let mut smtp = Smtp::hello(server.smtp()[0]).await;
                smtp.login(&inbox.username, &inbox.password).await;
                let to = ["ada@example.test"];
                let ids = smtp.transact("app@example.test", &to, &raw).await;
                smtp.quit().await;
                ids.into_iter().next().unwrap()
            };
            let query = [("hasCode", "true"), ("timeout", "50")];
            let (found, id) = tokio::join!(rest.query(&waited, &query), send);
            if found.status != 200 || found.json()["message"]["id"] != id {
                self.fault(format!("a wait for {id}: {found}"));
            }
            self.ledger.waits += 1;
            self.ledger.accepted += 1;
            if self.sent.is_multiple_of(2) {
                rest.delete(&inbox.path("")).await.expect(204);
            }
            self.ledger.ended.push([inbox.path(""), format!("/api/messages/{id}/raw")]);
        }
    }

    /// Deletes the newest message of the last inbox.
    async fn delete_one(&mut self, rest: &Rest) {
        let lasting = self.lasting.last_mut().unwrap();
        let id = lasting.accepted.last().unwrap().0.clone();
        rest.delete(&format!("/api/messages/{id}")).await.expect(204);
        lasting.deleted.insert(id);
    }

    fn fault(&mut self, fault: String) {
        self.ledger.faults.push(fault);
    }
}

/// Collects the ids of the messages that a stream tells of.
async fn follow(mut stream: Events, told: Arc<Mutex<BTreeSet<String>>>) {
    loop {
        let event = stream.next().await;
        if event.name == "message.created" {
            let id = event.data["message"]["id"].as_str().unwrap_or_default().to_owned();
            told.lock().unwrap().insert(id);
        }
    }
}

/// A mail of 4 KB with a code, no two alike.
fn mail(number: usize) -> Vec<u8> {
    let code = 100_000 + number % 900_000;
    let text = format!("Your code is {code}\n{}", "A line of some length.\n".repeat(170));
    Mail::new(&format!("Mail {number}"), &text).bytes()
}

/// An address at which nobody listens.
fn dead() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}
