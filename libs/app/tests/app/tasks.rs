//! The tasks behind the use cases are watched.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_store::{Group, Intake, Result};

use crate::support::Bench;

struct Breaks;

#[async_trait]
impl Intake for Breaks {
    async fn commit(&self, _: Group) -> Result<()> {
        panic!("as planned")
    }
}

#[tokio::test]
async fn a_committer_that_breaks_is_told_of() {
    let bench = Bench::with(|ports| ports.intake = Arc::new(Breaks)).await;
    let inbox = bench.inbox(10, None).await;
    let app = bench.app.clone();
    let delivery = tokio::spawn(async move { bench.deliver(&inbox, "lost").await });
    assert_eq!(app.tasks().first_failure().await, "committer");
    assert!(delivery.await.is_err(), "the sender is told to try again");
}
