//! Processes whose clocks differ, and clocks that jump.

use std::sync::Arc;

use trapline_app::App;
use trapline_model::{Inbox, MessageId};

use crate::support::Bench;

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
    let query = trapline_app::ListQuery { q: None, unread: false, page: 1, limit: 10 };
    let mut answers = Vec::new();
    for app in [&bench.app, late] {
        let page = app.list(bench.team, inbox.id, &query).await.unwrap();
        answers.push(page.messages.iter().map(|message| message.is_read).collect::<Vec<_>>());
    }
    assert_eq!(answers[0], answers[1]);
    answers.remove(0)
}

#[tokio::test]
async fn the_last_mark_counts_whoevers_clock_is_behind() {
    let (bench, late, inbox, ids) = two().await;
    for is_read in [true, false, true] {
        bench.app.set_read(bench.team, ids[0], !is_read).await.unwrap();
        assert_eq!(read(&bench, &late, &inbox).await, [false, !is_read]);
        let message = late.set_read(bench.team, ids[0], is_read).await.unwrap();
        assert_eq!(message.is_read, is_read);
        assert_eq!(read(&bench, &late, &inbox).await, [false, is_read]);
    }
}

#[tokio::test]
async fn one_message_is_unread_again_after_all_were_read_whoevers_clock_is_behind() {
    let (bench, late, inbox, ids) = two().await;
    bench.app.mark_all_read(bench.team, inbox.id).await.unwrap();
    late.set_read(bench.team, ids[1], false).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [false, true]);
    late.mark_all_read(bench.team, inbox.id).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [true, true]);
    bench.app.set_read(bench.team, ids[0], false).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [true, false]);
    late.mark_all_read(bench.team, inbox.id).await.unwrap();
    assert_eq!(read(&bench, &late, &inbox).await, [true, true]);
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
