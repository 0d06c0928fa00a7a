//! Taking jobs.

use std::time::Duration;

use async_nats::{
    StatusCode, Subscriber,
    jetstream::{
        self,
        consumer::{Consumer, pull},
    },
};
use futures_util::StreamExt as _;
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep_until, timeout},
};
use trapline_model::Time;
use trapline_store::{Lane, Lease, PortError, Result};

use super::{
    JetStreamQueue,
    lease::lease_of,
    link::{CALL_TIMEOUT, Disconnected},
};

/// The most jobs of one answer.
const MAX_BATCH_JOBS: usize = 1000;
/// The longest a request waits at the server.
const MAX_WAIT: Duration = Duration::from_mins(1);
/// How much later than it should the end of an answer may come.
const ANSWER_GRACE: Duration = Duration::from_secs(2);

/// How an answer went on.
enum AnswerPart {
    Message(async_nats::Message),
    /// There is no more.
    End,
    Failed(PortError),
}

impl JetStreamQueue {
    /// Takes what is due; what is not a job is removed on the way.
    pub(super) async fn take_due(
        &self,
        lane: Lane,
        max: usize,
        wait: Duration,
    ) -> Result<Vec<Lease>> {
        let until = Instant::now() + wait.min(MAX_WAIT);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let messages = self.pull(lane, max.min(MAX_BATCH_JOBS), left).await?;
            let none = messages.is_empty();
            let mut leases = Vec::with_capacity(messages.len());
            for (message, arrived) in messages {
                leases.extend(lease_of(&self.link, lane, message, arrived).await);
            }
            if none || !leases.is_empty() || until <= Instant::now() {
                return Ok(leases);
            }
        }
    }

    /// Messages, and when each came: its lease runs from then.
    async fn pull(
        &self,
        lane: Lane,
        max: usize,
        wait: Duration,
    ) -> Result<Vec<(jetstream::Message, Time)>> {
        if max == 0 {
            return Ok(Vec::new());
        }
        let consumer = self.lanes.of(lane)?;
        let mut losses = self.link.losses.clone();
        losses.mark_unchanged();
        let asked = self.link.call(&self.link.meters.pull, self.ask(consumer, max, wait));
        let mut answer = asked.await?;
        let deadline = Instant::now() + wait + ANSWER_GRACE;
        let mut taken = Vec::new();
        while taken.len() < max {
            match next(&mut answer, &mut losses, deadline).await {
                AnswerPart::Message(message) => {
                    let context = self.link.context.clone();
                    taken.push((jetstream::Message { message, context }, self.link.clock.now()));
                }
                AnswerPart::Failed(error) if taken.is_empty() => {
                    self.link.meters.errors.increment(1);
                    return Err(error);
                }
                // What has been taken is leased already.
                AnswerPart::Failed(_) | AnswerPart::End => break,
            }
        }
        Ok(taken)
    }

    /// One request for everything: the server waits for a first job, adds those at hand, and says
    /// when there are no more. Nothing of it is left behind there that could take a job for nobody.
    async fn ask(
        &self,
        consumer: &Consumer<pull::Config>,
        batch: usize,
        wait: Duration,
    ) -> Result<Subscriber, async_nats::Error> {
        let inbox = self.link.client.new_inbox();
        let answer = self.link.client.subscribe(inbox.clone()).await?;
        let expires = (!wait.is_zero()).then_some(wait);
        let request = pull::BatchConfig { batch, expires, no_wait: true, ..Default::default() };
        timeout(CALL_TIMEOUT, consumer.request_batch(request, inbox.into())).await??;
        Ok(answer)
    }
}

async fn next(
    answer: &mut Subscriber,
    losses: &mut watch::Receiver<u64>,
    deadline: Instant,
) -> AnswerPart {
    let message = select! {
        biased;
        message = answer.next() => message,
        // The server forgets the requests of a connection that is gone.
        _ = losses.changed() => None,
        () = sleep_until(deadline) => return AnswerPart::Failed(PortError::Timeout),
    };
    let Some(message) = message else {
        return AnswerPart::Failed(PortError::unavailable(Disconnected));
    };
    match message.status {
        None | Some(StatusCode::OK) => AnswerPart::Message(message),
        Some(StatusCode::NOT_FOUND | StatusCode::TIMEOUT) => AnswerPart::End,
        Some(status) => {
            let why = message.description.as_deref().unwrap_or("no job comes");
            AnswerPart::Failed(PortError::unavailable(format!("JetStream: {why} ({status})")))
        }
    }
}
