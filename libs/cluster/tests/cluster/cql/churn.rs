//! Inboxes of one team, made and removed in great number, as the application writes them.

use std::time::Instant;

use futures_util::{StreamExt as _, future::join_all, stream};
use trapline_cluster::cql::CqlStore;
use trapline_model::{InboxId, TeamId};
use trapline_store::{
    Clock, Op, Record, Store, When,
    records::{Inbox, InboxEntry, Login},
};
use uuid::Uuid;

use super::{fresh, support::store};

/// How many clients make and remove inboxes at once.
const CLIENTS: usize = 64;

fn pairs() -> usize {
    match std::env::var("PROOFS").as_deref() {
        Ok("full") => 200_000,
        _ => 400,
    }
}

fn inbox(team: TeamId) -> Inbox {
    let (id, now) = (InboxId(fresh()), Clock::system().now());
    Inbox {
        id,
        team,
        name: "CI job".to_owned(),
        project: None,
        max_messages: 1000,
        expires_at: None,
        created_at: now,
        username: id.0.simple().to_string(),
        password: "sealed".repeat(10),
    }
}

fn put(record: &impl Record, when: When) -> Op {
    Op::Put { key: record.key(), doc: record.doc().unwrap(), ttl: None, when }
}

async fn make(store: &CqlStore, inbox: &Inbox) {
    let coming = put(&InboxEntry::coming(inbox, 1), When::Always);
    let login = put(&Login::of(inbox), When::Always);
    store.write(vec![coming, login, put(inbox, When::Absent)]).await.unwrap();
    store.write(vec![put(&InboxEntry::written(inbox, 1), When::Always)]).await.unwrap();
}

async fn remove(store: &CqlStore, inbox: &Inbox) {
    let delete = |key, when| Op::Delete { key, when };
    let ops = vec![
        delete(inbox.key(), When::Version(1)),
        delete(Login::row(&inbox.username), When::Always),
        delete(InboxEntry::row(inbox.team, inbox.id, 1), When::Always),
    ];
    store.write(ops).await.unwrap();
}

async fn listed(store: &CqlStore, team: TeamId) -> Vec<Uuid> {
    let parts = join_all(InboxEntry::of_team(team).map(|scan| store.scan(scan))).await;
    let rows = parts.into_iter().flat_map(Result::unwrap);
    let mut ids: Vec<_> = rows.filter_map(|row| InboxEntry::inbox_of(&row)).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn a_list_is_unharmed_by_what_came_and_went() {
    let store = store(Clock::system()).await;
    let tables = [Inbox::TABLE, InboxEntry::TABLE, Login::TABLE];
    store.prepare(&tables).await.unwrap();
    let team = TeamId(fresh());
    let mut kept = Vec::new();
    for _ in 0..20 {
        let inbox = inbox(team);
        make(&store, &inbox).await;
        kept.push(inbox.id.0);
    }
    kept.sort();
    let began = Instant::now();
    let pairs = stream::iter(0..pairs()).map(async |_| {
        let inbox = inbox(team);
        make(&store, &inbox).await;
        remove(&store, &inbox).await;
    });
    let count = pairs.buffer_unordered(CLIENTS).count().await;
    let (took, asked) = (began.elapsed(), Instant::now());
    assert_eq!(listed(&store, team).await, kept);
    println!("{count} pairs in {took:?}; the list in {:?}", asked.elapsed());
}
