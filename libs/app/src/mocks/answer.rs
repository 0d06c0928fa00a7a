//! A call of a mock, from its address to its answer.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use trapline_mocks::{
    CallAnswer, CallOutcome, CalledMock, Chance, InjectedFault, MockCall, MockReply, MockSettings,
    run, unavailable,
};
use trapline_model::{MockCallId, MockId, TeamId, Time};
use trapline_store::{
    PortError, load,
    records::{Mock, MockBySlug, MockEpoch},
};

use super::{Mocks, fields, is_over, load::Reads};
use crate::{Error, Result, secrets::random};

/// How long an address that means nothing is remembered.
pub(super) const UNKNOWN_FOR: Duration = Duration::from_secs(30);
/// How often a call may ask for more rows.
const MAX_ROUNDS: usize = 8;
/// How often a call is run on fresh rows, when others change the same ones.
const MAX_TRIES: u32 = 5;
/// Longest pause before the next try, for each that failed.
const PAUSE_MS: u64 = 4;

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

impl Mocks {
    /// Answers a call of the mock that a slug means, and keeps what was asked and answered.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such mock, or its time is over; and when the store does not answer
    /// before it is known what the mock is of.
    pub async fn answer(&self, slug: &str, call: MockCall) -> Result<MockAnswer> {
        let (began, at) = (Instant::now(), self.clock.now());
        let (team, id) = self.find(slug).await?;
        let row = Mock::row(team, id);
        let (mock, version) = load::<Mock>(&*self.store, &row).await?.ok_or(Error::NotFound)?;
        if is_over(&mock, at) {
            return Err(Error::NotFound);
        }
        let provider = trapline_mocks::find(&mock.provider).ok_or(Error::NotFound)?;
        let credentials = self.opened_once(&mock, version)?;
        let settings = MockSettings::of(provider, &mock.settings).map_err(fields::settings)?;
        let call_id = MockCallId(self.ids.next());
        let base_url = self.base_url_of(&mock.slug);
        let called = CalledMock {
            provider,
            credentials: &credentials,
            settings: &settings,
            settings_at: mock.settings_at,
            revision: mock.revision,
            webhook_url: mock.webhook_url.as_deref(),
            base_url: &base_url,
            call_id: &call_id.to_string(),
            now: at,
        };
        let of = MockEpoch { mock: id, epoch: mock.epoch };
        let answer = match self.run_and_commit(team, of, call_id, &called, &call).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, "a call of a mock could not be answered");
                let reply = unavailable(&called, &call);
                return Ok(MockAnswer { reply, delay: Duration::ZERO, injected: None });
            }
        };
        let delay = Duration::from_millis(answer.delay_ms);
        let took = began.elapsed() + delay;
        if let Err(error) = self.capture(of, call_id, &called, &call, &answer, took).await {
            tracing::warn!(%error, "a call of a mock is not listed");
        }
        Ok(MockAnswer { reply: answer.reply, delay, injected: answer.injected })
    }

    /// The mock that a slug means, which is remembered.
    async fn find(&self, slug: &str) -> Result<(TeamId, MockId)> {
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

    /// Runs a call until what it changes is written; on fresh rows when somebody else wrote them first.
    async fn run_and_commit(
        &self,
        team: TeamId,
        of: MockEpoch,
        id: MockCallId,
        mock: &CalledMock<'_>,
        call: &MockCall,
    ) -> Result<CallAnswer> {
        for attempt in 1..=MAX_TRIES {
            let (mut answer, reads) = self.run(of, mock, call).await?;
            let writes = std::mem::take(&mut answer.writes);
            if writes.is_empty() {
                return Ok(answer);
            }
            let job =
                answer.sends.then(|| super::send::job_of_call(team, of, id, attempt, self.now()));
            match self.commit(of, &reads, writes, job.transpose()?).await {
                Ok(()) => return Ok(answer),
                Err(PortError::Conflict) => {
                    let [byte] = random::<1>();
                    sleep(Duration::from_millis(u64::from(byte) % (PAUSE_MS * u64::from(attempt))))
                        .await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    async fn run(
        &self,
        of: MockEpoch,
        mock: &CalledMock<'_>,
        call: &MockCall,
    ) -> Result<(CallAnswer, Reads)> {
        let (chance, mut reads) = (Chance::new(random()), Reads::default());
        for _ in 0..MAX_ROUNDS {
            match run(mock, call, &reads.loaded, &chance) {
                CallOutcome::Done(answer) => return Ok((*answer, reads)),
                CallOutcome::Need(wants) => self.read(of, wants, &mut reads).await?,
            }
        }
        Err(Error::Unavailable)
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }
}
