//! Asks the addresses of a message over the guarded HTTP client.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_TYPE, USER_AGENT};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};
use trapline_app::{LinkAnswer, LinkFailure, LinkVisit, LinkVisitor};
use trapline_model::LinkRedirect;

use crate::outbound::{Client, HeaderValue, OutboundFailure, Url, VisitHead};

/// Addresses of one message that are asked at the same time, and those of one host among them.
const AT_ONCE: usize = 10;
const PER_HOST: usize = 2;
/// Addresses that a process asks at the same time, whoever wants it.
const IN_ALL: usize = 100;
/// Redirects of one address that are followed.
const REDIRECTS: usize = 5;
/// Time for one address with its redirects.
const EACH: Duration = Duration::from_secs(5);

/// Asks over the guarded HTTP client. No cookie is sent, and nothing of a body is kept.
pub struct HttpLinkVisitor {
    client: Client,
    all: Semaphore,
}

/// How many of a host are asked at the same time, for one message.
type HostTurns = HashMap<String, Arc<Semaphore>>;

impl HttpLinkVisitor {
    /// Connects to what the client's guard allows.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, all: Semaphore::new(IN_ALL) }
    }

    /// Asks one address when its host's turn has come.
    async fn visit_one(&self, url: &Url, turns: &HostTurns, end: Instant) -> Option<LinkVisit> {
        let turns = turns.get(host(url))?;
        let permits = async { (turns.acquire().await, self.all.acquire().await) };
        let _permits = timeout_at(end, permits).await.ok()?;
        let began = Instant::now();
        if began >= end {
            return None;
        }
        let mut redirects = Vec::new();
        let answer = self.follow(url.clone(), &mut redirects, end.min(began + EACH)).await;
        Some(LinkVisit { redirects, answer, took: began.elapsed() })
    }

    /// Asks an address and those that it leads to.
    async fn follow(
        &self,
        mut url: Url,
        redirects: &mut Vec<LinkRedirect>,
        until: Instant,
    ) -> LinkAnswer {
        loop {
            let head = self.ask(&url, until).await.map_err(failed)?;
            if !is_redirect(head.status) {
                return Ok(head.status);
            }
            let failed = |code| Err(LinkFailure { code, status: Some(head.status) });
            let Some(next) = next(&url, &head) else { return failed("bad_redirect") };
            if redirects.len() == REDIRECTS {
                return failed("too_many_redirects");
            }
            redirects.push(LinkRedirect { url: next.to_string(), status: head.status });
            url = next;
        }
    }

    /// The head, by GET where HEAD is refused, as many servers do.
    async fn ask(&self, url: &Url, until: Instant) -> Result<VisitHead, OutboundFailure> {
        let head = self.client.head(url, until).await?;
        match head.status {
            403 | 405 | 501 => self.client.get(url, until).await,
            _ => Ok(head),
        }
    }
}

#[async_trait]
impl LinkVisitor for HttpLinkVisitor {
    async fn visit(&self, urls: &[Url], deadline: Duration) -> Vec<Option<LinkVisit>> {
        let end = Instant::now() + deadline;
        let hosts = urls.iter().map(|url| host(url).to_owned());
        let turns: HostTurns =
            hosts.map(|host| (host, Arc::new(Semaphore::new(PER_HOST)))).collect();
        let turns = &turns;
        let asked = urls.iter().cloned();
        let visits = asked.map(|url| async move { self.visit_one(&url, turns, end).await });
        stream::iter(visits).buffered(AT_ONCE).collect().await
    }

    async fn one_click(&self, url: &Url, deadline: Duration) -> LinkVisit {
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
            (USER_AGENT, HeaderValue::from_static("trapline-one-click/1")),
        ];
        let body = Bytes::from_static(b"List-Unsubscribe=One-Click");
        let mut url = url.clone();
        url.set_fragment(None);
        let answer = self.client.post(&url, &headers, body, deadline).await;
        let status = answer.outcome.map(|response| response.status).map_err(failed);
        LinkVisit { redirects: Vec::new(), answer: status, took: answer.took }
    }
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

fn failed(failure: OutboundFailure) -> LinkFailure {
    LinkFailure { code: failure.code(), status: None }
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Where an answer leads on; a fragment is the reader's own.
fn next(url: &Url, head: &VisitHead) -> Option<Url> {
    let mut next = url.join(head.location.as_deref()?).ok()?;
    next.set_fragment(None);
    Some(next)
}
