//! Spam engines beside the built-in one, and where they are.

use std::{collections::HashSet, fmt, net::IpAddr, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use trapline_model::MatchedRule;
use url::Url;

/// The time that an engine has for a message, and its bounds.
const TIMEOUT: Duration = Duration::from_secs(10);
const TIMEOUTS: std::ops::RangeInclusive<u64> = 1..=60;

/// Asks a spam engine.
#[async_trait]
pub trait SpamEngine: Send + Sync {
    /// By which requests name it.
    fn name(&self) -> &'static str;

    /// What it says of a message, within its own deadline.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    async fn judge(&self, mail: &SpamMail) -> Result<SpamJudgement, SpamEngineFailure>;

    /// Whether it answers.
    async fn answers(&self) -> bool;
}

/// A message as an engine gets it.
#[derive(Debug, Clone)]
pub struct SpamMail {
    /// Its id, which engines put into their logs.
    pub id: String,
    /// Its bytes.
    pub raw: Bytes,
    /// The sender of its envelope.
    pub from: String,
    /// The recipients of its envelope.
    pub to: Vec<String>,
    /// Where it is taken to have come from, if its inbox's zone says so.
    pub client_ip: Option<IpAddr>,
    /// How that server greets, if the zone says so.
    pub helo: Option<String>,
}

/// What an engine says of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct SpamJudgement {
    /// What answered, in its own words.
    pub version: String,
    /// Its points.
    pub score: f64,
    /// The points from which on the engine acts.
    pub threshold: f64,
    /// Whether it takes the message for spam.
    pub is_spam: bool,
    /// Whether it was given only a part of the message.
    pub truncated: bool,
    /// The rules that matched.
    pub rules: Vec<MatchedRule>,
}

/// Why an engine has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpamEngineFailure {
    /// Nobody takes the connection, or the name is not resolved.
    Unreachable,
    /// Its time was over.
    Timeout,
    /// What it answers is none of its protocol, an error, or too long.
    BadAnswer,
    /// As many messages are with it as may be.
    Busy,
}

impl SpamEngineFailure {
    /// A stable word, for the API.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::BadAnswer => "bad_answer",
            Self::Busy => "busy",
        }
    }
}

/// An engine that the operator chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpamEngineChoice {
    /// The one that is built in.
    Builtin,
    /// `SpamAssassin`'s daemon.
    Spamd(SpamEngineAddress),
    /// Rspamd's worker for scans.
    Rspamd(SpamEngineAddress),
}

/// Where an engine is.
#[derive(Clone, PartialEq, Eq)]
pub struct SpamEngineAddress {
    /// A name or an IP address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The time it has for a message, everything together.
    pub timeout: Duration,
    /// What it wants to be told, where it wants something.
    pub password: Option<String>,
}

impl fmt::Debug for SpamEngineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} ({:?})", self.host, self.port, self.timeout)
    }
}

impl SpamEngineChoice {
    /// Reads a list of engines with commas between them: `builtin`, `spamd://host:783` and
    /// `rspamd://host:11333?password=…`, each with `timeout=` in seconds.
    ///
    /// # Errors
    ///
    /// What is wrong, for people; without any password.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, String> {
        let list: Vec<_> =
            text.split(',').map(|one| Self::parse(one.trim())).collect::<Result<_, _>>()?;
        let mut names = HashSet::new();
        match list.iter().find(|choice| !names.insert(choice.name())) {
            Some(twice) => Err(format!("names {} twice", twice.name())),
            None => Ok(list),
        }
    }

    /// By which requests name it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Builtin => trapline_checks::spam::ENGINE,
            Self::Spamd(_) => "spamd",
            Self::Rspamd(_) => "rspamd",
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == trapline_checks::spam::ENGINE {
            return Ok(Self::Builtin);
        }
        let wanted =
            "wants builtin, spamd://host:783 or rspamd://host:11333, with commas between them";
        let url = Url::parse(text).map_err(|_| wanted.to_owned())?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(wanted)?.to_owned();
        let address = |port| -> Result<_, String> {
            let mut address = SpamEngineAddress {
                host,
                port: url.port().unwrap_or(port),
                timeout: TIMEOUT,
                password: None,
            };
            for (name, value) in url.query_pairs() {
                match &*name {
                    "timeout" => address.timeout = timeout(&value)?,
                    "password" if port == RSPAMD => address.password = Some(value.into_owned()),
                    _ => return Err(format!("has an unknown parameter, {name}")),
                }
            }
            Ok(address)
        };
        match url.scheme() {
            "spamd" => address(SPAMD).map(Self::Spamd),
            "rspamd" => address(RSPAMD).map(Self::Rspamd),
            _ => Err(wanted.to_owned()),
        }
    }
}

/// Where the engines listen by themselves.
const SPAMD: u16 = 783;
const RSPAMD: u16 = 11_333;

fn timeout(value: &str) -> Result<Duration, String> {
    let seconds = value.strip_suffix('s').unwrap_or(value).parse().ok();
    let seconds = seconds.filter(|seconds| TIMEOUTS.contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "wants a timeout from 1 to 60 seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_listed_in_the_order_of_the_setting() {
        let list = SpamEngineChoice::parse_list(
            "rspamd://r?password=a%2Cb&timeout=5s, builtin,spamd://[::1]:1783",
        );
        let Ok(
            [SpamEngineChoice::Rspamd(r), SpamEngineChoice::Builtin, SpamEngineChoice::Spamd(s)],
        ) = list.as_deref()
        else {
            panic!("{list:?}")
        };
        assert_eq!(
            (r.port, r.timeout, r.password.as_deref()),
            (11_333, Duration::from_secs(5), Some("a,b"))
        );
        assert_eq!((s.host.as_str(), s.port, s.timeout), ("[::1]", 1_783, TIMEOUT));
        assert!(!format!("{r:?}").contains("a,b"));
        for wrong in [
            "",
            "spamd",
            "http://a",
            "spamd://",
            "spamd://a,spamd://b",
            "spamd://a?password=b",
            "spamd://a?timeout=0",
            "rspamd://a?timeout=61s",
            "rspamd://a?other=1",
        ] {
            assert!(SpamEngineChoice::parse_list(wrong).is_err(), "{wrong}");
        }
    }
}
