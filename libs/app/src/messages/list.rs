//! The list of an inbox: newest first, in pages, with search.

use trapline_model::{InboxId, MessageId, Principal, Summary};
use trapline_store::{
    Narrowed, Row, Scan,
    records::{self, Message},
};
use uuid::Uuid;

use super::{Messages, summary};
use crate::{
    Result,
    filter::{needle, search_text, without_json_escapes},
    message_scans::{message_keys, message_rows},
    read_marks::ReadState,
};

/// Rows in memory at a time; with the bound on a row's size (16 KiB) this bounds the memory of a search.
const PAGE_ROWS: usize = 200;
/// Messages that one search parses because their rows have truncated headings, and the sum of their bytes.
const MAX_OPENED: usize = 20;
const MAX_OPENED_BYTES: u64 = 64 << 20;

/// What a client asks for; bounds are checked at the edge.
#[derive(Debug, Clone)]
pub struct ListQuery {
    /// Subject, sender or a recipient contains this.
    pub q: Option<String>,
    /// Only messages that nobody marked read.
    pub unread: bool,
    /// The page's number, from 1.
    pub page: usize,
    /// Messages of a page, 1 to 200.
    pub limit: usize,
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

/// How many messages a search may still parse, and how many bytes.
struct OpenBudget {
    messages: usize,
    bytes: u64,
}

impl OpenBudget {
    fn take(&mut self, size: u64) -> bool {
        let left = self.bytes.checked_sub(size).filter(|_| self.messages > 0);
        if let Some(left) = left {
            (self.messages, self.bytes) = (self.messages - 1, left);
        }
        left.is_some()
    }
}

impl Messages {
    /// One page of an inbox's messages.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox.
    pub async fn list(&self, by: &Principal, id: InboxId, query: &ListQuery) -> Result<Page> {
        let inbox = self.inboxes.record(by.team, id).await?;
        if query.q.is_none() && !query.unread {
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
        let needle = query.q.as_deref().map(needle);
        let finder = needle.as_deref().map(|text| memchr::memmem::Finder::new(text.as_bytes()));
        let mut left = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let state = self.read_marks.state(inbox.id, None, None, left).await?;
        let wanted = (query.page - 1).saturating_mul(query.limit);
        let mut page = Page::default();
        let mut budget = OpenBudget { messages: MAX_OPENED, bytes: MAX_OPENED_BYTES };
        let mut after = None;
        while left > 0 {
            let scan = Scan { after, ..message_rows(inbox.id, None, left) };
            let texts = Message::heads_with(needle.as_deref().unwrap_or_default());
            let Narrowed { rows, seen } = self.store.narrow(scan, texts, PAGE_ROWS).await?;
            left = left.saturating_sub(seen);
            for row in &rows {
                if query.unread && state.is_read(Message::id(row)) {
                    continue;
                }
                let found = match &finder {
                    Some(finder) if finder.find(Message::search(row).as_bytes()).is_none() => {
                        Message::is_cut(row)
                            && self.heading_contains(row, finder, &mut budget, &mut page).await?
                    }
                    _ => true,
                };
                if found {
                    if page.total >= wanted as u64 && page.messages.len() < query.limit {
                        page.messages.push(summarise(inbox.id, row, &state)?);
                    }
                    page.total += 1;
                }
            }
            if rows.len() < PAGE_ROWS {
                break;
            }
            after = rows.into_iter().last().map(|row| row.sort);
        }
        Ok(page)
    }

    /// Whether the heading in the message itself, longer than that in its row, contains the text.
    async fn heading_contains(
        &self,
        row: &Row,
        finder: &memchr::memmem::Finder<'_>,
        budget: &mut OpenBudget,
        page: &mut Page,
    ) -> Result<bool> {
        let record = Message::of(row)?;
        if !budget.take(record.blob.len) {
            page.partly_searched += 1;
            return Ok(false);
        }
        let (parties, subject) = self.heading(&record).await?;
        Ok(finder.find(without_json_escapes(&search_text(&subject, &parties)).as_bytes()).is_some())
    }
}

fn summarise(inbox: InboxId, row: &Row, state: &ReadState) -> Result<Summary> {
    let uuid = Message::id(row);
    Ok(summary(MessageId { inbox, uuid }, Message::of(row)?, state.is_read(uuid)))
}
