//! One deployment for all tests that leave it running.

use std::{ops::Deref, sync::LazyLock};

use crate::Deployment;

static DEPLOYMENT: LazyLock<Deployment> = LazyLock::new(Deployment::first);

/// The shared deployment in the hands of one test, which shows the log when it fails.
#[derive(Debug)]
pub struct Shared(&'static Deployment);

/// The deployment that tests share. Each makes its own inboxes there, and touches nothing else.
pub fn shared() -> Shared {
    Shared(&DEPLOYMENT)
}

impl Deref for Shared {
    type Target = Deployment;

    fn deref(&self) -> &Deployment {
        self.0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the shared server's log ends:\n{}", self.0.log());
        }
    }
}
