//! The jobs of [`Lane::Mock`]: what a call emitted becomes deliveries, which are sent in the order of the events.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use trapline_mocks::{DueStep, Outgoing, OutgoingEvent};
use trapline_model::{DeliveryStatus, MockCallId, MockDeliveryId, TeamId, Time};
use trapline_store::{
    Job, Lane, Op, PortError, When, load,
    records::{Mock, MockDeliveryRow, MockEpoch},
};
use uuid::Uuid;

use super::{Mocks, is_over};
use crate::{Result, ids, jobs, rows::write_all};

/// The place of the first step of a call: behind all that one can send.
const FIRST_STEP: usize = 2_048;

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MockWork {
    /// Send what a call emitted.
    Call { team: TeamId, of: MockEpoch, call: MockCallId },
    /// Take a step of an object, unless somebody was quicker.
    Step { team: TeamId, of: MockEpoch, step: DueStep, call: MockCallId },
    /// Make one attempt of one delivery. One that has this many attempts behind it is a repeat.
    Delivery { team: TeamId, of: MockEpoch, delivery: MockDeliveryId, attempt: u32 },
}

/// The job that sends what a call emitted. Each try of the call has one of its own, as the queue may remember the ids
/// of jobs that are done.
pub(super) fn job_of_call(
    team: TeamId,
    of: MockEpoch,
    call: MockCallId,
    attempt: u32,
    now: Time,
) -> Result<Job, PortError> {
    let work = MockWork::Call { team, of, call };
    jobs::job(Lane::Mock, format!("mock-call:{call}:{attempt}"), 1, work, now)
}

/// The job of the attempt that a delivery's row says is next; none when it has ended.
pub(super) fn job_of_delivery(
    team: TeamId,
    row: &MockDeliveryRow,
) -> Result<Option<Job>, PortError> {
    let Some(due) = row.next_attempt_at else { return Ok(None) };
    let (of, delivery, attempt) = (row.of, row.id, row.attempts + 1);
    let work = MockWork::Delivery { team, of, delivery, attempt };
    jobs::job(Lane::Mock, format!("mock-delivery:{delivery}"), 1, work, due).map(Some)
}

/// The job of a step that a call makes due.
fn job_of_step(
    team: TeamId,
    of: MockEpoch,
    call: MockCallId,
    place: usize,
    step: DueStep,
) -> Result<Job, PortError> {
    let due = Time::of_uuid(call.0).after(Duration::from_millis(step.after_ms));
    // What the step does is told as a call's is, so it has an id of its own.
    let call = MockCallId(id_of(call, FIRST_STEP + place).0);
    let work = MockWork::Step { team, of, step, call };
    jobs::job(Lane::Mock, format!("mock-step:{call}"), 1, work, due)
}

impl Mocks {
    /// Does a job of [`Lane::Mock`](crate::Lane::Mock). Returns the one that goes on.
    ///
    /// # Errors
    ///
    /// When a backend does not answer; the job comes again.
    pub async fn send(&self, job: &Job) -> Result<Option<Job>> {
        match jobs::work(job)? {
            MockWork::Call { team, of, call } => self.send_of_call(job, team, of, call).await,
            MockWork::Step { team, of, step, call } => {
                self.take_step(team, of, &step, call).await.map(|()| None)
            }
            MockWork::Delivery { team, of, delivery, attempt } => {
                let row = MockDeliveryRow::row(of, delivery);
                let row = load::<MockDeliveryRow>(&*self.store, &row).await?;
                let Some((row, _)) = row else { return Ok(None) };
                if attempt <= row.attempts {
                    // What comes after it may have been lost with the process that ran it first.
                    return Ok(job_of_delivery(team, &row)?);
                }
                match self.mock_of(team, of).await? {
                    Some(mock) => self.attempt(&mock, row).await,
                    None => Ok(None),
                }
            }
        }
    }

    /// The mock, unless it is gone or was cleared since.
    pub(super) async fn mock_of(&self, team: TeamId, of: MockEpoch) -> Result<Option<(Mock, i64)>> {
        let found = load::<Mock>(&*self.store, &Mock::row(team, of.mock)).await?;
        let now = self.clock.now();
        Ok(found.filter(|(mock, _)| mock.epoch == of.epoch && !is_over(mock, now)))
    }

    async fn send_of_call(
        &self,
        job: &Job,
        team: TeamId,
        of: MockEpoch,
        call: MockCallId,
    ) -> Result<Option<Job>> {
        let Some(mock) = self.mock_of(team, of).await? else { return Ok(None) };
        let Some(row) = self.store.get(&of.item("~out", &call.to_string())).await? else {
            return Ok(self.jobs.later_without_row(job)?);
        };
        let Outgoing { events, steps } = serde_json::from_str(&self.opened_item(of, &row)?)
            .map_err(|source| PortError::Corrupt { table: "mock_state", source })?;
        // First, as an endpoint may keep what is sent waiting.
        for (place, step) in steps.into_iter().enumerate() {
            self.jobs.schedule(&job_of_step(team, of, call, place, step)?).await?;
        }
        let rows = self.deliveries_of_call(of, call, events).await?;
        let mut in_order = true;
        for row in rows {
            let is_due = row.next_attempt_at.is_some_and(|due| due <= self.clock.now());
            if row.attempts > 0 || row.next_attempt_at.is_none() {
                // An earlier run of this job came so far.
                self.schedule_next(team, &row).await?;
                continue;
            }
            if !in_order || !is_due {
                self.schedule_next(team, &row).await?;
                continue;
            }
            let next = self.attempt(&mock, row).await?;
            if let Some(next) = next {
                in_order = false;
                self.jobs.schedule(&next).await?;
            }
        }
        Ok(None)
    }

    async fn schedule_next(&self, team: TeamId, row: &MockDeliveryRow) -> Result<()> {
        match job_of_delivery(team, row)? {
            Some(job) => Ok(self.jobs.schedule(&job).await?),
            None => Ok(()),
        }
    }

    /// The rows of what a call emitted; those that are not there yet are written.
    async fn deliveries_of_call(
        &self,
        of: MockEpoch,
        call: MockCallId,
        events: Vec<OutgoingEvent>,
    ) -> Result<Vec<MockDeliveryRow>> {
        let (mut rows, mut new) = (Vec::new(), Vec::new());
        for (place, event) in events.into_iter().enumerate() {
            let id = id_of(call, place);
            let known =
                load::<MockDeliveryRow>(&*self.store, &MockDeliveryRow::row(of, id)).await?;
            if let Some((row, _)) = known {
                rows.push(row);
                continue;
            }
            let row = new_delivery(of, id, &event, None, self.clock.now());
            new.push(Op::put(&row, None, When::Always)?);
            rows.push(row);
        }
        write_all(&*self.store, new).await?;
        Ok(rows)
    }

    /// Writes how a delivery stands.
    pub(super) async fn put_delivery(&self, row: &MockDeliveryRow) -> Result<()> {
        Ok(self.store.write(vec![Op::put(row, None, When::Always)?]).await?)
    }
}

/// A delivery that nobody has tried yet; one that the settings drop has ended.
pub(super) fn new_delivery(
    of: MockEpoch,
    id: MockDeliveryId,
    event: &OutgoingEvent,
    replay_of: Option<MockDeliveryId>,
    now: Time,
) -> MockDeliveryRow {
    let due = now.after(Duration::from_millis(event.delay_ms));
    MockDeliveryRow {
        of,
        id,
        event: serde_json::to_value(event).unwrap_or_default(),
        status: if event.dropped { DeliveryStatus::Failed } else { DeliveryStatus::Pending },
        http_status: None,
        error: event.dropped.then(|| "dropped".to_owned()),
        attempts: 0,
        duration_ms: None,
        next_attempt_at: (!event.dropped).then_some(due),
        completed_at: event.dropped.then_some(now),
        replay_of,
        headers: Vec::new(),
    }
}

/// The id of what a call emitted at a place, the same however often it is made: a `UUIDv7` with the call's time, in
/// the order of the places.
pub(super) fn id_of(call: MockCallId, place: usize) -> MockDeliveryId {
    let mut hash: [u8; 32] = Sha256::digest(call.0.as_bytes()).into();
    let [high, low] = u16::try_from(place).unwrap_or(u16::MAX).to_be_bytes();
    // Of the first byte four bits are the version's.
    (hash[0], hash[1]) = (high & 0x0f, low);
    MockDeliveryId(ids::of_hash(Time::of_uuid(call.0), &hash))
}

/// The call's time, of which the id is made.
pub(super) fn created_at(id: MockDeliveryId) -> Time {
    let uuid: Uuid = id.0;
    Time::of_uuid(uuid)
}
