//! What the server prints when it has started.

use std::{collections::HashMap, net::SocketAddr};

/// Everything that the banner tells.
#[derive(Debug, Clone)]
pub(crate) struct Banner {
    /// Where the API is, without `/api`.
    pub(crate) base_url: String,
    /// Plain SMTP and STARTTLS.
    pub(crate) smtp: SocketAddr,
    /// Implicit TLS, where it is on.
    pub(crate) smtps: Option<SocketAddr>,
    /// The first inbox's id, unless it was deleted.
    pub(crate) inbox: Option<String>,
    /// The first API key; shown by the first start only.
    pub(crate) key: Option<String>,
}

impl Banner {
    /// Whether this line is the last one that is needed.
    pub(crate) fn is_complete(line: &str) -> bool {
        line.starts_with("  API key")
    }

    /// Reads the lines `  NAME  VALUE …`.
    pub(crate) fn parse(lines: &[String]) -> Option<Self> {
        let fields: HashMap<&str, &str> =
            lines.iter().filter_map(|line| line.trim().split_once("  ")).collect();
        let word = |name: &str| fields.get(name)?.split_whitespace().next();
        let address = |name: &str| word(name)?.parse().ok();
        let in_brackets =
            |text: &str| Some(text.rsplit_once('(')?.1.trim_end_matches(')').to_owned());
        Some(Self {
            base_url: word("API")?.trim_end_matches("/api").to_owned(),
            smtp: address("SMTP")?,
            smtps: address("SMTPS"),
            inbox: fields.get("Inbox").and_then(|inbox| in_brackets(inbox)),
            key: lines.iter().find_map(|line| {
                let value = line.trim().strip_prefix("API key")?.trim();
                value
                    .starts_with("tl_")
                    .then(|| value.split_whitespace().next())?
                    .map(str::to_owned)
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "Trapline is running.

  API      http://127.0.0.1:8025/api   (documentation at http://127.0.0.1:8025/docs)
  SMTP     127.0.0.1:1025
  SMTPS    127.0.0.1:1465
  Inbox    Default (0abc)
  User     k3v9   Password s3cret
           (mail without credentials lands in this inbox too)
  API key  tl_abc   (shown this once)";

    #[test]
    fn reads_a_first_start() {
        let lines: Vec<_> = FIRST.lines().map(str::to_owned).collect();
        let banner = Banner::parse(&lines).unwrap();
        assert_eq!(banner.base_url, "http://127.0.0.1:8025");
        assert_eq!((banner.smtp.port(), banner.smtps.unwrap().port()), (1025, 1465));
        assert_eq!(banner.inbox.as_deref(), Some("0abc"));
        assert_eq!(banner.key.as_deref(), Some("tl_abc"));
        assert!(Banner::is_complete(lines.last().unwrap()));
    }

    #[test]
    fn a_later_start_shows_no_key() {
        let text =
            FIRST.replace("tl_abc   (shown this once)", "made earlier; `trapline key create`");
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        assert_eq!(Banner::parse(&lines).unwrap().key, None);
    }

    #[test]
    fn half_a_banner_is_none() {
        let lines: Vec<_> = FIRST.lines().take(2).map(str::to_owned).collect();
        assert!(Banner::parse(&lines).is_none());
    }
}
