//! Which messages a search or a wait is about. All texts are compared decoded and case-folded.

use std::collections::HashSet;

use trapline_mime::{Digest, fold};
use trapline_model::{Address, Envelope, Time};
use trapline_store::{Row, records::Message};

/// Who a message is from and for, as filters see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parties {
    /// The author and the envelope's sender.
    pub from: Vec<String>,
    /// Header and envelope recipients.
    pub to: Vec<String>,
}

impl Parties {
    /// The parties in a message's row, which may be truncated.
    pub(crate) fn of(message: &Message) -> Self {
        let headers = message.to.iter().chain(&message.cc).chain(&message.bcc);
        Self::new(message.from.as_ref(), headers, &message.envelope)
    }

    /// The parties in a message itself.
    pub(crate) fn of_digest(digest: &Digest, envelope: &Envelope) -> Self {
        let headers = digest.to.iter().chain(&digest.cc).chain(&digest.bcc);
        Self::new(digest.from.as_ref(), headers, envelope)
    }

    fn new<'a>(
        from: Option<&Address>,
        to: impl Iterator<Item = &'a Address>,
        envelope: &Envelope,
    ) -> Self {
        let mut from: Vec<_> = from.into_iter().map(display_address).collect();
        if !envelope.from.is_empty() && !from.contains(&envelope.from) {
            from.push(envelope.from.clone());
        }
        let mut to: Vec<_> = to.map(display_address).collect();
        let known: HashSet<_> = to.iter().cloned().collect();
        let more = envelope.to.iter().filter(|to| !to.is_empty() && !known.contains(*to));
        to.extend(more.cloned());
        Self { from, to }
    }
}

fn display_address(address: &Address) -> String {
    if address.name.is_empty() {
        address.address.clone()
    } else {
        format!("{} <{}>", address.name, address.address)
    }
}

/// The folded text that `q` looks at: subject, sender, recipients.
pub(crate) fn search_text(subject: &str, parties: &Parties) -> String {
    let mut text = fold(subject);
    for party in parties.from.iter().chain(&parties.to) {
        text.push('\n');
        text.push_str(&fold(party));
    }
    // JSON would escape control characters, which a folded search text has none of.
    text.replace(|c: char| c.is_control(), " ")
}

/// `q` in the form of a row's search text.
pub(crate) fn needle(q: &str) -> String {
    row_form(&fold(q))
}

/// A folded text as rows have it: with a space for each quote, backslash and control character, so that it
/// stands unescaped in their JSON.
pub(crate) fn row_form(text: &str) -> String {
    text.replace(|c: char| matches!(c, '"' | '\\') || c.is_control(), " ")
}

/// Whether a text has a folded one in it.
pub(crate) fn contains(text: &str, wanted: &str) -> bool {
    fold(text).contains(wanted)
}

/// What a wait looks for; every given part must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Text that a recipient contains.
    pub to: Option<String>,
    /// Text that the sender contains.
    pub from: Option<String>,
    /// Text that the subject contains.
    pub subject: Option<String>,
    /// The earliest time of receipt.
    pub since: Option<Time>,
    /// A one-time code is in the message.
    pub has_code: bool,
}

/// A filter with its texts folded once.
pub(crate) struct Matcher {
    to: Option<String>,
    from: Option<String>,
    subject: Option<String>,
    pub since: Option<Time>,
    pub has_code: bool,
    /// The texts in the form that rows have them in.
    needles: Vec<String>,
}

impl Matcher {
    pub(crate) fn new(filter: &Filter) -> Self {
        let folded = |text: &Option<String>| text.as_deref().map(fold);
        let [to, from, subject] = [&filter.to, &filter.from, &filter.subject].map(folded);
        let needles = [&to, &from, &subject].into_iter().flatten().map(|text| row_form(text));
        let needles = needles.collect();
        Self { to, from, subject, since: filter.since, has_code: filter.has_code, needles }
    }

    /// Whether a row may be of a message that matches: a look at its folded text, without decoding it.
    pub(crate) fn may_match(&self, row: &Row) -> bool {
        self.has_needles(row) || Message::is_cut(row)
    }

    /// Whether a row's folded text has all that is looked for, somewhere.
    pub(crate) fn has_needles(&self, row: &Row) -> bool {
        let text = Message::search(row);
        self.needles.iter().all(|needle| text.contains(needle))
    }

    /// The texts that the row of a message has all of, unless its heading is cut there.
    pub(crate) fn needles(&self) -> impl Iterator<Item = &str> {
        self.needles.iter().map(String::as_str)
    }

    /// Whether any sender, recipient and subject will do.
    pub(crate) fn is_of_anything(&self) -> bool {
        self.needles.is_empty()
    }

    /// Whether sender, recipients and subject are those looked for.
    pub(crate) fn matches(&self, from: &[String], to: &[String], subject: &str) -> bool {
        let holds = |wanted: &Option<String>, found: &[String]| {
            wanted.as_ref().is_none_or(|wanted| found.iter().any(|text| contains(text, wanted)))
        };
        holds(&self.to, to)
            && holds(&self.from, from)
            && self.subject.as_ref().is_none_or(|wanted| contains(subject, wanted))
    }

    /// Why the message does not match, a human-readable sentence for each filter.
    pub(crate) fn failures(&self, from: &[String], to: &[String], subject: &str) -> Vec<String> {
        let mut failures = Vec::new();
        let mut check = |part: &str, wanted: &Option<String>, found: &[String]| {
            if let Some(wanted) = wanted
                && !found.iter().any(|text| contains(text, wanted))
            {
                let found = found.join(", ");
                failures.push(format!("{part} \"{found}\" does not contain \"{wanted}\""));
            }
        };
        check("to", &self.to, to);
        check("from", &self.from, from);
        check("subject", &self.subject, &[subject.to_owned()]);
        failures
    }
}
