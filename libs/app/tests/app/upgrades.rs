//! Rows of earlier releases are moved, once, however often that is cut off.

use std::time::Duration;

use trapline_store::{
    Column, Key, Kind, Op, Order, Record as _, Storage, Table, Value, When, Writes,
    records::{Inbox as InboxRow, InboxEntry, Login},
};

use crate::support::{Bench, inboxes_of};

const INBOX: &Table = &Table {
    name: "inbox",
    partition: &[Column { name: "team_id", kind: Kind::Uuid }],
    sort: &[Column { name: "inbox_id", kind: Kind::Uuid }],
    order: Order::Ascending,
    writes: Writes::Guarded,
    storage: Storage::Rows,
    ..Table::PLAIN
};

const SMTP_LOGIN: &Table = &Table {
    name: "smtp_login",
    partition: &[Column { name: "username", kind: Kind::Text }],
    sort: &[],
    order: Order::Ascending,
    writes: Writes::Guarded,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Puts an inbox where earlier releases had it, and takes it away from where it is.
async fn set_back(bench: &Bench, inbox: &trapline_model::Inbox, ttl: Option<Duration>) {
    let store = &bench.ports.store;
    let row = store.get(&InboxRow::row(inbox.id)).await.unwrap().unwrap();
    let username = inbox.smtp.username.clone();
    let login =
        Key { table: SMTP_LOGIN, partition: vec![Value::Text(username.clone())], sort: Vec::new() };
    let (partition, sort) = (vec![Value::Uuid(bench.team.0)], vec![Value::Uuid(inbox.id.0)]);
    let old = Key { table: INBOX, partition, sort };
    let key = InboxRow::row(inbox.id);
    let entry = InboxEntry::row(bench.team, inbox.id, row.version);
    let ops = vec![
        Op::Put { key: old, doc: row.doc, ttl, when: When::Absent },
        Op::Put { key: login, doc: "{}".to_owned(), ttl, when: When::Absent },
        Op::Delete { key, when: When::Version(row.version) },
        Op::Delete { key: entry, when: When::Always },
        Op::Delete { key: Login::row(&username), when: When::Always },
    ];
    store.write(ops).await.unwrap();
}

async fn left(bench: &Bench) -> usize {
    let mut left = 0;
    for table in [INBOX, SMTP_LOGIN] {
        left += bench.ports.store.partitions(table).await.unwrap().len();
    }
    left
}

#[tokio::test]
async fn inboxes_of_earlier_releases_are_moved() {
    let bench = Bench::new().await;
    bench.ports.store.prepare(&[INBOX, SMTP_LOGIN]).await.unwrap();
    let (hour, mut inboxes) = (Duration::from_hours(1), Vec::new());
    for number in 0..130 {
        inboxes.push(bench.inbox(10, (number % 2 == 0).then_some(hour)).await);
    }
    let message = bench.deliver(&inboxes[1], "kept").await;
    let before = inboxes_of(&bench.app, &bench.by).await;
    for (number, inbox) in (0..).zip(&inboxes) {
        set_back(&bench, inbox, (number % 2 == 0).then_some(hour)).await;
    }
    // An earlier run was cut off behind one of them.
    let app = bench.another_process().await;
    assert!(app.upgrades().are_finished().await.unwrap());
    bench.forget_upgrades().await;
    assert!(!app.upgrades().are_finished().await.unwrap());
    app.upgrades().run().await.unwrap();
    assert!(app.upgrades().are_finished().await.unwrap());
    assert_eq!(left(&bench).await, 0);
    let after = inboxes_of(&app, &bench.by).await;
    let shown = |inboxes: &[trapline_model::Inbox]| serde_json::to_value(inboxes).unwrap();
    assert_eq!(shown(&after), shown(&before));
    assert_eq!(bench.subjects(&inboxes[1]).await, ["kept"]);
    assert_eq!(app.messages().get(&bench.by, message).await.unwrap().subject, "kept");
    let (one, smtp) = (&inboxes[1], &inboxes[1].smtp);
    assert!(app.access().login(&smtp.username, &smtp.password).await.unwrap().is_ok());
    app.inboxes().rotate_password(&bench.by, one.id).await.unwrap();
    app.inboxes().delete(&bench.by, one.id).await.unwrap();
    assert_eq!(inboxes_of(&app, &bench.by).await.len(), after.len() - 1);
    bench.clock.advance(hour);
    assert_eq!(inboxes_of(&app, &bench.by).await.len(), 1 + 64);
}

#[tokio::test]
async fn an_inbox_that_is_half_moved_or_damaged_stops_no_other() {
    let bench = Bench::new().await;
    bench.ports.store.prepare(&[INBOX, SMTP_LOGIN]).await.unwrap();
    let (moved, other) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    let before = inboxes_of(&bench.app, &bench.by).await;
    let row = bench.ports.store.get(&InboxRow::row(moved.id)).await.unwrap().unwrap();
    set_back(&bench, &moved, None).await;
    set_back(&bench, &other, None).await;
    let put = |key, doc| Op::Put { key, doc, ttl: None, when: When::Absent };
    let junk = vec![Value::Uuid(uuid::Uuid::from_u128(other.id.0.as_u128() + 1))];
    let junk = Key { table: INBOX, partition: vec![Value::Uuid(bench.team.0)], sort: junk };
    let ops = vec![put(InboxRow::row(moved.id), row.doc), put(junk, "{".to_owned())];
    bench.ports.store.write(ops).await.unwrap();
    bench.forget_upgrades().await;
    bench.app.upgrades().run().await.unwrap();
    let shown = |inboxes: &[trapline_model::Inbox]| serde_json::to_value(inboxes).unwrap();
    let after = inboxes_of(&bench.app, &bench.by).await;
    assert_eq!(shown(&after), shown(&before));
    assert_eq!(left(&bench).await, 1, "what cannot be read stays where it was");
    let inbox = bench.ports.store.get(&InboxRow::row(other.id)).await.unwrap().unwrap();
    assert_eq!(InboxRow::of(&inbox).unwrap().id, other.id);
}
