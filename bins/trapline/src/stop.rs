//! SIGTERM and SIGINT: noted from the first moment on, whatever the process is busy with.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A process with the number 1 loses a signal that it has no handler for, and any other dies of it; so
/// this is made first of all.
pub(crate) struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    /// Takes note of signals from now on. Wants a runtime around it.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Does the work of a command; fails when a signal comes first.
    pub(crate) async fn unless_stopped(
        &mut self,
        work: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        tokio::select! {
            outcome = Box::pin(work) => outcome,
            () = self.requested() => anyhow::bail!("stopped by a signal"),
        }
    }

    /// Returns once a signal has come, at once if it came before.
    pub(crate) async fn requested(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
