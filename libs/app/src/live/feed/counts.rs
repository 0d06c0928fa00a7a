//! Counts of other inboxes, on the stream of one.

use std::{collections::HashSet, future::pending, sync::Arc};

use futures_util::{
    StreamExt as _,
    stream::{BoxStream, SelectAll, select_all, unfold},
};
use trapline_model::InboxId;
use uuid::Uuid;

use super::Feed;
use crate::{
    Result,
    live::counted::{Counted, CountedInbox},
};

/// The inboxes that a stream counts beside its own.
pub(super) struct OtherCounts {
    /// When the client was told of their present state.
    since: Uuid,
    changes: SelectAll<BoxStream<'static, Arc<CountedInbox>>>,
}

impl OtherCounts {
    /// The next inbox that changed. Waits for ever once none of them is there any more.
    pub(super) async fn next(counts: &mut Option<Self>) -> Arc<CountedInbox> {
        while let Some(of) = counts {
            match of.changes.next().await {
                // One that was counted before is behind what the client was told.
                Some(counted) if counted.counted_at > of.since => return counted,
                Some(_) => {}
                None => *counts = None,
            }
        }
        pending().await
    }
}

impl Feed {
    /// Also tells of these inboxes of the team, which the edge bounds (100): first of their present state, then
    /// of each at most once in a second that its name, settings or counts changed. One that is gone is told
    /// of no more.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the team has not all of them, and
    /// [`Error::TooManyStreams`](crate::Error::TooManyStreams) when as many inboxes, waits and streams are
    /// followed as may be.
    pub async fn count(&mut self, ids: &[InboxId]) -> Result<()> {
        let mut known = HashSet::new();
        let ids: Vec<_> = ids.iter().copied().filter(|id| known.insert(*id)).collect();
        let live = self.live.clone();
        // Nothing of another team's is followed.
        live.inboxes.records(self.by.team, &ids).await?;
        let mut changes = Vec::with_capacity(ids.len());
        for id in &ids {
            changes.push(changes_of(live.counted(self.by.team, *id).await?));
        }
        let since = live.ids.next();
        let present = live.inboxes.get_many(&self.by, &ids);
        for inbox in live.read_for_stream(self.inbox.id, present).await? {
            self.tell_inbox(inbox, None);
        }
        self.counts = Some(OtherCounts { since, changes: select_all(changes) });
        Ok(())
    }
}

fn changes_of(counted: Counted) -> BoxStream<'static, Arc<CountedInbox>> {
    let changes = unfold(counted, |mut counted| async move {
        counted.changed().await.ok()?;
        let change = counted.borrow_and_update().clone();
        Some((change, counted))
    });
    changes.filter_map(std::future::ready).boxed()
}
