//! A call of a mock, from its address to its answer.

use std::time::Duration;

use tokio::time::Instant;
use trapline_mocks::{
    CallAnswer, CallOutcome, InjectedFault, MockCall, MockReply, limited, run, unavailable,
};
use trapline_model::{MockCallId, MockId, TeamId, Time};
use trapline_store::{
    RateDecision, load,
    records::{Mock, MockBySlug},
};

use super::{Mocks, engine_run::EngineRun, is_over, opened::MockAddress, opened::OpenedMock};
use crate::{Error, Result, metrics};

/// How long an address that means nothing is remembered.
pub(super) const UNKNOWN_FOR: Duration = Duration::from_secs(30);

/// What the connection answers.
#[derive(Debug)]
pub struct MockAnswer {
    /// The provider's reply.
    pub reply: MockReply,
    /// How long it is held back.
    pub delay: Duration,
    /// What the connection does instead of giving it.
    pub injected: Option<InjectedFault>,
}

impl MockAnswer {
    fn at_once(reply: MockReply) -> Self {
        Self { reply, delay: Duration::ZERO, injected: None }
    }
}

impl Mocks {
    /// Answers a call of the mock that a slug means, and keeps what was asked and answered.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such mock, or its time is over; and when the store does not answer
    /// before it is known what the mock is of.
    pub async fn answer(
        &self,
        slug: &str,
        address: MockAddress,
        call: MockCall,
    ) -> Result<MockAnswer> {
        let (began, at) = (Instant::now(), self.clock.now());
        let (team, id) = self.find(slug).await?;
        let row = Mock::row(team, id);
        let found = load::<Mock>(&*self.store, &row).await?;
        let found = found.filter(|(mock, _)| !is_over(mock, at)).ok_or(Error::NotFound)?;
        let mock = self.open_mock(found, MockCallId(self.ids.next()), address)?;
        let called = mock.called();
        let provider = called.provider.id;
        if let Some(wait) = self.wait_of_team(team).await {
            metrics::mock_call(provider, 429, false, began.elapsed());
            return Ok(MockAnswer::at_once(limited(&called, &call, wait)));
        }
        let answer = match self.run_call(&mock, &call).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, "a call of a mock could not be answered");
                metrics::mock_call(provider, 503, false, began.elapsed());
                return Ok(MockAnswer::at_once(unavailable(&called, &call)));
            }
        };
        let is_told = answer.fault.is_some();
        metrics::mock_call(provider, answer.reply.status, is_told, began.elapsed());
        let delay = Duration::from_millis(answer.delay_ms);
        let took = began.elapsed() + delay;
        if let Err(error) = self.capture(&mock, &call, &answer, took).await {
            tracing::warn!(%error, "a call of a mock is not listed");
        }
        self.note_written(&mock, 1).await;
        Ok(MockAnswer { reply: answer.reply, delay, injected: answer.injected })
    }

    /// Seconds until the team's mocks may be called again, if they are called too often.
    async fn wait_of_team(&self, team: TeamId) -> Option<u64> {
        let rate = self.settings.mock_rate?;
        // A limiter that does not answer lets calls through.
        match self.limits.take_if_answered(&format!("mock-calls:{team}"), rate).await? {
            RateDecision::Limited { retry_after } => Some(retry_after.as_secs().max(1)),
            RateDecision::Allowed { .. } => None,
        }
    }

    async fn run_call(&self, mock: &OpenedMock, call: &MockCall) -> Result<CallAnswer> {
        let called = mock.called();
        let run = |loaded: &_, chance: &_| match run(&called, call, loaded, chance) {
            CallOutcome::Need(wants) => Err(wants),
            CallOutcome::Done(mut answer) => {
                let (writes, goes_on) = (std::mem::take(&mut answer.writes), answer.sends);
                Ok(EngineRun { done: *answer, writes, goes_on })
            }
        };
        self.run_and_commit(mock, run).await
    }

    /// The mock that a slug means, which is remembered.
    pub(super) async fn find(&self, slug: &str) -> Result<(TeamId, MockId)> {
        if let Some(found) = self.slugs.get(slug) {
            return Ok(found);
        }
        let is_slug =
            slug.len() == super::SLUG_DIGITS && slug.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_slug || self.unknown.contains_key(slug) {
            return Err(Error::NotFound);
        }
        let found = load::<MockBySlug>(&*self.store, &MockBySlug::row(slug)).await?;
        let Some((found, _)) = found else {
            self.unknown.insert(slug.to_owned(), ());
            return Err(Error::NotFound);
        };
        let found = (found.team, found.mock);
        self.slugs.insert(slug.to_owned(), found);
        Ok(found)
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }
}
