//! Rules on links.

use std::{collections::HashSet, net::IpAddr};

use super::{
    super::{
        facts::{Facts, LinkFacts},
        lists,
    },
    SpamRule,
};
use crate::sites;

/// Different hosts that links may lead to.
const HOSTS: usize = 20;

pub(super) const RULES: &[SpamRule] = &[
    SpamRule::new(
        "LINK_TEXT_LIES",
        20,
        "The text of a link is a URL or host name of another site than its target's.",
        |facts| facts.links.iter().any(lies),
    ),
    SpamRule::new("LINK_IP", 15, "A link leads to a public IP address.", |facts| {
        facts.links.iter().filter_map(LinkFacts::address).any(|address| !is_private(address))
    }),
    SpamRule::new(
        "LINK_USERINFO",
        15,
        "The target of a link has something before an `@`.",
        |facts| {
            let has_user = |url: &url::Url| !url.username().is_empty() || url.password().is_some();
            facts.links.iter().filter_map(|link| link.url.as_ref()).any(has_user)
        },
    ),
    SpamRule::new(
        "LINK_PUNYCODE",
        8,
        "The host of a link is written in Punycode (a label that begins with `xn--`).",
        |facts| names(facts).any(|name| name.split('.').any(|label| label.starts_with("xn--"))),
    ),
    SpamRule::new("LINK_SHORTENER", 8, "A link leads to a service that shortens links.", |facts| {
        names(facts)
            .any(|name| lists::SHORTENERS.contains(&name.strip_prefix("www.").unwrap_or(name)))
    }),
    SpamRule::new("LINK_HTTP", 2, "A link leads to a public name by `http:`.", |facts| {
        let is_plain = |link: &&LinkFacts| {
            let is_http = link.url.as_ref().is_some_and(|url| url.scheme() == "http");
            is_http && !link.is_bare_host
        };
        let mut names = facts.links.iter().filter(is_plain).filter_map(LinkFacts::name);
        names.any(sites::is_public)
    }),
    SpamRule::new(
        "LINK_SCHEME",
        10,
        "An anchor leads to `data:`, `vbscript:` or `file:`.",
        |facts| facts.page.has_bad_scheme,
    ),
    SpamRule::new("LINK_HOSTS", 3, "Links lead to more than 20 different hosts.", |facts| {
        let hosts = facts.links.iter().filter_map(|link| link.url.as_ref()?.host_str());
        hosts.collect::<HashSet<_>>().len() > HOSTS
    }),
    SpamRule::new(
        "BULK_NO_UNSUBSCRIBE",
        10,
        "The mail looks like bulk mail and has no List-Unsubscribe.",
        |facts| facts.unsubscribe.is_bulk && !facts.unsubscribe.is_present,
    ),
    SpamRule::new(
        "BULK_NOT_ONE_CLICK",
        4,
        "The mail looks like bulk mail, and its List-Unsubscribe is not by one click (RFC 8058).",
        |facts| {
            let fields = &facts.unsubscribe;
            fields.is_bulk && fields.is_present && !fields.is_one_click
        },
    ),
];

fn names<'f>(facts: &'f Facts<'_, '_>) -> impl Iterator<Item = &'f str> {
    facts.links.iter().filter_map(LinkFacts::name)
}

/// Whether the text of a link names a host of another site.
fn lies(link: &LinkFacts) -> bool {
    let Some(target) = link.url.as_ref().and_then(|url| url.host_str()) else { return false };
    named_host(link.text.trim()).is_some_and(|named| !sites::is_same(&named, target))
}

/// The host of a text that is a URL or a host name, and nothing else.
fn named_host(text: &str) -> Option<String> {
    if text.contains(char::is_whitespace) {
        return None;
    }
    let lower = text.to_lowercase();
    let is_url = ["http://", "https://"].iter().any(|scheme| lower.starts_with(scheme));
    if is_url {
        return sites::web(&lower)?.host_str().map(str::to_owned);
    }
    let host = lower.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let (_, last) = host.rsplit_once('.')?;
    let is_host = lower.starts_with("www.") || lists::TOP_LEVELS.contains(&last);
    (is_host && !host.contains('@')).then(|| host.to_owned())
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private() || v4.is_loopback() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}
