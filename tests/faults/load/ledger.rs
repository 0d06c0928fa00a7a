//! What the clients of a round saw.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Something a client is made to wait for longer than this was disturbed.
const SLOW: Duration = Duration::from_secs(2);

/// A kind of client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Smtp,
    Rest,
    Wait,
    Sse,
    Mock,
    SignIn,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Smtp, Self::Rest, Self::Wait, Self::Sse, Self::Mock, Self::SignIn];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Smtp => "SMTP",
            Self::Rest => "REST",
            Self::Wait => "wait",
            Self::Sse => "SSE",
            Self::Mock => "mock",
            Self::SignIn => "sign-in",
        }
    }
}

/// What a client wanted, and got in the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    /// Which of its kind.
    pub(crate) client: usize,
    /// When the result was due at the earliest.
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    pub(crate) tries: usize,
}

impl Operation {
    /// Whether the client noticed that something was wrong.
    fn was_disturbed(&self) -> bool {
        self.tries > 1 || self.ended.duration_since(self.began) > SLOW
    }
}

/// A mail on its way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent {
    /// How often it was tried.
    pub(crate) tries: usize,
    /// Its id, and when the answer came.
    pub(crate) accepted: Option<(String, Instant)>,
}

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    mails: Mutex<BTreeMap<String, Sent>>,
    operations: Mutex<Vec<Operation>>,
    /// What calls of the mock made, by their keys.
    made: Mutex<BTreeMap<String, String>>,
    /// By subscriber: when each message was told first.
    told: Mutex<BTreeMap<(usize, String), Instant>>,
    wrong: Mutex<Vec<String>>,
    refused: AtomicUsize,
    broken: AtomicUsize,
}

impl Ledger {
    pub(super) fn trying(&self, subject: &str) {
        self.mails.lock().unwrap().entry(subject.to_owned()).or_default().tries += 1;
    }

    pub(super) fn accepted(&self, subject: &str, id: String) {
        let now = Instant::now();
        self.mails.lock().unwrap().entry(subject.to_owned()).or_default().accepted =
            Some((id, now));
    }

    /// When a mail was accepted.
    pub(super) fn accepted_at(&self, subject: &str) -> Option<Instant> {
        let mails = self.mails.lock().unwrap();
        mails.get(subject)?.accepted.as_ref().map(|(_, at)| *at)
    }

    pub(crate) fn mails(&self) -> BTreeMap<String, Sent> {
        self.mails.lock().unwrap().clone()
    }

    /// The id and subject of the accepted mails that were answered last.
    pub(super) fn latest(&self, count: usize) -> Vec<(String, String)> {
        let mails = self.mails.lock().unwrap();
        let mut all: Vec<_> = mails
            .iter()
            .filter_map(|(subject, sent)| sent.accepted.as_ref().map(|(id, at)| (*at, id, subject)))
            .collect();
        all.sort_unstable();
        let latest = all.iter().rev().take(count);
        latest.map(|(_, id, subject)| ((*id).clone(), (*subject).clone())).collect()
    }

    pub(super) fn done(&self, kind: Kind, client: usize, began: Instant, tries: usize) {
        let operation = Operation { kind, client, began, ended: Instant::now(), tries };
        self.operations.lock().unwrap().push(operation);
    }

    pub(super) fn told(&self, subscriber: usize, id: &str) {
        let key = (subscriber, id.to_owned());
        self.told.lock().unwrap().entry(key).or_insert_with(Instant::now);
    }

    /// A call of the mock was answered.
    pub(super) fn made(&self, key: &str, id: &str) {
        self.made.lock().unwrap().insert(key.to_owned(), id.to_owned());
    }

    /// What calls of the mock made, by their keys.
    pub(crate) fn all_made(&self) -> BTreeMap<String, String> {
        self.made.lock().unwrap().clone()
    }

    /// An answer that must never come.
    pub(crate) fn wrong(&self, what: String) {
        eprintln!("wrong: {what}");
        self.wrong.lock().unwrap().push(what);
    }

    /// The answers that must never come.
    pub(crate) fn wrongs(&self) -> Vec<String> {
        self.wrong.lock().unwrap().clone()
    }

    /// An answer that says "try again".
    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection that was not made, ended or stayed silent.
    pub(super) fn broken(&self) {
        self.broken.fetch_add(1, Ordering::Relaxed);
    }

    /// How often a client was told to try again, and how often its connection was lost.
    pub(crate) fn troubles(&self) -> (usize, usize) {
        (self.refused.load(Ordering::Relaxed), self.broken.load(Ordering::Relaxed))
    }

    /// How many clients of a kind have got something that they began to want after `since`.
    pub(super) fn served_since(&self, kind: Kind, since: Instant) -> usize {
        let served = |operation: &Operation| operation.kind == kind && operation.began > since;
        let operations = self.operations();
        let clients = operations.iter().filter(|operation| served(operation));
        clients.map(|operation| operation.client).collect::<BTreeSet<_>>().len()
    }

    /// Whether every subscriber has heard of all that was accepted.
    pub(super) fn all_were_told(&self, subscribers: usize) -> bool {
        self.untold(subscribers).is_empty()
    }

    /// Accepted messages that a subscriber was not told of.
    pub(crate) fn untold(&self, subscribers: usize) -> Vec<String> {
        let (mails, told) = (self.mails(), self.told.lock().unwrap());
        let accepted = mails.values().filter_map(|sent| sent.accepted.as_ref());
        let pairs = accepted.flat_map(|(id, _)| (0..subscribers).map(move |one| (one, id.clone())));
        let missing = pairs.filter(|pair| !told.contains_key(pair));
        missing.map(|(one, id)| format!("{id} by stream {one}")).collect()
    }

    /// How long after `since` the last client of a kind was still disturbed; `None` if none was.
    pub(crate) fn disturbed(&self, kind: Kind, since: Instant) -> Option<Duration> {
        let late = self.operations().into_iter().filter(|operation| {
            operation.kind == kind && operation.was_disturbed() && operation.ended > since
        });
        late.map(|operation| operation.ended.duration_since(since)).max()
    }

    /// Of all kinds; a stream's are the messages that it told of.
    fn operations(&self) -> Vec<Operation> {
        let mails = self.mails();
        let accepted: BTreeMap<_, _> =
            mails.values().filter_map(|sent| sent.accepted.clone()).collect();
        let told = self.told.lock().unwrap();
        let events = told.iter().filter_map(|((client, id), ended)| {
            let began = *accepted.get(id)?;
            let ended = began.max(*ended);
            Some(Operation { kind: Kind::Sse, client: *client, began, ended, tries: 1 })
        });
        let mut all = self.operations.lock().unwrap().clone();
        all.extend(events);
        all
    }
}
