//! Searches: what is found does not depend on what a store leaves out.

use std::{sync::Arc, time::Duration};

use proptest::{prelude::*, sample::select};
use trapline_app::{Filter, ListQuery, Waited};
use trapline_mime::fold;
use trapline_model::{Inbox, MessageId, Summary, Time};
use trapline_store::Store;

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::Bench,
};

/// A store that leaves nothing out of a scan.
struct Unnarrowed(Arc<dyn Store>);

impl StoreLayer for Unnarrowed {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }
}

/// Where the clock of a bench begins, in milliseconds.
const BEGIN: i64 = 1_800_000_000_000;
/// An inbox that keeps fewer than it gets.
const KEPT: u32 = 450;
const SENT: usize = 500;

/// Words of which subjects are made, some of them hard to search in.
const WORDS: [&str; 8] = ["Straße", "a\"b\\c", "message", "{\"search\"", "cut", "", "É", "100%"];

fn subject(number: usize) -> String {
    let words: Vec<_> = (0..4).map(|at| WORDS[(number >> at) % WORDS.len()]).collect();
    // Some are longer than a row keeps.
    let filling = if number.is_multiple_of(99) { "long ".repeat(900) } else { String::new() };
    format!("{} {filling}number {number}", words.join(" "))
}

async fn filled(bench: &Bench) -> Inbox {
    let inbox = bench.inbox(KEPT, None).await;
    for number in 0..SENT {
        bench.clock.advance(Duration::from_secs(1));
        let subject = subject(number);
        let kind =
            if number.is_multiple_of(5) { "multipart/mixed; boundary=b" } else { "text/plain" };
        let raw = format!(
            "Subject: {subject}\r\nTo: ada@example.com\r\nContent-Type: {kind}\r\n\r\n--b\r\n\r\nhello\r\n\
             --b\r\nContent-Disposition: attachment; filename=a\r\n\r\na\r\n--b--\r\n"
        );
        bench.deliver_raw(&inbox, "app@example.com", raw.into()).await;
        if number.is_multiple_of(7) {
            let id = bench.list(&inbox).await.messages[0].id;
            bench.app.messages().set_read(&bench.by, id, true).await.unwrap();
        }
    }
    inbox
}

/// A part of some message's subject, or of what is beside it.
fn texts() -> impl Strategy<Value = String> {
    let part = (0..SENT, 0..60_usize, 1..12_usize).prop_map(|(number, from, len)| {
        let text = subject(number);
        text.chars().skip(from).take(len).collect::<String>()
    });
    let other = select(vec![
        "app@example.com",
        "ADA@",
        "nothing has this",
        "\"",
        "\\",
        " ",
        "long number",
        "a\tb",
        "\"cut\":true",
    ]);
    prop_oneof![part, other.prop_map(str::to_owned)]
}

fn queries() -> impl Strategy<Value = ListQuery> {
    let maybe = |weight| proptest::option::weighted(weight, texts());
    let headings = (maybe(0.6), maybe(0.2), maybe(0.2), maybe(0.3));
    // Mails come in the first minutes, one in a second.
    let time = || proptest::option::weighted(0.3, -10..600_i64);
    let flags = (proptest::bool::weighted(0.3), proptest::bool::weighted(0.3));
    (headings, time(), time(), flags, 1..5_usize, 1..200_usize).prop_map(
        |((q, to, from, subject), since, until, (has_attachment, unread), page, limit)| {
            let [since, until] =
                [since, until].map(|at| at.map(|at| Time::from_millis(BEGIN + 1_000 * at)));
            ListQuery { q, to, from, subject, since, until, has_attachment, unread, page, limit }
        },
    )
}

async fn found(bench: &Bench, inbox: &Inbox, query: &ListQuery) -> (u64, u64, Vec<(String, bool)>) {
    let page = bench.app.messages().list(&bench.by, inbox.id, query).await.unwrap();
    let messages = page.messages.into_iter().map(|message| (message.subject, message.is_read));
    (page.total, page.partly_searched, messages.collect())
}

#[test]
fn a_search_finds_the_same_whatever_the_store_leaves_out() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (narrowed, whole) = runtime.block_on(async {
        let narrowed = Bench::new().await;
        let whole = Bench::with(|ports| {
            ports.store = Arc::new(LayeredStore(Unnarrowed(ports.store.clone())));
        })
        .await;
        let inboxes = (filled(&narrowed).await, filled(&whole).await);
        ((narrowed, inboxes.0), (whole, inboxes.1))
    });
    proptest!(ProptestConfig::with_cases(64), |(query in queries())| {
        let both = async {
            (found(&narrowed.0, &narrowed.1, &query).await, found(&whole.0, &whole.1, &query).await)
        };
        let (ours, theirs) = runtime.block_on(both);
        prop_assert_eq!(ours, theirs, "{:?}", query);
    });
}

/// Whether a message with this subject is looked for, by what the list shows of it.
fn is_wanted(message: &Summary, whole_subject: &str, query: &ListQuery) -> bool {
    let is = |wanted: &Option<String>, texts: &[&str]| {
        wanted
            .as_deref()
            .is_none_or(|wanted| texts.iter().any(|text| fold(text).contains(&fold(wanted))))
    };
    let mut to: Vec<_> = message.to.iter().map(|to| to.address.as_str()).collect();
    to.extend(message.envelope.to.iter().map(String::as_str));
    is(&query.to, &to)
        && is(&query.from, &[&message.envelope.from])
        && is(&query.subject, &[whole_subject])
        && query.since.is_none_or(|since| message.received_at >= since)
        && query.until.is_none_or(|until| message.received_at <= until)
        && (!query.has_attachment || message.attachment_count > 0)
        && (!query.unread || !message.is_read)
}

/// Every message that the query is for, whatever page it asks for.
async fn all_pages(bench: &Bench, inbox: &Inbox, query: &ListQuery) -> Vec<Summary> {
    let mut all = Vec::new();
    for page in 1.. {
        let query = ListQuery { page, limit: 200, ..query.clone() };
        let page = bench.app.messages().list(&bench.by, inbox.id, &query).await.unwrap();
        all.extend(page.messages);
        if all.len() as u64 == page.total {
            break;
        }
    }
    all
}

/// Whether a wait for the same ends with a message.
async fn waited(bench: &Bench, inbox: &Inbox, query: &ListQuery) -> Option<MessageId> {
    let ListQuery { to, from, subject, since, .. } = query.clone();
    let filter = Filter { to, from, subject, since, has_code: false };
    let wait = bench.app.live().wait(&bench.by, inbox.id, &filter, Duration::from_millis(1));
    match wait.await.unwrap() {
        Waited::Found(message) => Some(message.id),
        Waited::TimedOut(_) => None,
    }
}

#[test]
fn a_search_finds_what_a_look_at_each_message_and_a_wait_find() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (bench, inbox, all) = runtime.block_on(async {
        let bench = Bench::new().await;
        let inbox = filled(&bench).await;
        let all = all_pages(&bench, &inbox, &ListQuery::default()).await;
        (bench, inbox, all)
    });
    assert_eq!(all.len(), KEPT as usize);
    // In the list some are cut.
    let subjects = (0..SENT).rev().map(subject).zip(&all).map(|(sent, message)| {
        if message.subject.len() > 900 { sent } else { message.subject.clone() }
    });
    let subjects: Vec<_> = subjects.collect();
    proptest!(ProptestConfig::with_cases(64), |(query in queries())| {
        let query = ListQuery { q: None, ..query };
        let (found, waited) = runtime.block_on(async {
            (all_pages(&bench, &inbox, &query).await, waited(&bench, &inbox, &query).await)
        });
        let each = all.iter().zip(&subjects);
        let matching = each.filter(|(message, subject)| is_wanted(message, subject, &query));
        let matching: Vec<_> = matching.map(|(message, _)| message.clone()).collect();
        prop_assert_eq!(&found, &matching, "{:?}", query);
        if query.until.is_none() && !query.has_attachment && !query.unread {
            prop_assert_eq!(waited, found.first().map(|message| message.id), "{:?}", query);
        }
    });
}
