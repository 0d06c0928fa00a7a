//! Whose turn it is: at most four calls of one webhook at a time, and what is beyond makes room.
//!
//! A burst of 50,000 deliveries for one endpoint must not stand in front of everybody else's. So a
//! job whose endpoint is busy is put off to the time at which, by the pace of the endpoint's answers,
//! its turn would come, and until then it is a delayed job that no loop sees. That bounds what one
//! endpoint holds of a lane without a count of its jobs that all processes would have to agree on;
//! a wrong guess costs one more look at the job. Deliveries may arrive out of order anyway.
//!
//! All of it is this process's own knowledge; another one learns the same by itself.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use moka::sync::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trapline_app::Lane;
use trapline_model::{Time, WebhookId};

const SLOTS: u32 = 4;
/// Jobs that wait here for a slot, of an endpoint whose answers come fast.
const WAITING: usize = 28;
const FAST: Duration = Duration::from_millis(100);
/// An endpoint's pace before its first answer.
const GUESS: Duration = Duration::from_millis(50);
/// How far ahead turns are given: so many answers' time, within these bounds.
const AHEAD: u32 = 60;
const SOONEST: Duration = Duration::from_millis(20);
/// The quickest that turns follow each other: 10,000 a second for one endpoint.
const QUICKEST: Duration = Duration::from_micros(100);
const NEAREST: Duration = Duration::from_secs(1);
const FARTHEST: Duration = Duration::from_mins(10);

/// An endpoint goes to the slow lane after so many failures in a row, or when half of its last answers
/// took longer than [`TOO_LONG`]; it comes back after so many good answers in a row.
const IN_A_ROW: u32 = 3;
const TOO_LONG: Duration = Duration::from_secs(5);
const GOOD: Duration = Duration::from_secs(2);
const ANSWERS: usize = 20;

/// Endpoints that are known, and for how long after their last job.
const KNOWN_AT_MOST: u64 = 100_000;
const KNOWN_FOR: Duration = Duration::from_hours(1);

pub(super) struct Turns(Cache<WebhookId, Arc<Endpoint>>);

impl Turns {
    pub(super) fn new() -> Self {
        Self(Cache::builder().max_capacity(KNOWN_AT_MOST).time_to_idle(KNOWN_FOR).build())
    }

    pub(super) fn of(&self, webhook: WebhookId) -> Arc<Endpoint> {
        self.0.get_with(webhook, Arc::default)
    }
}

pub(super) enum Turn {
    /// Call; the slot is free again when this is dropped.
    Now(OwnedSemaphorePermit),
    /// Try in this lane, at this time.
    Later(Lane, Time),
}

pub(super) struct Endpoint {
    slots: Arc<Semaphore>,
    state: Mutex<State>,
}

impl Default for Endpoint {
    fn default() -> Self {
        let slots = Arc::new(Semaphore::new(SLOTS as usize));
        Self { slots, state: Mutex::default() }
    }
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// What an answer takes, the latest counting most.
    pace: Option<Duration>,
    /// Until when turns are given.
    booked: Option<Time>,
    /// What the steps to `booked` had below a millisecond, which a time cannot hold.
    rest: Duration,
    /// Spreads what comes after the farthest turn.
    spread: Duration,
    failures: u32,
    good: u32,
    answers: VecDeque<Duration>,
    slow: bool,
}

/// Counts as waiting until it is dropped.
struct Waiting<'a>(&'a Endpoint);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

impl Endpoint {
    /// A slot, at once or soon, or when to come again.
    pub(super) async fn turn(&self, lane: Lane, waited: bool, now: Time) -> Turn {
        let waiting = {
            let mut state = self.state();
            if state.slow && lane == Lane::Webhook {
                return Turn::Later(Lane::WebhookSlow, now);
            }
            let behind = !waited && state.booked.is_some_and(|booked| booked > now);
            if !behind && let Ok(slot) = self.slots.clone().try_acquire_owned() {
                return Turn::Now(slot);
            }
            let fast = state.pace.is_some_and(|pace| pace <= FAST);
            if !fast || state.waiting >= WAITING {
                return Turn::Later(lane, state.book(now));
            }
            state.waiting += 1;
            Waiting(self)
        };
        let slot = self.slots.clone().acquire_owned().await;
        drop(waiting);
        // The semaphore is never closed, so there is always a slot in the end.
        slot.map_or_else(|_| Turn::Later(lane, now.after(NEAREST)), Turn::Now)
    }

    /// Learns from an answer, or from its absence.
    pub(super) fn answered(&self, ok: bool, took: Duration) {
        let mut state = self.state();
        state.pace = Some(state.pace.map_or(took, |pace| (pace * 3 + took) / 4));
        state.judge(ok, took);
        if state.waiting == 0 && self.slots.available_permits() + 1 >= SLOTS as usize {
            state.booked = None;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next turn that nobody was given.
    fn book(&mut self, now: Time) -> Time {
        let pace = self.pace.unwrap_or(GUESS);
        let step = (pace / SLOTS).max(QUICKEST);
        let far = (pace * AHEAD).clamp(NEAREST, FARTHEST);
        let step_on = self.rest + step;
        self.rest = Duration::from_nanos((step_on.subsec_nanos() % 1_000_000).into());
        let booked = self.booked.map_or(now, |booked| booked.max(now)).after(step_on);
        if booked <= now.after(far) {
            self.booked = Some(booked);
            return booked.max(now.after(SOONEST));
        }
        self.booked = Some(now.after(far));
        self.spread += step;
        if self.spread > far / 2 {
            self.spread = Duration::ZERO;
        }
        now.after(far / 2 + self.spread)
    }

    fn judge(&mut self, ok: bool, took: Duration) {
        self.failures = if ok { 0 } else { self.failures + 1 };
        self.good = if ok && took < GOOD { self.good + 1 } else { 0 };
        self.answers.push_back(took);
        if self.answers.len() > ANSWERS {
            self.answers.pop_front();
        }
        let long = self.answers.iter().filter(|took| **took > TOO_LONG).count();
        if self.failures >= IN_A_ROW || long * 2 > ANSWERS {
            self.slow = true;
        } else if self.slow && self.good >= IN_A_ROW {
            self.slow = false;
            self.answers.clear();
        }
    }
}

#[cfg(test)]
mod tests;
