//! What lists need of a message, cheap enough for the receiving path.

use mail_parser::DateTime;
use trapline_model::{Address, Time, Warning};

use crate::addresses;
use crate::bodies::Bodies;
use crate::fields::{self, Field};
use crate::limits;
use crate::structure::{self, Structure};
use crate::visible;
use crate::warnings::{Fault, ParseWarnings};
use crate::words;

/// What lists show of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// The decoded subject; `""` when there is none.
    pub subject: String,
    /// The first author (RFC 5322, section 3.6.2).
    pub from: Option<Address>,
    /// The To field.
    pub to: Vec<Address>,
    /// The Cc field.
    pub cc: Vec<Address>,
    /// The Bcc field.
    pub bcc: Vec<Address>,
    /// The Reply-To field.
    pub reply_to: Vec<Address>,
    /// The Date field, where it is a date.
    pub date: Option<Time>,
    /// At most 140 characters of the text, or of the HTML's text, white space folded.
    pub snippet: String,
    /// At most 500.
    pub attachment_count: u32,
    /// What the sender got wrong, each kind once.
    pub warnings: Vec<Warning>,
}

/// Reads what lists need. Attachments are not decoded, long texts only in part.
#[must_use]
pub fn digest(raw: &[u8]) -> Digest {
    let read = || {
        let structure = structure::read(raw);
        of(&structure, &Bodies::of(&structure))
    };
    crate::catch_panic(read).unwrap_or_else(unparsed)
}

/// The digest of a message that cannot be parsed.
pub(crate) fn unparsed() -> Digest {
    Digest { warnings: ParseWarnings::from(Fault::ParseError).warnings(), ..Digest::default() }
}

pub(crate) fn of(structure: &Structure<'_>, bodies: &Bodies<'_, '_>) -> Digest {
    let fields = structure.fields.as_slice();
    let mut faults = structure.faults;
    faults.join(body_faults(structure, bodies));
    let subject = words::decode(fields::first(fields, "subject").unwrap_or_default());
    faults.add_if(subject.unknown_charset, Fault::UnknownCharset);
    let mut list = |name| {
        let (list, fault) = fields::first(fields, name).map(addresses::parse).unwrap_or_default();
        faults.join(fault);
        list
    };
    let [to, cc, bcc, reply_to] = ["to", "cc", "bcc", "reply-to"].map(&mut list);
    let from = author(list("from"));
    faults.add_if(from.is_none(), Fault::MissingFrom);
    let (date, fault) = date(fields);
    faults.join(fault);
    Digest {
        subject: subject.text,
        from,
        to,
        cc,
        bcc,
        reply_to,
        date,
        snippet: snippet(bodies),
        attachment_count: u32::try_from(bodies.attachments.len()).unwrap_or(u32::MAX),
        warnings: faults.warnings(),
    }
}

fn body_faults(structure: &Structure<'_>, bodies: &Bodies<'_, '_>) -> ParseWarnings {
    let mut faults = ParseWarnings::default();
    for leaf in &structure.leaves {
        faults.join(leaf.faults());
    }
    for leaf in bodies.texts.iter().copied().chain(bodies.html) {
        faults.join(leaf.text_faults());
    }
    for leaf in bodies.attachments.iter().chain(&bodies.alternatives) {
        faults.add_if(leaf.filename().1, Fault::FilenameTooLong);
    }
    faults.add_if(bodies.more_attachments, Fault::TooManyAttachments);
    faults
}

/// The first author who has an address, or else the first one.
fn author(mut list: Vec<Address>) -> Option<Address> {
    let at = list.iter().position(|author| author.address.contains('@')).unwrap_or_default();
    (!list.is_empty()).then(|| list.swap_remove(at))
}

fn date(fields: &[Field<'_>]) -> (Option<Time>, ParseWarnings) {
    let Some(value) = fields::first(fields, "date") else {
        return (None, Fault::MissingDate.into());
    };
    let text = String::from_utf8_lossy(&fields::unfold(value)).into_owned();
    let date = DateTime::parse_rfc822(&text)
        // A leap second is the last one of its minute here.
        .map(|date| DateTime { second: if date.second == 60 { 59 } else { date.second }, ..date })
        .filter(DateTime::is_valid);
    match date {
        Some(date) => {
            (Some(Time::from_millis(date.to_timestamp() * 1000)), ParseWarnings::default())
        }
        None => (None, Fault::BadDate.into()),
    }
}

/// Bytes of a text, and of an HTML, that are enough for a snippet.
const TEXT_PREFIX: usize = 4 * 1024;
const HTML_PREFIX: usize = 64 * 1024;

fn snippet(bodies: &Bodies<'_, '_>) -> String {
    let text = bodies.texts.iter().map(|leaf| folded(&leaf.text_prefix(TEXT_PREFIX)));
    let html = bodies
        .html
        .into_iter()
        .map(|leaf| folded(&visible::text(&leaf.text_prefix(HTML_PREFIX)).text));
    text.chain(html).find(|snippet| !snippet.is_empty()).unwrap_or_default()
}

/// White space and control characters folded to one blank each, cut to the snippet's length.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(limits::SNIPPET * 2);
    let mut left = limits::SNIPPET;
    let words = text.split(|char: char| char.is_whitespace() || char.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        let blank = usize::from(!out.is_empty());
        if left <= blank {
            break;
        }
        out.extend(std::iter::repeat_n(' ', blank));
        left -= blank;
        let length = word.char_indices().nth(left).map_or(word.len(), |(at, _)| at);
        out.push_str(&word[..length]);
        left -= word[..length].chars().count();
    }
    out
}
