//! Which addresses of a message are to be asked whether they work, and which ones a visit would use up.

use std::collections::HashSet;

use trapline_mime::{
    View,
    markup::{self, Token},
};
use trapline_model::{Link, LinkUse};
use url::Url;

use crate::{HTML, cut, unsubscribe};

/// Addresses of a message that are asked.
pub const ASKED: usize = 100;
/// Images that are told of.
const IMAGES: usize = 1_000;

/// Words in the path of a link that does something for whoever visits it.
const PATH_VERBS: [&str; 24] = [
    "accept",
    "activate",
    "activation",
    "approve",
    "auth",
    "callback",
    "confirm",
    "confirmation",
    "decline",
    "invitation",
    "invite",
    "login",
    "logout",
    "magic",
    "optout",
    "otp",
    "passwordless",
    "reset",
    "signin",
    "unsubscribe",
    "validate",
    "verification",
    "verify",
    "vote",
];
/// The same in the text that a reader sees, lower-case: English, German, French, Spanish, Portuguese, Italian,
/// Dutch, Polish, Swedish, Russian, Japanese, Chinese.
const TEXT_VERBS: [&str; 40] = [
    "confirm",
    "verify",
    "activate",
    "validate",
    "reset",
    "sign in",
    "log in",
    "login",
    "accept",
    "approve",
    "decline",
    "bestätig",
    "aktivier",
    "zurücksetzen",
    "anmelden",
    "annehmen",
    "confirmer",
    "vérifier",
    "activer",
    "réinitialiser",
    "se connecter",
    "confirmar",
    "verificar",
    "activar",
    "restablecer",
    "iniciar sesión",
    "ativar",
    "redefinir",
    "conferma",
    "verifica",
    "accedi",
    "bevestig",
    "potwierdź",
    "zaloguj",
    "bekräfta",
    "подтвердить",
    "войти",
    "確認",
    "ログイン",
    "验证",
];
/// Names of parameters that hold what is good for one visit.
const TOKENS: [&str; 16] = [
    "auth",
    "code",
    "confirmation_token",
    "hash",
    "invitation",
    "jwt",
    "key",
    "login_token",
    "nonce",
    "oobcode",
    "otp",
    "secret",
    "sig",
    "signature",
    "ticket",
    "token",
];

/// An address of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTarget {
    /// As the message has it.
    pub url: String,
    /// What it is there for.
    pub kind: LinkUse,
    /// What to ask, without its fragment, or the word that says why nobody is asked.
    pub ask: Result<Url, &'static str>,
}

/// The links of a message, then its images. Those of `only` alone are asked where it is there; those that a
/// visit may use up only with `actions`.
///
/// # Errors
///
/// An address of `only` that the message does not have.
pub fn targets(
    raw: &[u8],
    only: Option<&[String]>,
    actions: bool,
) -> Result<Vec<LinkTarget>, String> {
    let view = View::read(raw);
    let images = images(cut(view.html().unwrap_or_default(), HTML));
    let links = view.links().into_iter().map(|link| (link, LinkUse::Link));
    let all = links.chain(images.into_iter().map(|link| (link, LinkUse::Image)));
    let is_wanted = |(link, _): &(Link, LinkUse)| only.is_none_or(|only| only.contains(&link.url));
    let all: Vec<_> = all.filter(is_wanted).collect();
    let is_missing = |url: &&String| !all.iter().any(|(link, _)| link.url == **url);
    if let Some(missing) = only.into_iter().flatten().find(is_missing) {
        return Err(missing.clone());
    }
    let (mut asked, mut seen) = (0, HashSet::new());
    let target = |(link, kind): (Link, LinkUse)| {
        let ask = address(&link.url).and_then(|url| match kind {
            _ if !seen.insert(url.clone()) => Err("repeated"),
            LinkUse::Link if !actions && is_action(&link.text, &url) => Err("action"),
            _ if asked == ASKED => Err("too_many"),
            _ => Ok(url),
        });
        asked += usize::from(ask.is_ok());
        LinkTarget { url: link.url, kind, ask }
    };
    Ok(all.into_iter().map(target).collect())
}

fn address(text: &str) -> Result<Url, &'static str> {
    let mut url = Url::parse(text).map_err(|_| "scheme")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("scheme");
    }
    url.set_fragment(None);
    Ok(url)
}

/// Whether a visit may do what its reader has not decided yet: confirm, sign in, unsubscribe.
fn is_action(text: &str, url: &Url) -> bool {
    let shown = text.to_lowercase();
    let path = url.path().to_ascii_lowercase();
    let mut words = path.split(|char: char| !char.is_ascii_alphanumeric());
    let squeezed: String = path.chars().filter(|char| !matches!(char, '-' | '_')).collect();
    unsubscribe::is_unsubscribe(text)
        || (Url::parse(text).is_err() && TEXT_VERBS.iter().any(|verb| shown.contains(verb)))
        || words.any(|word| PATH_VERBS.contains(&word))
        || squeezed.split('/').any(|part| PATH_VERBS.contains(&part))
        || url.query_pairs().any(|(name, _)| TOKENS.contains(&&*name.to_ascii_lowercase()))
}

/// The images that a mail client fetches, in order, each as a link.
fn images(html: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for token in markup::tokens(html) {
        let (Token::Open(tag) | Token::Whole(tag, _)) = &token else { continue };
        let source = if tag.is("img") { "src" } else { "background" };
        if let Some(url) = tag.attribute(source).filter(|url| !url.trim().is_empty()) {
            let text = tag.attribute("alt").unwrap_or_default().into_owned();
            found.push(Link { url: url.trim().to_owned(), text });
        }
        if found.len() == IMAGES {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn of(html: &str, actions: bool) -> Vec<(String, Result<String, &'static str>)> {
        let raw = format!("Content-Type: text/html; charset=utf-8\r\n\r\n{html}");
        let targets = targets(raw.as_bytes(), None, actions).unwrap().into_iter();
        targets.map(|target| (target.url, target.ask.map(String::from))).collect()
    }

    #[test]
    fn links_that_a_visit_uses_up_are_left_alone_unless_asked_for() {
        for (url, text) in [
            ("https://example.com/verify/1", "Here"),
            ("https://example.com/sign-in", "Here"),
            ("https://example.com/a?Token=abc", "Here"),
            ("https://example.com/a", "Bestätigen Sie Ihre Adresse"),
            ("https://example.com/a", "Unsubscribe"),
            ("https://example.com/account/log_in?a=b", "Here"),
        ] {
            let html = format!("<a href='{url}'>{text}</a>");
            assert_eq!(of(&html, false)[0].1, Err("action"), "{html}");
            assert_eq!(of(&html, true)[0].1, Ok(url.to_owned()), "{html}");
        }
        for url in ["https://example.com/blog/verifying-mail?page=2", "https://example.com/resets"]
        {
            let html = format!("<a href='{url}'>{url}</a>");
            assert_eq!(of(&html, false)[0].1, Ok(url.to_owned()));
        }
    }

    #[test]
    fn images_are_asked_too_and_nothing_twice() {
        let html = "<a href='https://example.com/a#1'>A</a><a href='https://example.com/a#2'>B</a>\
            <a href='mailto:a@example.com'>C</a><img src='cid:logo'>\
            <img src='https://example.com/open?token=1'><td background='/b.png'>";
        let found = of(html, false);
        let asks: Vec<_> =
            found.iter().map(|(_, ask)| ask.as_deref().map_err(|why| *why)).collect();
        let image = Ok("https://example.com/open?token=1");
        let first = Ok("https://example.com/a");
        let expected = [first, Err("repeated"), Err("scheme"), Err("scheme"), image, Err("scheme")];
        assert_eq!(asks, expected);
    }

    #[test]
    fn a_hundred_are_asked_and_those_that_the_message_has() {
        let links = (0..150).map(|n| format!("<a href='https://example.com/{n}'>{n}</a>"));
        let html = links.collect::<Vec<_>>().concat();
        let found = of(&html, false);
        assert_eq!(found.iter().filter(|(_, ask)| ask.is_ok()).count(), ASKED);
        assert_eq!(found[149].1, Err("too_many"));
        let raw = format!("Content-Type: text/html\r\n\r\n{html}");
        let only = ["https://example.com/149".to_owned()];
        let found = targets(raw.as_bytes(), Some(&only), false).unwrap();
        assert_eq!((found.len(), found[0].ask.is_ok()), (1, true));
        let other = ["https://example.org/".to_owned()];
        assert_eq!(targets(raw.as_bytes(), Some(&other), false), Err(other[0].clone()));
    }
}
