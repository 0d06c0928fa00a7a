//! Where the links of a message lead, and the request to unsubscribe, for whoever wants them asked.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use trapline_checks::{
    links::{self, LinkTarget},
    unsubscribe,
};
use trapline_model::{CheckedLink, LinkCheckReport, MessageId, OneClickReport, Principal};
use trapline_store::Rate;

use super::{Checks, LinkVisit, LinkVisitor};
use crate::{Error, Result, metrics};

/// Calls that ask others, a minute and team.
const CALLS: Rate = Rate { burst: 30, per: Duration::from_mins(1) };
/// Time for all links of a message; a request to the API has 30 seconds.
const VISITS: Duration = Duration::from_secs(25);
/// Time for the request of one click.
const ONE_CLICK: Duration = Duration::from_secs(10);

impl Checks {
    /// Sets who asks addresses, once; a later one is ignored.
    pub fn set_visitor(&self, visitor: Arc<dyn LinkVisitor>) {
        drop(self.visitor.set(visitor));
    }

    /// Asks the links and images of a message, or those of `only`; with `actions` also links that a visit may use up.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, [`Error::ChecksDisabled`] where nobody may be
    /// asked, [`Error::Invalid`] for an address that the message does not have, [`Error::TooMany`] after 30
    /// calls in a minute, [`Error::Damaged`] when its bytes are gone or not those that were stored, and
    /// [`Error::Unavailable`] when too much work waits for a processor.
    pub async fn links(
        &self,
        by: &Principal,
        id: MessageId,
        only: Option<Vec<String>>,
        actions: bool,
    ) -> Result<LinkCheckReport> {
        let find = move |raw: &[u8]| links::targets(raw, only.as_deref(), actions);
        let (visitor, targets) = self.outgoing(by, id, find).await?;
        let targets = targets.map_err(|url| {
            Error::invalid("urls", "unknown_link", format!("the message has no link to {url}"))
        })?;
        let began = Instant::now();
        let urls: Vec<_> = targets.iter().filter_map(|target| target.ask.clone().ok()).collect();
        let visits = visitor.visit(&urls, VISITS).await;
        metrics::check_done("links", "ok", began.elapsed());
        Ok(self.link_report(targets, visits))
    }

    /// Sends the request by which mailbox providers unsubscribe the reader of a message.
    ///
    /// # Errors
    ///
    /// As [`Self::links`], of which [`Error::Invalid`] is none.
    pub async fn one_click(&self, by: &Principal, id: MessageId) -> Result<OneClickReport> {
        let (visitor, url) = self.outgoing(by, id, unsubscribe::one_click).await?;
        let began = Instant::now();
        let visit = match &url {
            Some(url) => Some(visitor.one_click(url, ONE_CLICK).await),
            None => None,
        };
        metrics::check_done("one_click", "ok", began.elapsed());
        let answer = visit.as_ref().map(|visit| visit.answer);
        let status = answer.and_then(Result::ok);
        let error = answer.map_or(Some("no_one_click"), |answer| Some(answer.err()?.code));
        Ok(OneClickReport {
            checked_at: self.clock.now(),
            url: url.map(String::from),
            unsubscribed: status.is_some_and(|status| (200..300).contains(&status)),
            status,
            error: error.map(str::to_owned),
            duration_ms: visit.map(|visit| millis(visit.took)),
        })
    }

    /// What `find` has of a message of whoever may have others asked about it.
    async fn outgoing<T: Send + 'static>(
        &self,
        by: &Principal,
        id: MessageId,
        find: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<(&dyn LinkVisitor, T)> {
        let record = self.messages.record(by.team, id).await?;
        self.may_ask(by).await?;
        let visitor = self.visitor.get().ok_or(Error::Unavailable)?;
        let raw = self.messages.source(&record).await?;
        Ok((&**visitor, self.messages.run_parser(raw, find).await?))
    }

    /// Whether others may be asked about messages, and once more now.
    pub(super) async fn may_ask(&self, by: &Principal) -> Result<()> {
        if !self.settings.outgoing_checks {
            return Err(Error::ChecksDisabled);
        }
        self.limits.take_all("checks", &by.team.to_string(), &[CALLS]).await
    }

    fn link_report(
        &self,
        targets: Vec<LinkTarget>,
        visits: Vec<Option<LinkVisit>>,
    ) -> LinkCheckReport {
        let mut visits = visits.into_iter();
        let link = |target: LinkTarget| match target.ask {
            Ok(_) => visited(target, visits.next().flatten()),
            Err(why) => CheckedLink { skipped: Some(why.to_owned()), ..nobody_asked(target) },
        };
        let links: Vec<_> = targets.into_iter().map(link).collect();
        let asked = links.iter().filter(|link| link.skipped.is_none());
        let failed = asked
            .clone()
            .filter(|link| link.error.is_some() || link.status.is_some_and(|status| status >= 400));
        LinkCheckReport {
            checked_at: self.clock.now(),
            checked: asked.clone().count(),
            failed: failed.count(),
            skipped: links.len() - asked.count(),
            links,
        }
    }
}

fn nobody_asked(LinkTarget { url, kind, .. }: LinkTarget) -> CheckedLink {
    CheckedLink {
        url,
        kind,
        status: None,
        error: None,
        redirects: Vec::new(),
        duration_ms: None,
        skipped: None,
    }
}

fn visited(target: LinkTarget, visit: Option<LinkVisit>) -> CheckedLink {
    let link = nobody_asked(target);
    let Some(LinkVisit { redirects, answer, took }) = visit else {
        return CheckedLink { skipped: Some("out_of_time".to_owned()), ..link };
    };
    CheckedLink {
        status: answer.map_or_else(|failure| failure.status, Some),
        error: answer.err().map(|failure| failure.code.to_owned()),
        redirects,
        duration_ms: Some(millis(took)),
        ..link
    }
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
