//! List-Unsubscribe (RFC 2369) and its one-click form (RFC 8058).

use trapline_mime::View;

use crate::sites;

/// What the fields of a message say of unsubscribing.
pub(crate) struct Fields {
    /// Whether there is a List-Unsubscribe field.
    pub(crate) is_present: bool,
    /// Whether a mailbox provider can unsubscribe by one POST: an `https:` address, and the field that
    /// announces it (RFC 8058, section 3.1).
    pub(crate) is_one_click: bool,
}

/// Reads the fields of `view`.
pub(crate) fn read(view: &View<'_>) -> Fields {
    let value = text(view, "List-Unsubscribe");
    let has_https = value.as_deref().is_some_and(|value| {
        bracketed(value).any(|uri| sites::web(uri).is_some_and(|url| url.scheme() == "https"))
    });
    let announced = text(view, "List-Unsubscribe-Post").is_some_and(|value| announces(&value));
    Fields { is_present: value.is_some(), is_one_click: has_https && announced }
}

fn announces(value: &str) -> bool {
    let squeezed: String = value.chars().filter(|char| !char.is_whitespace()).collect();
    squeezed.eq_ignore_ascii_case("List-Unsubscribe=One-Click")
}

fn text(view: &View<'_>, name: &str) -> Option<String> {
    view.fields(name).next().map(|value| String::from_utf8_lossy(&value).into_owned())
}

/// What stands in angle brackets, without the blanks of folding.
fn bracketed(value: &str) -> impl Iterator<Item = &str> {
    value.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(uri, _)| uri.trim())
}
