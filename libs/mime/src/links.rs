//! Links: the anchors of the HTML, then what looks like one in the text.

use std::collections::HashSet;

use trapline_model::Link;

use crate::bare;
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
        for range in bare::urls(text) {
            let shown = &text[range];
            let url = bare::target(shown);
            if !self.targets.contains(&url) {
                self.add(&url, shown);
            }
        }
    }
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
            (Token::Whole(tag, content), Some(anchor)) => {
                anchor.text.push(' ');
                anchor.text.push_str(&visible::shown_content(tag, content).unwrap_or_default());
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
