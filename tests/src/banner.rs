//! What a process prints when it has started, and a migration when it is done.

use std::{collections::HashMap, net::SocketAddr};

/// Everything that the banner tells.
#[derive(Debug, Clone)]
pub(crate) struct Banner {
    /// Where the API is, without `/api`, if this process serves it.
    pub(crate) base_url: Option<String>,
    /// Where the API, or only probes and metrics, are.
    pub(crate) http: Option<String>,
    /// The API over TLS, where it is on.
    pub(crate) https: Option<SocketAddr>,
    /// Plain SMTP and STARTTLS, if this process takes mail.
    pub(crate) smtp: Option<SocketAddr>,
    /// Implicit TLS, where it is on.
    pub(crate) smtps: Option<SocketAddr>,
    /// The first inbox's id, unless it was deleted.
    pub(crate) inbox: Option<String>,
    /// The first API key; shown by the first start only.
    pub(crate) key: Option<String>,
    /// The link that makes an owner; shown by the first start only.
    pub(crate) owners_link: Option<String>,
}

impl Banner {
    /// Whether these lines are all that is needed: a headline and a block, with an empty line behind
    /// each.
    pub(crate) fn is_complete(lines: &[String]) -> bool {
        lines.last().is_some_and(String::is_empty)
            && lines.iter().filter(|line| line.is_empty()).count() == 2
    }

    /// Reads the lines `  NAME  VALUE …`.
    pub(crate) fn parse(lines: &[String]) -> Self {
        let fields: HashMap<&str, &str> =
            lines.iter().filter_map(|line| line.trim().split_once("  ")).collect();
        let word = |name: &str| fields.get(name)?.split_whitespace().next();
        let address = |name: &str| word(name)?.parse().ok();
        let in_brackets =
            |text: &str| Some(text.rsplit_once('(')?.1.trim_end_matches(')').to_owned());
        let own = word("HTTP").map(|address| format!("http://{address}"));
        let serves_api = fields.get("HTTP").is_some_and(|line| line.contains("(API"));
        let base_url = word("API").map(|url| url.trim_end_matches("/api").to_owned());
        Self {
            http: own.clone().or_else(|| base_url.clone()),
            base_url: base_url.or_else(|| own.filter(|_| serves_api)),
            https: address("HTTPS"),
            smtp: address("SMTP"),
            smtps: address("SMTPS"),
            owners_link: word("Sign in").filter(|word| word.contains("://")).map(str::to_owned),
            inbox: fields.get("Inbox").and_then(|inbox| in_brackets(inbox)),
            key: lines.iter().find_map(|line| {
                let value = line.trim().strip_prefix("API key")?.trim();
                value
                    .starts_with("tl_")
                    .then(|| value.split_whitespace().next())?
                    .map(str::to_owned)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "Trapline is running.

  API      http://127.0.0.1:8025/api   (documentation at http://127.0.0.1:8025/docs)
  HTTPS    127.0.0.1:8443
  SMTP     127.0.0.1:1025
  SMTPS    127.0.0.1:1465
  Inbox    Default (0abc)
  User     k3v9   Password s3cret
           (mail without credentials lands in this inbox too)
  API key  tl_abc   (shown this once)
  Sign in  http://127.0.0.1:8025/link?token=abc   (makes you the owner; once, within 24 hours)";

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn reads_a_first_start() {
        let banner = Banner::parse(&lines(FIRST));
        assert_eq!(banner.base_url.as_deref(), Some("http://127.0.0.1:8025"));
        let ports =
            [banner.https, banner.smtp, banner.smtps].map(|address| address.unwrap().port());
        assert_eq!(ports, [8443, 1025, 1465]);
        assert_eq!(banner.inbox.as_deref(), Some("0abc"));
        assert_eq!(banner.key.as_deref(), Some("tl_abc"));
        let link = "http://127.0.0.1:8025/link?token=abc";
        assert_eq!(banner.owners_link.as_deref(), Some(link));
    }

    #[test]
    fn is_complete_at_the_end_of_the_block() {
        let mut lines = lines(FIRST);
        assert!(!Banner::is_complete(&lines));
        lines.push(String::new());
        assert!(Banner::is_complete(&lines));
    }

    #[test]
    fn a_later_start_shows_no_key() {
        let text =
            FIRST.replace("tl_abc   (shown this once)", "made earlier; `trapline key create`");
        assert_eq!(Banner::parse(&lines(&text)).key, None);
    }

    #[test]
    fn reads_roles() {
        let api = Banner::parse(&lines("  HTTP     127.0.0.1:80   (API and probes)"));
        assert_eq!(api.base_url.as_deref(), Some("http://127.0.0.1:80"));
        assert_eq!(api.smtp, None);
        let edge = "  HTTP     127.0.0.1:80   (probes)\n  SMTP     127.0.0.1:25";
        let edge = Banner::parse(&lines(edge));
        assert_eq!((edge.base_url, edge.smtp.unwrap().port()), (None, 25));
        assert_eq!(edge.http.as_deref(), Some("http://127.0.0.1:80"));
    }
}
