//! What is stored, against what was answered.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use trapline_tests::{Inbox, Rest};

use crate::load::Load;

/// Messages read at once.
const AT_ONCE: usize = 8;

/// What a check found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Found {
    pub(crate) accepted: usize,
    /// Accepted, and not there, or not whole, or not told to a subscriber.
    pub(crate) lost: usize,
    pub(crate) duplicate_ids: usize,
    /// Stored by a try whose answer did not arrive or said "try again".
    pub(crate) repeated: usize,
}

/// Compares, and notes in the ledger what cannot be explained.
pub(crate) async fn check(load: &Load, rest: &Rest, subscribers: usize) -> Found {
    let (mails, stored) = (load.ledger.mails(), stored(rest, &load.inbox).await);
    let mut found = Found::default();
    let mut by_id = BTreeMap::new();
    let mut copies: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, subject) in &stored {
        found.duplicate_ids += usize::from(by_id.insert(id, subject).is_some());
        *copies.entry(subject).or_default() += 1;
    }
    let mut answered = BTreeSet::new();
    let mut lost = Vec::new();
    for (subject, sent) in &mails {
        if let Some((id, _)) = &sent.accepted {
            found.accepted += 1;
            found.duplicate_ids += usize::from(!answered.insert(id));
            if by_id.get(id) != Some(&subject) {
                lost.push(format!("{subject} ({id}) is not there"));
            }
        }
    }
    for (subject, count) in copies {
        let sent = mails.get(subject);
        found.repeated += count - usize::from(sent.is_some_and(|sent| sent.accepted.is_some()));
        if sent.is_none_or(|sent| sent.tries < count) {
            load.ledger.wrong(format!("{count} copies of {subject}, which was not sent so often"));
        }
    }
    lost.extend(broken(rest, &stored).await);
    lost.extend(unmade(load, rest).await);
    lost.extend(load.ledger.untold(subscribers));
    lost.iter().take(20).for_each(|what| eprintln!("lost: {what}"));
    found.lost = lost.len();
    found
}

/// Every message of an inbox: id and subject.
async fn stored(rest: &Rest, inbox: &Inbox) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for page in 1.. {
        let path = inbox.path(&format!("/messages?limit=200&page={page}"));
        let list = rest.get(&path).await.expect(200).json();
        let messages = list["messages"].as_array().unwrap();
        all.extend(messages.iter().map(|message| {
            let text = |field: &str| message[field].as_str().unwrap().to_owned();
            (text("id"), text("subject"))
        }));
        if messages.is_empty() {
            break;
        }
    }
    all
}

/// Messages whose bytes are not those that were sent.
async fn broken(rest: &Rest, stored: &[(String, String)]) -> Vec<String> {
    let reads = stream::iter(stored.to_vec()).map(|(id, subject)| async move {
        let answer = rest.get(&format!("/api/messages/{id}/raw")).await;
        let text = String::from_utf8_lossy(&answer.body);
        let whole = text.contains(&format!("\r\n\r\nThis is {subject}\r\n"));
        (answer.status != 200 || !whole).then(|| format!("{subject} is not whole: {answer}"))
    });
    reads.buffer_unordered(AT_ONCE).filter_map(async |broken| broken).collect().await
}

/// Customers that a call of the mock was told of and that are not there; one that a key made twice is a wrong answer.
async fn unmade(load: &Load, rest: &Rest) -> Vec<String> {
    let path = format!("/api/mocks/{}/objects?kind=customers&limit=200", load.mock_id);
    let kept = rest.get(&path).await.expect(200).json();
    let (mut ids, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for customer in kept.as_array().unwrap() {
        let object = &customer["object"];
        ids.insert(object["id"].as_str().unwrap_or_default());
        if !keys.insert(object["description"].as_str().unwrap_or_default()) {
            load.ledger.wrong(format!("two customers of {}", object["description"]));
        }
    }
    let made = load.ledger.all_made().into_iter();
    let missing = made.filter(|(_, id)| !ids.contains(id.as_str()));
    missing.map(|(key, id)| format!("{id} of {key} is not there")).collect()
}
