//! Black-box tests: a harness that starts the product as its users do, and speaks to it by HTTP
//! and SMTP only.
//!
//! A test asks a [`Deployment`] where the API and the SMTP edges are and never how they are made,
//! so that the same test runs against one process and against several. `MODE` chooses which.

#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "a harness reports what is wrong by panicking in the test that uses it"
)]

mod backing;
mod backstage;
mod banner;
mod clock;
mod cluster;
mod deployment;
mod earlier;
mod fixtures;
mod home;
mod hooks;
mod mail;
mod measure;
mod person;
mod process;
mod relay;
mod report;
mod rest;
mod shared;
mod site;
mod smtp;
mod sse;
mod teams;
mod tls;

pub use backing::Backing;
pub use backstage::Backstage;
pub use clock::TestClock;
pub use deployment::{Deployment, is_cluster};
pub use earlier::Earlier;
pub use fixtures::{Inbox, deliver, deliver_bytes};
pub use home::{Services, command};
pub use hooks::Hooks;
pub use mail::{Mail, altered, dot_stuff, sha256_hex};
pub use measure::memory_of;
pub use person::{Person, path_of, token_of};
pub use relay::{Relay, Relayed, relay_flags, shared_relay};
pub use report::publish;
pub use rest::{Answer, Rest};
pub use shared::{Shared, shared, shared_under_one_name};
pub use site::{Node, Site};
pub use smtp::{Reply, Smtp};
pub use sse::{Event, Events};
pub use teams::Team;
pub use tls::tls_connector;

use std::time::Duration;

/// How long a test waits for what must come. Never a measure of speed: only a guard against
/// waiting for ever, generous enough for a loaded machine.
pub const GUARD: Duration = Duration::from_mins(1);

/// Whether long proofs run whole (`PROOFS=full`, as `make test-full` has it), or in the short form that
/// every change has time for.
pub fn proofs_are_full() -> bool {
    match std::env::var("PROOFS").as_deref() {
        Ok("full") => true,
        Ok("short") | Err(_) => false,
        Ok(other) => panic!("PROOFS={other}: there is short and full"),
    }
}

/// Waits for what must come, and says what did not.
pub async fn guarded<T>(what: &str, work: impl Future<Output = T>) -> T {
    let Ok(value) = tokio::time::timeout(GUARD, work).await else {
        panic!("nothing within {GUARD:?}: {what}");
    };
    value
}

/// Asks again and again until there is an answer.
pub async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    guarded(what, async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
}
