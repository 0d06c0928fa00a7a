//! Who asks the addresses of a message.

use std::time::Duration;

use async_trait::async_trait;
use trapline_model::LinkRedirect;
use url::Url;

/// Asks addresses that strangers wrote. Whatever it connects to, it has checked first, at each redirect anew;
/// of an answer it keeps the status only.
#[async_trait]
pub trait LinkVisitor: Send + Sync {
    /// Asks each of `urls`, several at a time, and follows redirects. All of it ends within `deadline`; `None`
    /// for those that nobody came to until then.
    async fn visit(&self, urls: &[Url], deadline: Duration) -> Vec<Option<LinkVisit>>;

    /// Sends the request of one click (RFC 8058, section 3.2) and follows nothing.
    async fn one_click(&self, url: &Url, deadline: Duration) -> LinkVisit;
}

/// What became of asking one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkVisit {
    /// The redirects that were followed.
    pub redirects: Vec<LinkRedirect>,
    /// The last answer.
    pub answer: LinkAnswer,
    /// How long all of it took.
    pub took: Duration,
}

/// The status of the last answer, or why there is none.
pub type LinkAnswer = Result<u16, LinkFailure>;

/// Why asking an address led to no answer that is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkFailure {
    /// A stable word: those of webhooks, `too_many_redirects` or `bad_redirect`.
    pub code: &'static str,
    /// The status of the redirect that led nowhere.
    pub status: Option<u16>,
}
