//! Bytes that are not those that were written are given out to nobody, and are in nobody's way.

use std::time::Duration;

use futures_util::StreamExt as _;
use trapline_app::{Error, Filter, ListQuery, Original, Waited};
use trapline_model::{Inbox, MessageId};
use trapline_store::{Op, When, records::Message};

use crate::support::Bench;

/// As if bits of the message had flipped: its checksum is another.
async fn damage(bench: &Bench, id: MessageId) {
    let key = Message::row(id);
    let row = bench.ports.store.get(&key).await.unwrap().unwrap();
    let crc = Message::of(&row).unwrap().blob.crc.unwrap();
    let doc = row.doc.replace(&format!("\"crc\":{crc}"), &format!("\"crc\":{}", crc ^ 1));
    assert_ne!(doc, row.doc);
    let put = Op::Put { key, doc, ttl: None, when: When::Always };
    bench.ports.store.write(vec![put]).await.unwrap();
}

async fn with_code(bench: &Bench, inbox: &Inbox, subject: &str) -> MessageId {
    let raw = format!("Subject: {subject}\r\n\r\nYour code is 493817\r\n");
    bench.deliver_raw(inbox, "app@example.com", raw.into()).await
}

#[tokio::test]
async fn a_damaged_message_is_named_and_others_go_on() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let whole = with_code(&bench, &inbox, "whole").await;
    let broken = with_code(&bench, &inbox, "broken").await;
    damage(&bench, broken).await;
    let read = bench.app.messages().get(&bench.by, broken).await;
    assert!(matches!(read, Err(Error::Damaged(_))), "{read:?}");
    let raw = bench.app.messages().raw(&bench.by, broken).await;
    assert!(matches!(raw, Err(Error::Damaged(_))), "{raw:?}");
    assert_eq!(bench.app.messages().get(&bench.by, whole).await.unwrap().codes.len(), 1);
    assert_eq!(bench.subjects(&inbox).await, ["broken", "whole"]);
    let query = ListQuery { q: Some("broken".to_owned()), ..ListQuery::default() };
    assert_eq!(bench.app.messages().list(&bench.by, inbox.id, &query).await.unwrap().total, 1);
    // The newest message with a code that can be read.
    let filter = Filter { has_code: true, ..Filter::default() };
    let waited = bench.app.live().wait(&bench.by, inbox.id, &filter, Duration::from_secs(30)).await;
    let Waited::Found(found) = waited.unwrap() else { panic!("it is there") };
    assert_eq!(found.id, whole);
}

#[tokio::test]
async fn a_large_message_comes_in_pieces_and_a_damaged_one_not_whole() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let raw = format!("Subject: large\r\n\r\n{}", "0123456789abcdef\r\n".repeat(150_000));
    let id = bench.deliver_raw(&inbox, "app@example.com", raw.clone().into()).await;
    let pieces = async || match bench.app.messages().original(&bench.by, id).await.unwrap() {
        Original::Pieces(pieces) => {
            assert_eq!(pieces.len(), raw.len() as u64);
            pieces.into_stream().collect::<Vec<_>>().await
        }
        Original::Whole(_) => panic!("it is large"),
    };
    let whole: Vec<_> = pieces().await.into_iter().map(Result::unwrap).collect();
    assert!(whole.len() > 2 && whole.concat() == raw.as_bytes());
    damage(&bench, id).await;
    let mut cut = pieces().await;
    assert!(matches!(cut.pop(), Some(Err(Error::Damaged(_)))));
    assert_eq!(cut.len(), whole.len() - 1, "the last piece is not given out");
}

#[tokio::test]
async fn a_compaction_leaves_damaged_bytes_where_they_are() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let broken = with_code(&bench, &inbox, "broken").await;
    damage(&bench, broken).await;
    for _ in 0..40 {
        bench.clock.advance(Duration::from_hours(1));
        bench.app.maintenance().run_due().await.unwrap();
    }
    let read = bench.app.messages().raw(&bench.by, broken).await;
    assert!(matches!(read, Err(Error::Damaged(_))), "{read:?}");
}
