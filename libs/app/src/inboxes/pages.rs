//! Pages of a team's inboxes, each read without the others: a team may have a hundred thousand.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_model::{InboxId, TeamId};
use trapline_store::{
    Record as _, Row, Scan, Value,
    records::{Inbox, InboxEntry},
};
use uuid::Uuid;

use super::{Inboxes, READS_AT_ONCE};
use crate::Result;

/// Entries that are read of each part beside those of a page: versions of inboxes that are being changed.
const SPARE_ROWS: usize = 16;
/// Each of the sixteen parts is read for an eighth of a page: twice its share, so that once is mostly enough.
const PARTS_SHARE: usize = 8;

/// Some entries of a team's list, in no order, and the inbox up to which they are all; `None` is the end.
struct ListSpan {
    entries: Vec<InboxEntry>,
    until: Option<Uuid>,
}

impl Inboxes {
    /// The first inboxes behind one, oldest first. Reads a page of each part of the list.
    pub(super) async fn page_of(
        &self,
        team: TeamId,
        after: Option<InboxId>,
        limit: usize,
    ) -> Result<Vec<Inbox>> {
        let (mut found, mut after) = (Vec::new(), after.map(|id| id.0));
        while found.len() < limit {
            let ListSpan { entries, until } =
                self.span(team, after, limit / PARTS_SHARE + SPARE_ROWS).await?;
            found.extend(self.resolve(entries).await?);
            if until.is_none() {
                break;
            }
            after = until;
        }
        found.truncate(limit);
        Ok(found)
    }

    /// How many inboxes are in the team's list, by its keys.
    pub(super) async fn count_of(&self, team: TeamId) -> Result<usize> {
        let parts: Vec<_> = InboxEntry::of_team(team)
            .map(|scan| self.store.scan(Scan { keys_only: true, ..scan }))
            .collect();
        let parts: Vec<_> = stream::iter(parts).buffered(READS_AT_ONCE).try_collect().await?;
        // An inbox that is being changed has several entries, one behind the other.
        let of_part = |rows: &Vec<Row>| {
            let mut ids: Vec<_> = rows.iter().filter_map(InboxEntry::inbox_of).collect();
            ids.dedup();
            ids.len()
        };
        Ok(parts.iter().map(of_part).sum())
    }

    async fn span(&self, team: TeamId, after: Option<Uuid>, rows: usize) -> Result<ListSpan> {
        let after = after.map(|id| vec![Value::Uuid(id)]);
        let parts: Vec<_> = InboxEntry::of_team(team)
            .map(|scan| self.store.scan(Scan { after: after.clone(), limit: rows, ..scan }))
            .collect();
        let parts: Vec<_> = stream::iter(parts).buffered(READS_AT_ONCE).try_collect().await?;
        let until =
            parts.iter().filter(|part| part.len() == rows).filter_map(|part| whole(part)).min();
        let rows = parts.iter().flatten();
        let wanted =
            rows.filter(|row| until.is_none_or(|until| InboxEntry::inbox_of(row) <= Some(until)));
        let entries = wanted.map(InboxEntry::of).collect::<Result<_, _>>()?;
        Ok(ListSpan { entries, until })
    }
}

/// The last inbox of which a part that goes on has every entry: the one before the last, whose further
/// entries may be behind it.
fn whole(part: &[Row]) -> Option<Uuid> {
    let last = part.last().and_then(InboxEntry::inbox_of)?;
    let before = part.iter().rev().filter_map(InboxEntry::inbox_of).find(|id| *id != last);
    Some(before.unwrap_or(last))
}
