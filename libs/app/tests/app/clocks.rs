//! Processes whose clocks differ, and clocks that jump.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use trapline_app::App;
use trapline_model::{Inbox, MessageId, Time};
use trapline_store::{Clock, Result, Store};

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::Bench,
};

/// How far one process's clock is behind the other's, in milliseconds.
const BEHIND: i64 = 300_000;

/// Two processes, of which the second's clock is behind, and an inbox with messages.
async fn two() -> (Bench, Arc<App>, Inbox, Vec<MessageId>) {
    let bench = Bench::new().await;
    let late = bench.process_by(&bench.clock.apart(-BEHIND)).await;
    let inbox = bench.inbox(10, None).await;
    let ids = [bench.deliver(&inbox, "1").await, bench.deliver(&inbox, "2").await];
    (bench, late, inbox, ids.to_vec())
}

/// What both processes say: which messages are read, in the order of the list.
async fn read(bench: &Bench, late: &Arc<App>, inbox: &Inbox) -> Vec<bool> {
    let query = trapline_app::ListQuery { limit: 10, ..trapline_app::ListQuery::default() };
    let mut answers = Vec::new();
    for app in [&bench.app, late] {
        let page = app.messages().list(&bench.by, inbox.id, &query).await.unwrap();
        answers.push(page.messages.iter().map(|message| message.is_read).collect::<Vec<_>>());
    }
    assert_eq!(answers[0], answers[1]);
    answers.remove(0)
}

#[tokio::test]
async fn the_last_mark_counts_whoevers_clock_is_behind() {
    let (bench, late, inbox, ids) = two().await;
    for is_read in [true, false, true] {
        bench.app.messages().set_read(&bench.by, ids[0], !is_read).await.unwrap();
        assert_eq!(read(&bench, &late, &inbox).await, [false, !is_read]);
        let message = late.messages().set_read(&bench.by, ids[0], is_read).await.unwrap();
        assert_eq!(message.is_read, is_read);
        assert_eq!(read(&bench, &late, &inbox).await, [false, is_read]);
    }
}

#[tokio::test]
async fn one_message_is_unread_again_after_all_were_read_whoevers_clock_is_behind() {
    let (bench, late, inbox, ids) = two().await;
    bench.app.messages().mark_all_read(&bench.by, inbox.id).await.unwrap();
    late.messages().set_read(&bench.by, ids[1], false).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [false, true]);
    late.messages().mark_all_read(&bench.by, inbox.id).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [true, true]);
    bench.app.messages().set_read(&bench.by, ids[0], false).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [true, false]);
    late.messages().mark_all_read(&bench.by, inbox.id).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [true, true]);
}

/// A store on another machine, whose clock is three seconds behind.
struct Elsewhere(Arc<dyn Store>, Clock);

#[async_trait]
impl StoreLayer for Elsewhere {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn time(&self) -> Result<Option<Time>> {
        Ok(Some(self.1.now()))
    }
}

#[tokio::test]
async fn health_tells_how_far_the_clock_is_from_the_stores() {
    let alone = Bench::new().await;
    assert_eq!(alone.app.maintenance().deep_health().await.unwrap().clock_skew_ms, None);
    let theirs = Clock::manual(Time::from_millis(1_800_000_000_000 - 3_000));
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(LayeredStore(Elsewhere(ports.store.clone(), theirs)));
    });
    let bench = bench.await;
    let measured = async {
        loop {
            if let Some(millis) = bench.app.maintenance().deep_health().await.unwrap().clock_skew_ms
            {
                return millis;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let skew = tokio::time::timeout(Duration::from_secs(20), measured).await.unwrap();
    // Half of the time that the answer took counts as the way there.
    assert!((3_000..3_300).contains(&skew), "{skew}");
}

#[tokio::test]
async fn messages_stay_in_order_whichever_way_the_clock_jumps() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let mut sent = Vec::new();
    for (number, jump) in [0, BEHIND, -2 * BEHIND, BEHIND, -1, 1].into_iter().enumerate() {
        bench.clock.turn(jump);
        bench.deliver(&inbox, &number.to_string()).await;
        sent.insert(0, number.to_string());
        assert_eq!(bench.subjects(&inbox).await, sent);
    }
}
