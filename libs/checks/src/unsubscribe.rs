//! List-Unsubscribe (RFC 2369) and its one-click form (RFC 8058).

use trapline_mime::View;
use trapline_model::{
    FindingSeverity, Link, UnsubscribeFinding, UnsubscribeReport, UnsubscribeUri,
};
use url::Url;

/// Addresses of a field that are told.
const URIS: usize = 50;

/// How links to unsubscribe are called, lower-case: English, German, French, Spanish, Portuguese, Italian,
/// Dutch, Polish, Swedish, Russian, Japanese, Chinese.
const LINK_TEXTS: [&str; 17] = [
    "unsubscribe",
    "opt out",
    "abmelden",
    "abbestellen",
    "se désabonner",
    "se désinscrire",
    "darse de baja",
    "cancelar suscripción",
    "cancelar inscrição",
    "annulla iscrizione",
    "disiscriviti",
    "afmelden",
    "wypisz się",
    "avregistrera",
    "отписаться",
    "配信停止",
    "退订",
];

/// What is found, with how bad it is, what to tell people, and the section that says so.
type FindingKind = (&'static str, FindingSeverity, &'static str, &'static str);

const MISSING: FindingKind = (
    "missing",
    FindingSeverity::Error,
    "The message looks like bulk mail and has no List-Unsubscribe field.",
    "RFC 2369, section 3.2",
);
const REPEATED: FindingKind = (
    "repeated",
    FindingSeverity::Error,
    "There is more than one List-Unsubscribe field; the first one counts.",
    "RFC 2369, section 2",
);
const NO_BRACKETS: FindingKind = (
    "no_brackets",
    FindingSeverity::Error,
    "No address of List-Unsubscribe stands in angle brackets.",
    "RFC 2369, section 2",
);
const BAD_URI: FindingKind = (
    "bad_uri",
    FindingSeverity::Error,
    "An address of List-Unsubscribe is no URI to a host or a mailbox.",
    "RFC 2369, section 2",
);
const ONLY_MAILTO: FindingKind = (
    "only_mailto",
    FindingSeverity::Warning,
    "List-Unsubscribe has no https address, which one click takes.",
    "RFC 8058, section 3.1",
);
const HTTP_URI: FindingKind = (
    "http_uri",
    FindingSeverity::Error,
    "An address of List-Unsubscribe is http and not https.",
    "RFC 8058, section 3.1",
);
const POST_MISSING: FindingKind = (
    "post_missing",
    FindingSeverity::Warning,
    "There is no List-Unsubscribe-Post field, which announces one click.",
    "RFC 8058, section 3.1",
);
const POST_WRONG: FindingKind = (
    "post_wrong",
    FindingSeverity::Error,
    "List-Unsubscribe-Post is not \"List-Unsubscribe=One-Click\".",
    "RFC 8058, section 3.1",
);
const NOT_SIGNED: FindingKind = (
    "not_signed",
    FindingSeverity::Warning,
    "No DKIM signature lists both List-Unsubscribe and List-Unsubscribe-Post in its h= tag.",
    "RFC 8058, section 4",
);
const NO_LINK_IN_BODY: FindingKind = (
    "no_link_in_body",
    FindingSeverity::Notice,
    "No link of the body is called \"unsubscribe\", in any of twelve languages.",
    "RFC 8058, section 1",
);

/// What the fields of a message say of unsubscribing.
pub(crate) struct Fields {
    /// Whether there is a List-Unsubscribe field.
    pub(crate) is_present: bool,
    /// Whether a mailbox provider can unsubscribe by one POST: an `https:` address, and the field that
    /// announces it (RFC 8058, section 3.1).
    pub(crate) is_one_click: bool,
    /// Whether the message looks like one to many.
    pub(crate) is_bulk: bool,
}

/// Reads the fields of `view`, whose links are `links`.
pub(crate) fn read(view: &View<'_>, links: &[Link]) -> Fields {
    let value = text(view, "List-Unsubscribe");
    let has_https = value.as_deref().is_some_and(|value| one_click_address(value).is_some());
    let announced = text(view, "List-Unsubscribe-Post").is_some_and(|value| announces(&value));
    Fields {
        is_present: value.is_some(),
        is_one_click: has_https && announced,
        is_bulk: is_bulk(view, links),
    }
}

/// What is to be said of unsubscribing from a message.
#[must_use]
pub fn check(raw: &[u8]) -> UnsubscribeReport {
    let view = View::read(raw);
    let links = view.links();
    let fields = read(&view, &links);
    let value = text(&view, "List-Unsubscribe").unwrap_or_default();
    let uris: Vec<_> = bracketed(&value).take(URIS).map(uri).collect();
    let findings = if fields.is_present {
        findings(&view, &fields, &uris)
    } else {
        [(fields.is_bulk, MISSING)].into()
    };
    let has_link = links.iter().any(|link| is_unsubscribe(&link.text));
    let last = (fields.is_bulk && !has_link, NO_LINK_IN_BODY);
    let held = findings.into_iter().chain([last]).filter(|(holds, _)| *holds);
    UnsubscribeReport {
        present: fields.is_present,
        one_click: fields.is_one_click,
        bulk: fields.is_bulk,
        uris,
        findings: held.map(|(_, kind)| finding(kind)).collect(),
    }
}

fn findings(view: &View<'_>, fields: &Fields, uris: &[UnsubscribeUri]) -> Vec<(bool, FindingKind)> {
    let post = text(view, "List-Unsubscribe-Post");
    let has = |scheme: &str| uris.iter().any(|uri| uri.scheme == scheme);
    vec![
        (view.fields("List-Unsubscribe").nth(1).is_some(), REPEATED),
        (uris.is_empty(), NO_BRACKETS),
        (uris.iter().any(|uri| !uri.valid), BAD_URI),
        (has("mailto") && !has("https") && !has("http"), ONLY_MAILTO),
        (has("http"), HTTP_URI),
        (post.is_none() && has("https"), POST_MISSING),
        (post.is_some_and(|post| !announces(&post)), POST_WRONG),
        (fields.is_one_click && !is_signed(view), NOT_SIGNED),
    ]
}

fn finding((code, severity, message, reference): FindingKind) -> UnsubscribeFinding {
    UnsubscribeFinding {
        code: code.to_owned(),
        severity,
        message: message.to_owned(),
        reference: reference.to_owned(),
    }
}

fn uri(text: &str) -> UnsubscribeUri {
    let url = Url::parse(text).ok();
    let valid = url.as_ref().is_some_and(|url| match url.scheme() {
        "mailto" => url.path().contains('@'),
        "http" | "https" => url.has_host(),
        _ => false,
    });
    let scheme = url.map(|url| url.scheme().to_owned()).unwrap_or_default();
    UnsubscribeUri { uri: text.to_owned(), scheme, valid }
}

/// The address that a mailbox provider sends its request to, where the message announces one click.
#[must_use]
pub fn one_click(raw: &[u8]) -> Option<Url> {
    let view = View::read(raw);
    text(&view, "List-Unsubscribe-Post").filter(|value| announces(value))?;
    one_click_address(&text(&view, "List-Unsubscribe")?)
}

/// The address that one click goes to.
fn one_click_address(value: &str) -> Option<Url> {
    let mut urls = bracketed(value).take(URIS).filter_map(|uri| Url::parse(uri).ok());
    urls.find(|url| url.scheme() == "https" && url.has_host())
}

fn announces(value: &str) -> bool {
    let squeezed: String = value.chars().filter(|char| !char.is_whitespace()).collect();
    squeezed.eq_ignore_ascii_case("List-Unsubscribe=One-Click")
}

/// Whether a signature covers both fields, by what it says (RFC 6376, section 3.5).
fn is_signed(view: &View<'_>) -> bool {
    view.fields("DKIM-Signature").any(|value| {
        let value = String::from_utf8_lossy(&value);
        let mut tags = value.split(';').filter_map(|tag| tag.split_once('='));
        let signed = tags.find(|(name, _)| name.trim() == "h").map(|(_, list)| list);
        let lists = |name: &str| {
            let mut names = signed.into_iter().flat_map(|list| list.split(':'));
            names.any(|listed| listed.trim().eq_ignore_ascii_case(name))
        };
        lists("List-Unsubscribe") && lists("List-Unsubscribe-Post")
    })
}

fn is_bulk(view: &View<'_>, links: &[Link]) -> bool {
    let precedence = text(view, "Precedence").unwrap_or_default();
    let is_precedence = ["bulk", "list"].iter().any(|p| precedence.trim().eq_ignore_ascii_case(p));
    let has = |name| view.fields(name).next().is_some();
    let has_link = || links.iter().any(|link| is_unsubscribe(&link.text));
    is_precedence || has("List-Id") || has("Feedback-ID") || has_link()
}

/// Whether a link with this text is there to unsubscribe.
pub(crate) fn is_unsubscribe(text: &str) -> bool {
    let text = text.to_lowercase();
    LINK_TEXTS.iter().any(|known| text.contains(known))
}

fn text(view: &View<'_>, name: &str) -> Option<String> {
    view.fields(name).next().map(|value| String::from_utf8_lossy(&value).into_owned())
}

/// What stands in angle brackets.
fn bracketed(value: &str) -> impl Iterator<Item = &str> {
    value.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(uri, _)| uri.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(fields: &str) -> Vec<String> {
        let report = check(format!("{fields}Subject: a\r\n\r\nHello\r\n").as_bytes());
        report.findings.into_iter().map(|finding| finding.code).collect()
    }

    const POST: &str = "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n";
    const HTTPS: &str = "List-Unsubscribe: <https://example.com/u?t=1>\r\n";

    #[test]
    fn each_fault_has_its_code() {
        let signed =
            "DKIM-Signature: v=1; h=From : list-unsubscribe:\r\n List-Unsubscribe-Post; b=a\r\n";
        let one_click = format!("{HTTPS}{POST}");
        for (fields, expected) in [
            (String::new(), &[][..]),
            ("List-Id: <a>\r\n".to_owned(), &["missing", "no_link_in_body"]),
            (format!("{signed}{one_click}"), &[]),
            (one_click.clone(), &["not_signed"]),
            (format!("{signed}{HTTPS}{one_click}"), &["repeated"]),
            ("List-Unsubscribe: https://example.com/u\r\n".to_owned(), &["no_brackets"]),
            ("List-Unsubscribe: <example>\r\n".to_owned(), &["bad_uri"]),
            ("List-Unsubscribe: <mailto:a@example.com>\r\n".to_owned(), &["only_mailto"]),
            ("List-Unsubscribe: <http://example.com/u>\r\n".to_owned(), &["http_uri"]),
            (HTTPS.to_owned(), &["post_missing"]),
            (format!("{HTTPS}List-Unsubscribe-Post: yes\r\n"), &["post_wrong"]),
        ] {
            assert_eq!(codes(&fields), expected, "{fields}");
        }
    }

    #[test]
    fn addresses_are_told_with_their_scheme() {
        let report = check(
            b"List-Unsubscribe: <mailto:u@example.com>,\r\n <https://example.com/u>\r\n\r\na",
        );
        let told: Vec<_> = report.uris.iter().map(|uri| (uri.scheme.as_str(), uri.valid)).collect();
        assert_eq!(told, [("mailto", true), ("https", true)]);
        assert!(report.present && !report.one_click && !report.bulk);
    }

    #[test]
    fn one_click_goes_to_the_first_https_address_of_a_message_that_announces_it() {
        let raw = format!(
            "List-Unsubscribe: <mailto:a@example.com>, <https://example.com/1>\r\n{POST}\r\n"
        );
        assert_eq!(
            one_click(raw.as_bytes()).map(String::from).as_deref(),
            Some("https://example.com/1")
        );
        assert_eq!(one_click(format!("{HTTPS}\r\n").as_bytes()), None);
        assert_eq!(one_click(format!("{POST}\r\n").as_bytes()), None);
    }

    #[test]
    fn links_of_the_body_make_bulk_mail() {
        let raw = "Content-Type: text/html; charset=utf-8\r\n\r\n<a href='https://example.com/u'>Se désabonner</a>";
        let report = check(raw.as_bytes());
        assert!(report.bulk);
        assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    }
}
