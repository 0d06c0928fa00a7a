//! Searches: what is found does not depend on what a store leaves out.

use std::sync::Arc;

use proptest::{prelude::*, sample::select};
use trapline_app::ListQuery;
use trapline_model::Inbox;
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
        bench.deliver(&inbox, &subject(number)).await;
        if number.is_multiple_of(7) {
            let id = bench.list(&inbox).await.messages[0].id;
            bench.app.messages().set_read(&bench.by, id, true).await.unwrap();
        }
    }
    inbox
}

fn queries() -> impl Strategy<Value = ListQuery> {
    let part = (0..SENT, 0..60_usize, 1..12_usize).prop_map(|(number, from, len)| {
        let text = subject(number);
        text.chars().skip(from).take(len).collect::<String>()
    });
    let other =
        select(vec!["app@example.com", "ADA@", "nothing has this", "\"", "\\", " ", "long number"]);
    let q = prop_oneof![part, other.prop_map(str::to_owned)];
    let q = proptest::option::weighted(0.9, q);
    (q, any::<bool>(), 1..5_usize, 1..200_usize).prop_map(|(q, unread, page, limit)| ListQuery {
        q,
        unread,
        page,
        limit,
    })
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
