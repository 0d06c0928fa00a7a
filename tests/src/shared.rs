//! One deployment for all tests that leave it running.

use std::{ops::Deref, sync::LazyLock};

use crate::{Deployment, is_cluster};

static DEPLOYMENT: LazyLock<Deployment> = LazyLock::new(Deployment::first);

static BALANCED: LazyLock<Deployment> =
    LazyLock::new(|| Deployment::with(&["--base-url", "http://sandbox.example"]));

/// The shared deployment in the hands of one test, which shows the log when it fails.
#[derive(Debug)]
pub struct Shared(&'static Deployment);

/// The deployment that tests share. Each makes its own inboxes there, and touches nothing else.
pub fn shared() -> Shared {
    Shared(&DEPLOYMENT)
}

/// The same, where all processes have one base URL, as behind a load balancer; nothing answers there.
pub fn shared_under_one_name() -> Shared {
    if is_cluster() { Shared(&BALANCED) } else { shared() }
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
