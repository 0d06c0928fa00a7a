//! What rules ask of a message, found once.

use std::net::IpAddr;

use trapline_mime::{View, visible_text};
use trapline_model::{Address, Time};
use url::{Host, Url};

use super::page::VisiblePage;
use crate::{
    FILES, HTML, TEXT, cut, sites,
    unsubscribe::{self, Fields},
    words,
};

/// What rules ask of a message.
pub(super) struct Facts<'v, 'a> {
    pub(super) view: &'v View<'a>,
    pub(super) received_at: Time,
    /// The mailboxes of the first From field.
    pub(super) from: Vec<Address>,
    pub(super) html: Option<&'v str>,
    pub(super) text: Option<&'v str>,
    /// What a reader sees: of the HTML where there is one, else the text.
    pub(super) shown: String,
    pub(super) shown_words: usize,
    pub(super) page: VisiblePage,
    pub(super) links: Vec<LinkFacts>,
    pub(super) files: Vec<FileFacts>,
    pub(super) unsubscribe: Fields,
    /// Whether a part of the message was too large to be looked at whole.
    pub(super) truncated: bool,
}

/// A link.
pub(super) struct LinkFacts {
    /// None for one that leads to no host of the web.
    pub(super) url: Option<Url>,
    pub(super) text: String,
    /// The message names a host without a scheme, which readers take for a link.
    pub(super) is_bare_host: bool,
}

impl LinkFacts {
    /// The host, where it is a name.
    pub(super) fn name(&self) -> Option<&str> {
        match self.url.as_ref()?.host()? {
            Host::Domain(name) => Some(name),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        }
    }

    /// The host, where it is an address.
    pub(super) fn address(&self) -> Option<IpAddr> {
        match self.url.as_ref()?.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }
}

/// A part with a file name, or offered for download.
pub(super) struct FileFacts {
    /// Lower-case.
    pub(super) name: String,
    pub(super) media_type: String,
    /// The first bytes of the file.
    pub(super) start: Vec<u8>,
    pub(super) is_attachment: bool,
}

/// Bytes of a file, as sent, that are looked at.
const START: usize = 512;

impl<'v, 'a> Facts<'v, 'a> {
    pub(super) fn of(view: &'v View<'a>, received_at: Time) -> Self {
        let (html, text) = (view.html().map(|html| cut(html, HTML)), view.text().map(text_start));
        let shown = html.map_or_else(|| text.unwrap_or_default().to_owned(), visible_text);
        let shown = cut(&shown, TEXT).to_owned();
        let found = view.links();
        let unsubscribe = unsubscribe::read(view, &found);
        let links = found.into_iter().map(|link| LinkFacts {
            url: sites::web(&link.url),
            is_bare_host: link.url.strip_prefix("http://") == Some(&link.text),
            text: link.text,
        });
        let (files, more_files) = files(view);
        let is_cut =
            |whole: Option<&str>, part: Option<&str>| whole.map(str::len) != part.map(str::len);
        Self {
            from: view.mailboxes("From"),
            page: html.map(VisiblePage::read).unwrap_or_default(),
            shown_words: words::count(&shown),
            unsubscribe,
            truncated: is_cut(view.html(), html) || is_cut(view.text(), text) || more_files,
            view,
            received_at,
            html,
            text,
            shown,
            links: links.collect(),
            files,
        }
    }

    pub(super) fn subject(&self) -> &str {
        &self.view.digest().subject
    }

    /// The host of the author's address.
    pub(super) fn author_host(&self) -> Option<&str> {
        let author = self.view.digest().from.as_ref()?;
        sites::of_address(&author.address)
    }

    /// Whether the parser warned of one of `codes`.
    pub(super) fn warns(&self, codes: &[&str]) -> bool {
        self.view.digest().warnings.iter().any(|warning| codes.contains(&warning.code.as_str()))
    }

    /// The value of the first field called `name`, as ASCII.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        let value = self.view.fields(name).next()?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    pub(super) fn has_field(&self, name: &str) -> bool {
        self.view.fields(name).next().is_some()
    }
}

fn text_start(text: &str) -> &str {
    cut(text, TEXT)
}

/// The files, and whether there are more than are looked at.
fn files(view: &View<'_>) -> (Vec<FileFacts>, bool) {
    let mut files = Vec::new();
    for part in view.parts() {
        let name = part.filename();
        if name.is_empty() && !part.is_attachment() {
            continue;
        }
        if files.len() == FILES {
            return (files, true);
        }
        files.push(FileFacts {
            name: name.trim().to_lowercase(),
            media_type: part.media_type().to_owned(),
            start: part.start(START).into_owned(),
            is_attachment: part.is_attachment(),
        });
    }
    (files, false)
}
