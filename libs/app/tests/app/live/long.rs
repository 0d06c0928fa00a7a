//! Messages whose headings are longer than their rows keep.

use std::time::Duration;

use trapline_app::{Filter, Incoming, ListQuery, Waited};
use trapline_model::{Envelope, Inbox};

use crate::support::{Bench, anything};

/// A subject and lists of people, each with something at its end.
async fn deliver(bench: &Bench, inbox: &Inbox) -> trapline_model::MessageId {
    let people: Vec<_> = (0..400).map(|n| format!("Person {n} <p{n}@x.test>")).collect();
    let rcpt = (0..300).map(|n| format!("hidden{n}@y.test")).collect();
    let subject = format!("{} the end", "word ".repeat(400));
    let raw = format!("Subject: {subject}\r\nTo: {}\r\n\r\nhello\r\n", people.join(",\r\n "));
    let login = bench.app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
    let mail = Incoming {
        targets: vec![login.unwrap()],
        envelope: Envelope { from: "app@example.com".to_owned(), to: rcpt },
        raw: raw.into(),
    };
    bench.app.receive().deliver(mail).await.unwrap()[0]
}

fn filters() -> [Filter; 3] {
    let some = |text: &str| Some(text.to_owned());
    [
        Filter { subject: some("THE END"), ..anything() },
        Filter { to: some("p399@x.test"), ..anything() },
        Filter { to: some("hidden299@"), ..anything() },
    ]
}

#[tokio::test]
async fn what_a_row_leaves_out_is_found_all_the_same() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    let id = deliver(&bench, &inbox).await;
    bench.deliver(&inbox, "another").await;
    for (q, total) in [("the end", 1), ("P399@X", 1), ("hidden299", 1), ("nobody", 0)] {
        let query = ListQuery { q: Some(q.to_owned()), ..ListQuery::default() };
        let page = bench.app.messages().list(&bench.by, inbox.id, &query).await.unwrap();
        assert_eq!((page.total, page.partly_searched), (total, 0), "{q}");
    }
    for filter in filters() {
        let wait = bench.app.live().wait(&bench.by, inbox.id, &filter, Duration::from_mins(1));
        let Waited::Found(found) = wait.await.unwrap() else { panic!("{filter:?}") };
        assert_eq!(found.id, id);
        // The list has the beginnings, the message everything.
        assert_eq!((found.to.len(), found.envelope.to.len()), (400, 300));
    }
    let listed = &bench.list(&inbox).await.messages[1];
    assert!(
        listed.to.len() < 200 && listed.envelope.to.len() < 200 && listed.subject.len() <= 1_000
    );
}

#[tokio::test]
async fn a_parked_wait_finds_what_its_announcement_leaves_out() {
    for filter in filters() {
        let bench = Bench::new().await;
        let inbox = bench.inbox(100, None).await;
        let wait = bench.app.live().wait(&bench.by, inbox.id, &filter, Duration::from_mins(1));
        let (waited, id) = tokio::join!(wait, deliver(&bench, &inbox));
        let Waited::Found(found) = waited.unwrap() else { panic!("{filter:?}") };
        assert_eq!(found.id, id);
    }
}

#[tokio::test]
async fn a_search_says_how_many_it_did_not_look_into() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    for _ in 0..25 {
        deliver(&bench, &inbox).await;
    }
    let query = ListQuery { q: Some("nobody".to_owned()), ..ListQuery::default() };
    let page = bench.app.messages().list(&bench.by, inbox.id, &query).await.unwrap();
    assert_eq!((page.total, page.partly_searched), (0, 5));
}
