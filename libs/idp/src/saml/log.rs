//! Entries of the activity log with messages as XML.

use serde_json::{Value, json};
use trapline_model::IdpEventKind;

use crate::{log::LogEntry, params::RequestParams};

/// Bytes of a request, and of an answer; an entry has at most 16 KiB.
const MAX_REQUEST: usize = 3 * 1024;
const MAX_RESPONSE: usize = 6 * 1024;
/// What is the message itself, and what is long and says nothing to people.
const MESSAGES: [&str; 3] = ["SAMLRequest", "SAMLResponse", "Signature"];
const CUT: [&str; 2] = ["SignatureValue>", "X509Certificate>"];

/// An entry of a message that came, with the service provider that sent it.
pub(super) fn entry_of(
    kind: IdpEventKind,
    params: &RequestParams,
    flow: &str,
    (sp, xml): (Option<&str>, Option<&str>),
) -> LogEntry {
    let mut entry = LogEntry::of(kind, &params.without(&MESSAGES));
    let event = entry.event();
    event.flow = Some(flow.to_owned());
    event.client_id = sp.map(str::to_owned);
    if let Some(xml) = xml {
        event.request["xml"] = shown(xml, MAX_REQUEST);
    }
    entry
}

/// An answer in the log.
pub(super) fn answer(to: &str, xml: &str) -> Value {
    json!({ "to": to, "xml": shown(xml, MAX_RESPONSE) })
}

/// A message without its signatures' values and certificates, which an entry could be used with.
fn shown(xml: &str, most: usize) -> Value {
    let mut text = xml.to_owned();
    for tag in CUT {
        text = without_contents(&text, tag);
    }
    if text.len() > most {
        let bytes = text.len();
        text.truncate(text.floor_char_boundary(most));
        text = format!("{text}… ({bytes} bytes)");
    }
    text.into()
}

/// The text with `…` in place of what is in elements of this name, whatever their prefix.
fn without_contents(text: &str, tag: &str) -> String {
    let mut parts = text.split(tag);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A part begins behind a tag that opens or one that closes, and the latter ends in `/` and a prefix.
        let is_opened = !kept.rsplit('<').next().is_some_and(|tag| tag.starts_with('/'));
        kept.push_str(tag);
        match part.find('<').filter(|_| is_opened) {
            Some(end) => {
                kept.push('…');
                kept.push_str(&part[end..]);
            }
            None => kept.push_str(part),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_cut_out() {
        let xml = "<a><ds:SignatureValue>abc=</ds:SignatureValue><b>c</b>\
                   <X509Certificate>d</X509Certificate>e</a>";
        let expected = "<a><ds:SignatureValue>…</ds:SignatureValue><b>c</b>\
                        <X509Certificate>…</X509Certificate>e</a>";
        assert_eq!(shown(xml, 1_000), expected);
        assert_eq!(shown("ääää", 3), "ä… (8 bytes)");
    }
}
