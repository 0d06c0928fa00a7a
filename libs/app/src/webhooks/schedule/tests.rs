use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn now() -> Time {
    Time::from_millis(1_800_000_000_000)
}

fn endpoint() -> Arc<Endpoint> {
    Arc::new(Endpoint::new(Pacing::SHARED))
}

fn next_run(due: Time, read_from: Time) -> NextRun {
    NextRun { due, read_from }
}

fn run(endpoint: &Arc<Endpoint>, from: Time) -> BacklogRun {
    match Schedule::begin(endpoint, from, now()) {
        RunStart::Started(run) => run,
        RunStart::Covered | RunStart::Busy => panic!("nobody is at it"),
    }
}

#[test]
fn what_is_added_while_a_run_reads_is_read_before_it_ends() {
    let endpoint = endpoint();
    let run = run(&endpoint, now());
    let (early, later) = (now().after(SECOND), now().after(SECOND * 2));
    assert!(endpoint.schedule.covers(later, now()) && endpoint.schedule.covers(early, now()));
    assert!(matches!(Schedule::begin(&endpoint, later, now()), RunStart::Covered));
    let next = Some(next_run(now().after(SECOND * 30), now()));
    assert_eq!(run.end(next, now()), RunEnd::ReadAgain(early));
    assert_eq!(run.end(next, now()), RunEnd::Reschedule);
    assert!(!endpoint.schedule.covers(early, now()), "the run is over");
}

#[test]
fn a_run_covers_nothing_from_before_its_own_and_nothing_for_longer_than_its_lease() {
    let endpoint = endpoint();
    let _run = run(&endpoint, now());
    let before = now().before(Duration::from_millis(1));
    assert!(!endpoint.schedule.covers(before, now()));
    assert!(matches!(Schedule::begin(&endpoint, before, now()), RunStart::Busy));
    assert!(!endpoint.schedule.covers(now(), now().after(RUN_TRUSTED_FOR + SECOND)));
    // Nor after the clock went back.
    assert!(!endpoint.schedule.covers(now(), before));
}

#[test]
fn a_job_covers_what_it_reads_in_time_and_after_it_was_added() {
    let (schedule, due) = (Schedule::new(Pacing::SHARED), now().after(SECOND * 30));
    schedule.note_planned(due, now(), now());
    assert!(schedule.covers(due, now()));
    assert!(schedule.covers(due.after(SECOND * 3_600), now()), "it reads on from there");
    assert!(schedule.covers(now().after(SECOND * 25), now()), "it is a little late");
    assert!(!schedule.covers(now().after(SECOND * 20), now()), "it is too late");
    assert!(!schedule.covers(now().before(SECOND), now()), "it does not read that");
    // It may be taken by now, wherever that is.
    assert!(!schedule.covers(due, due.before(SECOND)));
    assert!(!schedule.covers(due.after(SECOND), due.after(SECOND)));
}

#[test]
fn jobs_that_meet_become_one() {
    let endpoint = endpoint();
    let due = now().after(SECOND * 30);
    endpoint.schedule.note_planned(due, now(), now());
    assert_eq!(run(&endpoint, now()).end(Some(next_run(due, now())), now()), RunEnd::Finished);
    let earlier = now().after(SECOND * 10);
    assert_eq!(
        run(&endpoint, now()).end(Some(next_run(earlier, now())), now()),
        RunEnd::Reschedule
    );
    // One that has to read more than the other is not given up for it.
    let before = now().before(SECOND);
    assert_eq!(
        run(&endpoint, before).end(Some(next_run(earlier, before)), now()),
        RunEnd::Reschedule
    );
}

#[test]
fn a_run_that_ended_ends_no_other() {
    let endpoint = endpoint();
    let first = run(&endpoint, now());
    assert_eq!(first.end(None, now()), RunEnd::Finished);
    let _second = run(&endpoint, now());
    drop(first);
    assert!(endpoint.schedule.is_running());
}

#[test]
fn only_so_many_jobs_are_remembered() {
    let schedule = Schedule::new(Pacing::SHARED);
    for seconds in 1..=100 {
        schedule.note_planned(now().after(SECOND * 100 * seconds), now(), now());
    }
    assert_eq!(schedule.state().planned.len(), CAPACITY);
    assert!(schedule.covers(now().after(SECOND * 100), now()), "the first are the useful ones");
}

#[test]
fn one_process_alone_has_its_jobs_on_time() {
    let schedule = Schedule::new(Pacing::of(true));
    let (due, moment) = (now().after(SECOND * 30), Duration::from_millis(200));
    schedule.note_planned(due, now(), now());
    assert!(schedule.covers(due.before(moment), now()));
    assert!(!schedule.covers(due.before(moment * 2), now()), "it is too late");
    assert!(schedule.covers(due.after(SECOND), now()), "it reads on from there");
    // What is due at once, or was, asks for no time that is over.
    assert!(!schedule.covers(now(), now()));
    assert!(!schedule.covers(now().before(SECOND), now()));
}
