//! Pages of the list of inboxes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use trapline_app::{InboxChange, InboxQuery, NewInbox};
use trapline_model::InboxId;
use trapline_store::{Result, Row, Scan, Store};

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::{Bench, inboxes_of},
};

/// Counts the documents that scans read.
struct Counted(Arc<dyn Store>, Arc<AtomicUsize>);

#[async_trait]
impl StoreLayer for Counted {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        let keys_only = scan.keys_only;
        let rows = self.0.scan(scan).await?;
        self.1.fetch_add(if keys_only { 0 } else { rows.len() }, Ordering::Relaxed);
        Ok(rows)
    }
}

async fn page(bench: &Bench, after: Option<InboxId>, limit: usize) -> (Vec<InboxId>, usize) {
    let query = InboxQuery { limit: Some(limit), after, ..InboxQuery::default() };
    let page = bench.app.inboxes().list(&bench.by, &query).await.unwrap();
    (page.inboxes.into_iter().map(|inbox| inbox.id).collect(), page.total)
}

#[tokio::test]
async fn pages_have_all_inboxes_once_and_read_few_others() {
    let read = Arc::<AtomicUsize>::default();
    let counter = read.clone();
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(LayeredStore(Counted(ports.store.clone(), counter)));
    })
    .await;
    let (app, by) = (&bench.app, &bench.by);
    let mut made = Vec::new();
    for number in 0..500 {
        let new = NewInbox::named(&number.to_string());
        made.push(app.inboxes().create(by, new).await.unwrap().id);
    }
    for id in made.iter().step_by(3) {
        let change = InboxChange { name: Some("Changed".to_owned()), ..InboxChange::default() };
        app.inboxes().update(by, *id, change).await.unwrap();
    }
    for id in made.iter().step_by(7) {
        app.inboxes().delete(by, *id).await.unwrap();
    }
    let all: Vec<_> = inboxes_of(app, by).await.into_iter().map(|inbox| inbox.id).collect();
    for limit in [1, 9, 200] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let (ids, total) = page(&bench, after, limit).await;
            assert_eq!(total, all.len(), "{limit}");
            let Some(last) = ids.last().copied() else { break };
            assert!(ids.len() == limit || last == all[all.len() - 1], "{limit}: {}", ids.len());
            seen.extend(ids);
            after = Some(last);
        }
        assert_eq!(seen, all, "{limit}");
    }
    // Whatever an id is.
    for after in [uuid::Uuid::nil(), uuid::Uuid::from_u128(7)] {
        assert_eq!(page(&bench, Some(InboxId(after)), 200).await.0, all[..200]);
    }
    assert_eq!(page(&bench, Some(InboxId(uuid::Uuid::max())), 200).await.0, []);
    read.store(0, Ordering::Relaxed);
    page(&bench, Some(all[100]), 9).await;
    let read = read.load(Ordering::Relaxed);
    assert!((9..all.len()).contains(&read), "{read} of {}", all.len());
}
