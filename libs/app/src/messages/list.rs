//! The list of an inbox: newest first, in pages, with search.

mod search;

use std::time::Duration;

use trapline_model::{InboxId, MessageId, Principal, Summary, Time};
use trapline_store::{
    Narrowed, Row, Scan, Value,
    records::{self, Message},
};
use uuid::Uuid;

use super::{Messages, summary};
use crate::{
    Result,
    ids::least_at,
    message_scans::{message_keys, message_rows},
    read_marks::ReadState,
};
use search::{ListSearch, OpenBudget};

/// Rows in memory at a time; with the bound on a row's size (16 KiB) this bounds the memory of a search.
const PAGE_ROWS: usize = 200;

/// What a client asks for; bounds are checked at the edge. What is asked for must all hold.
#[derive(Debug, Clone)]
pub struct ListQuery {
    /// Subject, sender or a recipient contains this.
    pub q: Option<String>,
    /// A recipient contains this, as in [`Filter`](crate::Filter).
    pub to: Option<String>,
    /// The sender contains this, as in [`Filter`](crate::Filter).
    pub from: Option<String>,
    /// The subject contains this.
    pub subject: Option<String>,
    /// The earliest time of receipt.
    pub since: Option<Time>,
    /// The latest time of receipt.
    pub until: Option<Time>,
    /// Only messages that have attachments.
    pub has_attachment: bool,
    /// Only messages that nobody marked read.
    pub unread: bool,
    /// The page's number, from 1.
    pub page: usize,
    /// Messages of a page, 1 to 200.
    pub limit: usize,
}

impl Default for ListQuery {
    /// The first page of everything.
    fn default() -> Self {
        let (q, to, from, subject) = (None, None, None, None);
        let (since, until, has_attachment, unread) = (None, None, false, false);
        Self { q, to, from, subject, since, until, has_attachment, unread, page: 1, limit: 50 }
    }
}

impl ListQuery {
    /// Whether it is for all messages.
    fn is_plain(&self) -> bool {
        let texts = [&self.q, &self.to, &self.from, &self.subject];
        let times = [self.since, self.until];
        !self.unread
            && !self.has_attachment
            && texts.iter().all(|text| text.is_none())
            && times.iter().all(Option::is_none)
    }
}

/// A page of the list.
#[derive(Debug, Default)]
pub struct Page {
    /// How many messages match in all.
    pub total: u64,
    /// The messages of the page, newest first.
    pub messages: Vec<Summary>,
    /// Messages with very long headings that were searched only in part, since there were too many.
    pub partly_searched: u64,
}

impl Messages {
    /// One page of an inbox's messages.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox.
    pub async fn list(&self, by: &Principal, id: InboxId, query: &ListQuery) -> Result<Page> {
        let inbox = self.inboxes.record(by.team, id).await?;
        if query.is_plain() {
            return self.plain_page(&inbox, query).await;
        }
        self.filtered_page(&inbox, query).await
    }

    async fn plain_page(&self, inbox: &records::Inbox, query: &ListQuery) -> Result<Page> {
        let total = self.inboxes.message_count(inbox).await?;
        let max = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let skipped = (query.page - 1).saturating_mul(query.limit).min(max);
        let taken = query.limit.min(max - skipped);
        if taken == 0 || skipped as u64 >= total {
            return Ok(Page { total, ..Page::default() });
        }
        let after = self.key_before(inbox.id, skipped).await?;
        let rows = self.store.scan(message_rows(inbox.id, after, taken)).await?;
        let messages = self.summaries(inbox.id, after, rows).await?;
        Ok(Page { total, messages, partly_searched: 0 })
    }

    /// The last message of the previous pages.
    async fn key_before(&self, inbox: InboxId, skipped: usize) -> Result<Option<Uuid>> {
        if skipped == 0 {
            return Ok(None);
        }
        let rows = self.store.scan(message_keys(inbox, skipped)).await?;
        Ok(rows.last().map(Message::id))
    }

    async fn summaries(
        &self,
        inbox: InboxId,
        after: Option<Uuid>,
        rows: Vec<Row>,
    ) -> Result<Vec<Summary>> {
        let Some(last) = rows.last().map(Message::id) else { return Ok(Vec::new()) };
        let state = self.read_marks.state(inbox, after, Some(last), rows.len()).await?;
        rows.iter().map(|row| summarise(inbox, row, &state)).collect()
    }

    /// One pass over the inbox: the total must be exact, and the bound on an inbox's messages is
    /// what keeps that cheap.
    async fn filtered_page(&self, inbox: &records::Inbox, query: &ListQuery) -> Result<Page> {
        let search = ListSearch::new(query);
        let until = query.since.map(|since| vec![Value::Uuid(least_at(since))]);
        let (mut after, mut left) = self.start(inbox, query.until).await?;
        let state = self.read_marks.state(inbox.id, after, None, left).await?;
        let wanted = (query.page - 1).saturating_mul(query.limit);
        let (mut page, mut budget) = (Page::default(), OpenBudget::default());
        while left > 0 {
            let scan = Scan { until: until.clone(), ..message_rows(inbox.id, after, left) };
            let Narrowed { rows, seen } =
                self.store.narrow(scan, search.heads(), PAGE_ROWS).await?;
            left = left.saturating_sub(seen);
            for row in &rows {
                if search.may_be(row, &state)
                    && self.finds(&search, row, &mut budget, &mut page).await?
                {
                    if page.total >= wanted as u64 && page.messages.len() < query.limit {
                        page.messages.push(summarise(inbox.id, row, &state)?);
                    }
                    page.total += 1;
                }
            }
            if rows.len() < PAGE_ROWS {
                break;
            }
            after = rows.last().map(Message::id);
        }
        Ok(page)
    }

    /// Behind which message those begin that were received until then, and how many of them the inbox's
    /// bound leaves: it counts those before, too.
    async fn start(
        &self,
        inbox: &records::Inbox,
        until: Option<Time>,
    ) -> Result<(Option<Uuid>, usize)> {
        let max = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let Some(until) = until else { return Ok((None, max)) };
        let first_later = least_at(until.after(Duration::from_millis(1)));
        let later = Some(vec![Value::Uuid(first_later)]);
        let later = Scan { until: later, ..message_keys(inbox.id, max) };
        let later = self.store.scan(later).await?.len();
        Ok((Some(first_later), max - later))
    }
}

fn summarise(inbox: InboxId, row: &Row, state: &ReadState) -> Result<Summary> {
    let uuid = Message::id(row);
    Ok(summary(MessageId { inbox, uuid }, Message::of(row)?, state.is_read(uuid)))
}
