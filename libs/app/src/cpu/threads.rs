//! The threads that work over messages runs on.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

use crate::{Error, Result};

/// How much nicer these threads are than the others (nice(2)): with both cores taken, the async runtime
/// gets three quarters of the time. More would starve them on a machine that has other work, such as a CI
/// job's.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// A piece of work.
pub(super) type BoxedWork = Box<dyn FnOnce() + Send>;

/// Threads that end when this is dropped, and what they do is done.
#[derive(Debug)]
pub(super) struct Threads(mpsc::Sender<BoxedWork>);

impl Threads {
    pub(super) fn start(count: usize) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let jobs = Arc::new(Mutex::new(receiver));
        for number in 0..count {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new().name(format!("cpu-{number}")).spawn(move || work(&jobs))?;
        }
        Ok(Self(sender))
    }

    /// Runs it on the next thread that is free.
    pub(super) fn run(&self, job: BoxedWork) -> Result<()> {
        self.0.send(job).map_err(|_| Error::Unavailable)
    }
}

fn work(jobs: &Mutex<mpsc::Receiver<BoxedWork>>) {
    lower_priority();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // The panic itself is logged where it happens.
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("work beside the reactor failed");
        }
    }
}

/// On Linux a thread has a priority of its own; elsewhere it would be the whole process's.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::debug!(%error, "a thread has kept its priority");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use rustix::process::getpriority_process;

    use super::*;

    /// Also where the process itself is nicer than others, as under `nice`.
    #[test]
    fn they_are_nicer_than_the_thread_that_starts_them() {
        let (sender, receiver) = mpsc::channel();
        let threads = Threads::start(1).unwrap();
        threads.run(Box::new(move || sender.send(getpriority_process(None)).unwrap())).unwrap();
        let ours = getpriority_process(None).unwrap();
        assert_eq!(receiver.recv().unwrap().unwrap(), (ours + NICE).min(19));
    }
}
