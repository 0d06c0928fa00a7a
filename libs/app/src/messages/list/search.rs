//! What a list leaves out: first by a look at rows as they are, then by the message itself where its row
//! has only the beginning of its heading.

use memchr::memmem::Finder;
use trapline_store::{Row, records::Message};

use super::{ListQuery, Page};
use crate::{
    Filter, Result,
    filter::{Matcher, Parties, needle, row_form, search_text},
    messages::Messages,
    read_marks::ReadState,
};

/// Messages that one search parses because their rows have truncated headings, and the sum of their bytes.
const MAX_OPENED: usize = 20;
const MAX_OPENED_BYTES: u64 = 64 << 20;

/// How many messages a search may still parse, and how many bytes.
pub(super) struct OpenBudget {
    messages: usize,
    bytes: u64,
}

impl Default for OpenBudget {
    fn default() -> Self {
        Self { messages: MAX_OPENED, bytes: MAX_OPENED_BYTES }
    }
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

/// A query with its texts folded once.
pub(super) struct ListSearch {
    q: Option<Finder<'static>>,
    matcher: Matcher,
    has_attachment: bool,
    unread: bool,
    /// The longest of the texts, of which a row has all.
    longest: String,
}

impl ListSearch {
    pub(super) fn new(query: &ListQuery) -> Self {
        let ListQuery { q, to, from, subject, has_attachment, unread, .. } = query;
        let (to, from, subject) = (to.clone(), from.clone(), subject.clone());
        let matcher = Matcher::new(&Filter { to, from, subject, ..Filter::default() });
        let q = q.as_deref().map(needle);
        let needles = q.iter().map(String::as_str).chain(matcher.needles());
        let longest = needles.max_by_key(|text| text.len()).unwrap_or_default().to_owned();
        let q = q.map(|text| Finder::new(text.as_bytes()).into_owned());
        Self { q, matcher, has_attachment: *has_attachment, unread: *unread, longest }
    }

    /// Texts of which one is in the head of each row that is looked for.
    pub(super) fn heads(&self) -> Vec<String> {
        Message::heads_with(&self.longest)
    }

    /// Whether the message is to be looked at closer, by what its row says of more than its heading.
    pub(super) fn may_be(&self, row: &Row, state: &ReadState) -> bool {
        (!self.unread || !state.is_read(Message::id(row)))
            && (!self.has_attachment || Message::has_attachments(row))
    }

    fn finds_q(&self, text: &str) -> bool {
        self.q.as_ref().is_none_or(|q| q.find(text.as_bytes()).is_some())
    }

    /// Whether a row has all that is looked for in its heading.
    fn matches_row(&self, row: &Row) -> Result<bool> {
        if !self.finds_q(Message::search(row)) || !self.matcher.has_needles(row) {
            return Ok(false);
        }
        if self.matcher.is_of_anything() {
            return Ok(true);
        }
        let record = Message::of(row)?;
        let Parties { from, to } = Parties::of(&record);
        Ok(self.matcher.matches(&from, &to, &record.subject))
    }

    /// Whether a whole heading has all that is looked for.
    fn matches(&self, parties: &Parties, subject: &str) -> bool {
        self.finds_q(&row_form(&search_text(subject, parties)))
            && self.matcher.matches(&parties.from, &parties.to, subject)
    }
}

impl Messages {
    /// Whether a message is looked for. Reads the message itself where its row does not match and has its
    /// heading truncated, as long as there is a budget for that.
    pub(super) async fn finds(
        &self,
        search: &ListSearch,
        row: &Row,
        budget: &mut OpenBudget,
        page: &mut Page,
    ) -> Result<bool> {
        if search.matches_row(row)? {
            return Ok(true);
        }
        if !Message::is_cut(row) {
            return Ok(false);
        }
        let record = Message::of(row)?;
        if !budget.take(record.blob.len) {
            page.partly_searched += 1;
            return Ok(false);
        }
        let (parties, subject) = self.heading(&record).await?;
        Ok(search.matches(&parties, &subject))
    }
}
