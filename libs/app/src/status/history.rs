//! The history of a component in the process that probes it: the sums of the day, the run of samples that
//! ended alike, and the open incident.

use std::collections::VecDeque;

use trapline_model::{Component, Time};
use trapline_store::records::{CheckSample, Incident, UptimeDay, day_of};

/// Failures in a row that begin an incident, and successes in a row that end it.
const IN_A_ROW: u32 = 3;
/// Samples that are kept for a store that does not answer: those of a day.
const MAX_UNWRITTEN: usize = CheckSample::A_DAY;

/// The history of a component.
pub(super) struct History {
    pub(super) component: Component,
    /// The sums of the present day; `None` before its first sample.
    pub(super) day: Option<UptimeDay>,
    /// The latest samples that ended alike.
    run: Option<SampleRun>,
    /// The open incident.
    pub(super) open: Option<Incident>,
    pub(super) unwritten: Unwritten,
}

/// Samples in a row that ended alike.
#[derive(Debug, Clone, Copy)]
struct SampleRun {
    ok: bool,
    length: u32,
    since: Time,
}

/// What is still to be written.
#[derive(Default)]
pub(super) struct Unwritten {
    pub(super) samples: VecDeque<CheckSample>,
    /// The sums of days that have ended.
    pub(super) days: Vec<UptimeDay>,
    pub(super) incidents: Vec<Incident>,
}

impl Unwritten {
    /// Whether something is to be written at once.
    pub(super) fn is_urgent(&self) -> bool {
        !self.incidents.is_empty()
    }
}

impl History {
    /// The stored history. `samples` are today's, newest first.
    pub(super) fn of(
        component: Component,
        day: Option<UptimeDay>,
        samples: &[CheckSample],
        open: Option<Incident>,
    ) -> Self {
        let mut history = Self { component, day, run: None, open, unwritten: Unwritten::default() };
        if !samples.is_empty() {
            // The samples count, and not the sums: a process may have ended between the two writes.
            history.day = None;
        }
        for sample in samples.iter().rev() {
            history.count(sample);
        }
        history
    }

    /// Adds a sample. Returns whether an incident began or ended with it.
    pub(super) fn add(&mut self, sample: CheckSample) -> bool {
        self.count(&sample);
        if self.unwritten.samples.len() == MAX_UNWRITTEN {
            self.unwritten.samples.pop_front();
        }
        self.unwritten.samples.push_back(sample);
        let Some(run) = self.run.filter(|run| run.length >= IN_A_ROW) else { return false };
        match &mut self.open {
            None if !run.ok => {
                let (component, started_at) = (self.component, run.since);
                self.open = Some(Incident { component, started_at, resolved_at: None });
            }
            Some(open) if run.ok => open.resolved_at = Some(run.since),
            _ => return false,
        }
        self.unwritten.incidents.extend(self.open);
        self.open = self.open.filter(|open| open.resolved_at.is_none());
        true
    }

    fn count(&mut self, sample: &CheckSample) {
        let day = day_of(sample.at);
        if self.day.is_some_and(|old| old.day != day) {
            self.unwritten.days.extend(self.day.take());
        }
        let new = UptimeDay {
            component: self.component,
            day,
            taken: 0,
            failed: 0,
            last_at: sample.at,
            last_ok: sample.ok,
        };
        let of_day = self.day.get_or_insert(new);
        of_day.taken += 1;
        of_day.failed += u32::from(!sample.ok);
        (of_day.last_at, of_day.last_ok) = (sample.at, sample.ok);
        let new = SampleRun { ok: sample.ok, length: 0, since: sample.at };
        let run = self.run.get_or_insert(new);
        if run.ok != sample.ok {
            *run = new;
        }
        run.length = run.length.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const COMPONENT: Component = Component::Smtp;

    fn minute(minute: i64) -> Time {
        Time::from_millis(minute * 60_000)
    }

    fn sample(at: i64, ok: bool) -> CheckSample {
        CheckSample { component: COMPONENT, at: minute(at), ok }
    }

    fn add_all(history: &mut History, from: i64, outcomes: &[bool]) -> Vec<bool> {
        (from..).zip(outcomes).map(|(at, ok)| history.add(sample(at, *ok))).collect()
    }

    #[test]
    fn three_failures_begin_an_incident_and_three_successes_end_it() {
        let mut history = History::of(COMPONENT, None, &[], None);
        let changes = add_all(&mut history, 0, &[true, false, false, true, false, false, false]);
        assert_eq!(changes, [false, false, false, false, false, false, true]);
        assert_eq!(history.open.unwrap().started_at, minute(4));
        let changes = add_all(&mut history, 7, &[true, true, false, true, true, true, true]);
        assert_eq!(changes, [false, false, false, false, false, true, false]);
        assert!(history.open.is_none());
        let ends: Vec<_> = history.unwritten.incidents.iter().map(|it| it.resolved_at).collect();
        assert_eq!(ends, [None, Some(minute(10))]);
        let day = history.day.unwrap();
        assert_eq!((day.taken, day.failed), (14, 6));
    }

    #[test]
    fn a_process_that_takes_over_goes_on_where_the_last_one_stopped() {
        let stored = [sample(2, false), sample(1, false), sample(0, true)];
        let behind = UptimeDay {
            component: COMPONENT,
            day: 0,
            taken: 2,
            failed: 1,
            last_at: minute(1),
            last_ok: false,
        };
        let mut history = History::of(COMPONENT, Some(behind), &stored, None);
        assert!(history.add(sample(3, false)), "the third in a row");
        assert_eq!(history.open.unwrap().started_at, minute(1));
        assert_eq!((history.day.unwrap().taken, history.day.unwrap().failed), (4, 3));
        assert_eq!(history.unwritten.samples.len(), 1, "the others are stored");
    }

    #[test]
    fn what_waits_for_the_store_is_bounded_and_days_end_at_midnight() {
        let mut history = History::of(COMPONENT, None, &[], None);
        let (a_day, days) = (1_440, 3);
        add_all(&mut history, 0, &vec![true; a_day * days]);
        assert_eq!(history.unwritten.samples.len(), MAX_UNWRITTEN);
        let ended: Vec<_> = history.unwritten.days.iter().map(|day| (day.day, day.taken)).collect();
        assert_eq!(ended, [(0, 1_440), (1, 1_440)]);
        assert_eq!(history.day.unwrap().day, 2);
    }
}
