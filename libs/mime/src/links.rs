//! Links: the anchors of the HTML, then what looks like one in the text.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use trapline_model::Link;

use crate::limits;
use crate::markup::{self, Token};
use crate::visible;
use crate::{entities, preview};

/// The links of a message, each pair of target and text once; at most [`limits::LINKS`].
pub(crate) fn find(html: Option<&str>, text: Option<&str>) -> Vec<Link> {
    let mut links = Links::default();
    if let Some(html) = html {
        let html = limits::cut(html, limits::HTML);
        anchors(html, &mut links);
        links.bare(&visible::text(html).text);
    }
    if let Some(text) = text {
        links.bare(text);
    }
    links.list
}

#[derive(Default)]
struct Links {
    list: Vec<Link>,
    targets: HashSet<String>,
    pairs: HashSet<(String, String)>,
}

impl Links {
    fn add(&mut self, url: &str, text: &str) {
        if self.list.len() == limits::LINKS || !self.pairs.insert((url.into(), text.into())) {
            return;
        }
        self.targets.insert(url.to_owned());
        self.list.push(Link { url: url.to_owned(), text: text.to_owned() });
    }

    fn bare(&mut self, text: &str) {
        let text = limits::cut(text, limits::EXTRACTION);
        for range in urls(text) {
            let shown = &text[range];
            let url = target(shown);
            if !self.targets.contains(&url) {
                self.add(&url, shown);
            }
        }
    }
}

/// The target of a link that the text shows as `shown`.
pub(crate) fn target(shown: &str) -> String {
    let is_bare = shown.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    if is_bare { format!("http://{shown}") } else { shown.to_owned() }
}

/// An anchor while its text is read.
struct Anchor {
    url: String,
    text: String,
    /// The text of an image in it, for an anchor without other text.
    image: String,
}

impl Anchor {
    fn finish(self, links: &mut Links) {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown =
            [text.as_str(), self.image.trim(), &self.url].into_iter().find(|t| !t.is_empty());
        links.add(&self.url, shown.unwrap_or_default());
    }
}

fn anchors(html: &str, links: &mut Links) {
    let mut open: Option<Anchor> = None;
    for token in markup::tokens(html) {
        match (&token, &mut open) {
            (Token::Open(tag), _) if tag.is("a") || tag.is("area") => {
                if let Some(anchor) = open.take() {
                    anchor.finish(links);
                }
                let url = tag.attribute("href").unwrap_or_default().trim().to_owned();
                let image = tag.attribute("alt").unwrap_or_default().into_owned();
                if is_link(&url) {
                    open = Some(Anchor { url, text: String::new(), image });
                }
            }
            (Token::Open(tag), Some(anchor)) => {
                if tag.is("img") && anchor.image.is_empty() {
                    anchor.image = tag.attribute("alt").unwrap_or_default().into_owned();
                }
                anchor.text.push(' ');
            }
            (Token::Text(text), Some(anchor)) => anchor.text.push_str(&entities::decode(text)),
            (Token::Close(name), Some(_)) if name.eq_ignore_ascii_case("a") => {
                if let Some(anchor) = open.take() {
                    anchor.finish(links);
                }
            }
            _ => {}
        }
    }
    if let Some(anchor) = open {
        anchor.finish(links);
    }
}

/// Targets within the message, and scripts, are no links.
fn is_link(url: &str) -> bool {
    !url.is_empty() && !url.starts_with('#') && !preview::is_dangerous(url)
}

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let stop = r#"\s<>"`{}|\\^\x00-\x1F。，、；：！？（）「」『』【】《》“”"#;
    Regex::new(&format!(r"(?i)(?:https?://|www\.)[^{stop}]+")).ok()
});

/// Where `text` has bare links, punctuation after them left out.
pub(crate) fn urls(text: &str) -> impl Iterator<Item = Range<usize>> {
    let found = URL.iter().flat_map(|regex| regex.find_iter(text));
    found
        .filter(|url| !text[..url.start()].ends_with(|char: char| char.is_ascii_alphanumeric()))
        .map(|url| url.start()..url.start() + trimmed(url.as_str()).len())
        .filter(|range| range.len() > "https://".len())
}

/// A link without the punctuation of the sentence around it; a closing parenthesis stays if it was
/// opened in the link.
fn trimmed(url: &str) -> &str {
    let mut url = url;
    let (opened, mut closed) = (url.matches('(').count(), url.matches(')').count());
    while let Some(last) = url.chars().next_back() {
        match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | ']' => {}
            ')' if closed > opened => closed -= 1,
            _ => break,
        }
        url = &url[..url.len() - last.len_utf8()];
    }
    url
}
