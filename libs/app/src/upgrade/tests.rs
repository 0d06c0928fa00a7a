#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicU32, Ordering};

use trapline_embedded::{Embedded, Options};
use trapline_store::{Clock, PortError, Record as _, records::Team};

use super::*;
use crate::{App, Error, MasterKey, Settings};

static RUNS: AtomicU32 = AtomicU32::new(0);

const FIRST: UpgradeStep = UpgradeStep {
    name: "first",
    run: |_| {
        Box::pin(async {
            RUNS.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    },
};

const CUT_OFF: UpgradeStep =
    UpgradeStep { name: "second", run: |_| Box::pin(async { Err(PortError::Timeout.into()) }) };

const SECOND: UpgradeStep = UpgradeStep { run: |_| Box::pin(async { Ok(()) }), ..CUT_OFF };

#[tokio::test]
async fn a_step_runs_until_it_is_finished_and_never_again() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(Options::new(folder.path())).await.unwrap();
    let key = MasterKey::generate().unwrap();
    let (ports, clock, settings) = (embedded.ports(), Clock::system(), Settings::default());
    let app = App::start(ports, clock, settings, &key, <_>::default()).await.unwrap();
    let run = app.installation().start(None).await.unwrap();
    let outcome = app.upgrades().run_steps(&[FIRST, CUT_OFF]).await;
    assert!(matches!(outcome, Err(Error::Unavailable)), "{outcome:?}");
    app.upgrades().run_steps(&[FIRST, SECOND]).await.unwrap();
    app.upgrades().run_steps(&[FIRST, CUT_OFF]).await.unwrap();
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    let tables = embedded.ports().store.partitions(Team::TABLE).await.unwrap();
    assert_eq!(tables, [Team::row(run.team).partition]);
}

#[tokio::test]
async fn a_new_installation_has_nothing_to_move() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(Options::new(folder.path())).await.unwrap();
    let key = MasterKey::generate().unwrap();
    let (ports, clock, settings) = (embedded.ports(), Clock::system(), Settings::default());
    let app = App::start(ports, clock, settings, &key, <_>::default()).await.unwrap();
    app.upgrades().run_steps(&[CUT_OFF]).await.unwrap();
    app.upgrades().run().await.unwrap();
    app.installation().start(None).await.unwrap();
    app.upgrades().run_steps(&[CUT_OFF]).await.unwrap();
    assert!(app.upgrades().are_finished().await.unwrap());
}
