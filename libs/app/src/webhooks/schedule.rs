//! Which jobs will work on a webhook's backlog, as far as this process knows.
//!
//! **Every entry of a backlog is covered: by a durable job that is not finished, that has not yet begun to
//! read, and that begins to read at or before the entry.** Who adds entries publishes such a job after
//! them, unless it knows of one: one that is due later than now, or one that runs in this process and
//! promises to read once more. A job is finished only when what it covers is gone, or covered by another.
//! What this process does not know of costs a job too many, never one too few; jobs that meet become one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use trapline_model::Time;

use super::{endpoint::Endpoint, pacing::Pacing};

/// Delay of a job for a slow endpoint, so that entries that are added meanwhile rely on it.
pub(super) const SLOW_DELAY: Duration = Duration::from_secs(3);
/// How long a run is relied on after its job was taken: less than the queue's lease, which may be lost
/// though the run goes on.
const RUN_TRUSTED_FOR: Duration = Duration::from_secs(20);
/// Jobs that are remembered; what is forgotten is published once more.
const CAPACITY: usize = 16;

pub(super) struct Schedule(Mutex<ScheduleState>);

struct ScheduleState {
    pacing: Pacing,
    run: Option<RunState>,
    /// Runs that began; each knows its number, so that one that ended ends no other.
    runs: u64,
    /// By when they are due: where they begin to read.
    planned: BTreeMap<Time, Time>,
}

struct RunState {
    number: u64,
    began: Time,
    from: Time,
    /// What was added since the run began to read.
    added: Option<Time>,
}

/// Result of beginning a run over a backlog.
pub(super) enum RunStart {
    Started(BacklogRun),
    /// The run that is under way, and its job, do what this job would.
    Covered,
    /// Another run is under way, whose job does not cover this one.
    Busy,
}

/// When a job comes again, and from where on it reads then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NextRun {
    pub(super) due: Time,
    pub(super) read_from: Time,
}

/// How a run ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    /// Entries were added: the run must read once more, from here on.
    ReadAgain(Time),
    /// The job has to come again.
    Reschedule,
    /// The job is finished.
    Finished,
}

/// The only run over a backlog in this process; over when it is dropped.
pub(super) struct BacklogRun {
    endpoint: Arc<Endpoint>,
    number: u64,
}

impl Drop for BacklogRun {
    fn drop(&mut self) {
        self.endpoint.schedule.state().run.take_if(|run| run.number == self.number);
    }
}

impl BacklogRun {
    /// Ends the run, whose job would come again as `next` says.
    pub(super) fn end(&self, next: Option<NextRun>, now: Time) -> RunEnd {
        let mut state = self.endpoint.schedule.state();
        if let Some(added) = state.run.as_mut().and_then(|run| run.added.take()) {
            return RunEnd::ReadAgain(added);
        }
        state.run = None;
        match next {
            None => RunEnd::Finished,
            Some(next) if state.is_planned(next.due, next.read_from, now) => RunEnd::Finished,
            Some(next) => {
                state.plan(next.due, next.read_from, now);
                RunEnd::Reschedule
            }
        }
    }

    /// Breaks the run off: its job would come again at `due`, to read from `left` on. None where another job
    /// does the same.
    pub(super) fn interrupt(&self, due: Time, left: Time, now: Time) -> Option<NextRun> {
        let mut state = self.endpoint.schedule.state();
        let added = state.run.take().and_then(|run| run.added);
        let read_from = added.map_or(left, |added| added.min(left));
        if state.is_planned(due, read_from, now) {
            return None;
        }
        state.plan(due, read_from, now);
        Some(NextRun { due, read_from })
    }
}

impl Schedule {
    pub(super) fn new(pacing: Pacing) -> Self {
        let planned = BTreeMap::new();
        Self(Mutex::new(ScheduleState { pacing, run: None, runs: 0, planned }))
    }

    pub(super) fn begin(endpoint: &Arc<Endpoint>, from: Time, now: Time) -> RunStart {
        let mut state = endpoint.schedule.state();
        if state.run.is_some() {
            return if state.read_again(from, now) { RunStart::Covered } else { RunStart::Busy };
        }
        state.runs += 1;
        let number = state.runs;
        state.run = Some(RunState { number, began: now, from, added: None });
        drop(state);
        RunStart::Started(BacklogRun { endpoint: endpoint.clone(), number })
    }

    pub(super) fn is_running(&self) -> bool {
        self.state().run.is_some()
    }

    /// Whether entries that were just added are covered, the first of which is due at `first`.
    pub(super) fn covers(&self, first: Time, now: Time) -> bool {
        let mut state = self.state();
        state.read_again(first, now) || state.is_planned(first, first, now)
    }

    /// Whether a job that would be due at `due`, to read from `from` on, would do nothing that another
    /// does not.
    pub(super) fn is_planned(&self, due: Time, from: Time, now: Time) -> bool {
        self.state().is_planned(due, from, now)
    }

    /// Notes a job that is stored, or takes the place of one that is and is held by this process.
    pub(super) fn note_planned(&self, due: Time, from: Time, now: Time) {
        self.state().plan(due, from, now);
    }

    fn state(&self) -> MutexGuard<'_, ScheduleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScheduleState {
    /// Makes the run read again, if its job covers what begins there.
    fn read_again(&mut self, from: Time, now: Time) -> bool {
        let Some(run) = &mut self.run else { return false };
        if from < run.from || now < run.began || now.since(run.began) > RUN_TRUSTED_FOR {
            return false;
        }
        run.added = Some(run.added.map_or(from, |added| added.min(from)));
        true
    }

    fn is_planned(&self, due: Time, from: Time, now: Time) -> bool {
        let last = due.max(now).after(self.pacing.lateness(due.since(now)));
        let mut known = self.planned.range(now.after(self.pacing.clock_tolerance)..=last);
        known.any(|(_, begins)| *begins <= from)
    }

    fn plan(&mut self, due: Time, from: Time, now: Time) {
        self.planned = self.planned.split_off(&now);
        let begins = self.planned.entry(due).or_insert(from);
        *begins = (*begins).min(from);
        while self.planned.len() > CAPACITY {
            self.planned.pop_last();
        }
    }
}

#[cfg(test)]
mod tests;
