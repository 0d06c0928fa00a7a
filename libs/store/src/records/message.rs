//! Received messages. Their bytes are in segments.

use serde::{Deserialize, Serialize};
use trapline_model::{Address, Envelope, InboxId, MessageId, Time, Warning};
use uuid::Uuid;

use super::{of_inbox, uuid};
use crate::{BlobRef, Key, Order, PortError, Record, Result, Row, RowOwner, Storage, Table};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[MESSAGE, MARK];

const MESSAGE: &Table = &Table {
    name: "message",
    partition: &[uuid("inbox_id")],
    sort: &[uuid("message_id")],
    order: Order::NewestFirst,
    storage: Storage::Headed { rest: BODY },
    owner: RowOwner::Inbox,
    about: "Summary of a message, and where its bytes are.",
    ..Table::PLAIN
};

const MARK: &Table = &Table {
    name: "message_mark",
    partition: &[uuid("inbox_id")],
    sort: &[uuid("message_id")],
    order: Order::NewestFirst,
    owner: RowOwner::Inbox,
    about: "Whether a message was marked read or unread.",
    ..Table::PLAIN
};

/// What is kept of a message beside its bytes. The id is the row's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Where the bytes are.
    pub blob: BlobRef,
    /// The decoded subject.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// The first author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Address>,
    /// The To field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Address>,
    /// The Cc field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cc: Vec<Address>,
    /// The Bcc field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bcc: Vec<Address>,
    /// The Reply-To field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_to: Vec<Address>,
    /// The SMTP envelope.
    pub envelope: Envelope,
    /// The Date field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Time>,
    /// Faults of the message's form that the sender should mend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The text's beginning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub snippet: String,
    /// How many attachments the message has.
    #[serde(default)]
    pub attachment_count: u32,
    /// Whether a one-time code is in the message; `None` in rows of releases that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_code: Option<bool>,
    /// Whether the subject, the addresses or the text for searches are longer than they are here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Where the whole envelope is (JSON), if it is longer than it is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_envelope: Option<BlobRef>,
}

const SEARCH: &str = "{\"search\":\"";
/// The same of a message that has more to search than is here.
const SEARCH_CUT: &str = "{\"cut\":true,\"search\":\"";
const CUT: &str = "\"cut\":true";
/// Before the number of attachments, which is not written with leading zeros.
const ATTACHMENTS: &str = "\"attachment_count\":";
const BODY: &str = "\",\"message\":";

impl Message {
    /// Where messages are kept.
    pub const TABLE: &'static Table = MESSAGE;

    /// The message's row.
    #[must_use]
    pub fn row(id: MessageId) -> Key {
        of_inbox(MESSAGE, id.inbox, id.uuid)
    }

    /// Every message of an inbox, for a scan or a range delete.
    #[must_use]
    pub fn all(inbox: InboxId) -> Key {
        of_inbox(MESSAGE, inbox, Uuid::max())
    }

    /// The document: the folded text that a search looks at comes first and free of JSON escapes,
    /// so that a search over thousands of rows decodes only those that match.
    ///
    /// # Errors
    ///
    /// [`PortError::Corrupt`](crate::PortError::Corrupt) for a value that JSON does not have.
    pub fn doc(&self, search: &str) -> Result<String> {
        let body = serde_json::to_string(self)
            .map_err(|source| PortError::Corrupt { table: MESSAGE.name, source })?;
        let search = search.replace(['"', '\\'], " ");
        let start = if self.cut { SEARCH_CUT } else { SEARCH };
        Ok(format!("{start}{search}{BODY}{body}}}"))
    }

    /// The texts of which one is in the head of each row that a search for `needle` may find.
    #[must_use]
    pub fn heads_with(needle: &str) -> Vec<String> {
        vec![needle.to_owned(), CUT.to_owned()]
    }

    /// Whether a row's document says that the message has more to search than is in it. A message's
    /// own text cannot say so: in JSON its quotation marks are escaped.
    #[must_use]
    pub fn is_cut(row: &Row) -> bool {
        row.doc.rfind(CUT).is_some()
    }

    /// Whether the message of a row has attachments, without decoding it. A message's own text cannot say
    /// so: in JSON its quotation marks are escaped.
    #[must_use]
    pub fn has_attachments(row: &Row) -> bool {
        let count = row.doc.rfind(ATTACHMENTS).map(|at| &row.doc[at + ATTACHMENTS.len()..]);
        count.is_some_and(|count| !count.starts_with('0'))
    }

    /// The folded text of a row's document.
    #[must_use]
    pub fn search(row: &Row) -> &str {
        let stripped = row.doc.strip_prefix(SEARCH).or_else(|| row.doc.strip_prefix(SEARCH_CUT));
        let rest = stripped.unwrap_or_default();
        rest.find('"').map_or("", |end| &rest[..end])
    }

    /// Reads a row.
    ///
    /// # Errors
    ///
    /// [`PortError::Corrupt`](crate::PortError::Corrupt) for a document of another form.
    pub fn of(row: &Row) -> Result<Self> {
        #[derive(Deserialize)]
        struct Doc {
            message: Message,
        }
        serde_json::from_str::<Doc>(&row.doc)
            .map(|doc| doc.message)
            .map_err(|source| PortError::Corrupt { table: MESSAGE.name, source })
    }

    /// The id within the inbox that a row's key holds.
    #[must_use]
    pub fn id(row: &Row) -> Uuid {
        match row.sort.first() {
            Some(crate::Value::Uuid(id)) => *id,
            _ => Uuid::nil(),
        }
    }
}

/// Whether somebody marked a message read or unread.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mark {
    /// The message.
    pub id: MessageId,
    /// Whether it was marked read; else it was marked unread.
    pub is_read: bool,
    /// A UUIDv7 of the moment; compared with [`super::InboxState::at`].
    pub at: Uuid,
}

impl Mark {
    /// The mark's row.
    #[must_use]
    pub fn row(id: MessageId) -> Key {
        of_inbox(MARK, id.inbox, id.uuid)
    }
}

impl Record for Mark {
    const TABLE: &'static Table = MARK;
    fn key(&self) -> Key {
        Self::row(self.id)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn message(subject: &str) -> Message {
        Message {
            blob: BlobRef { segment: "s".to_owned(), offset: 1, len: 2, crc: None },
            subject: subject.to_owned(),
            from: None,
            to: Vec::new(),
            cc: Vec::new(),
            bcc: Vec::new(),
            reply_to: Vec::new(),
            envelope: Envelope::default(),
            date: None,
            warnings: Vec::new(),
            snippet: String::new(),
            attachment_count: 0,
            has_code: None,
            cut: false,
            whole_envelope: None,
        }
    }

    #[test]
    fn the_search_text_reads_back_whatever_is_in_it() {
        let message = message("say \"hi\" \\ now");
        let doc = message.doc("say \"hi\" \\ now").unwrap();
        let row = Row { sort: Vec::new(), doc, version: 0 };
        assert_eq!(Message::search(&row), "say  hi    now");
        assert_eq!(Message::of(&row).unwrap().subject, message.subject);
    }

    #[test]
    fn a_row_tells_whether_it_has_attachments_and_no_subject_does() {
        let none = message("\"attachment_count\":7,");
        for count in [0, 1, 10, u32::MAX] {
            let doc = Message { attachment_count: count, ..none.clone() }.doc("x").unwrap();
            let row = Row { sort: Vec::new(), doc, version: 0 };
            assert_eq!(Message::has_attachments(&row), count > 0);
        }
        // Of a release that did not count them.
        let row = Row { sort: Vec::new(), doc: "{\"search\":\"\"}".to_owned(), version: 0 };
        assert!(!Message::has_attachments(&row));
    }

    #[test]
    fn a_row_tells_whether_it_is_cut_and_no_subject_does() {
        let whole = message("say \"cut\":true");
        let cut = Message { cut: true, ..whole.clone() };
        for message in [whole, cut] {
            let doc = message.doc("say \"cut\":true").unwrap();
            let row = Row { sort: Vec::new(), doc, version: 0 };
            assert_eq!(Message::is_cut(&row), message.cut);
        }
    }
}
