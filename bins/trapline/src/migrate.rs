//! `trapline migrate`: everything that must be there before the roles of a cluster start.

use anyhow::{Context, Result};
use tokio_util::sync::CancellationToken;
use trapline_app::Settings;

use crate::{
    backend, banner::migrated, clock::clock, config::Migration, output, settings::public_settings,
    telemetry,
};

/// Makes or updates the services' contents, and the first team; prints what a first start prints.
pub(crate) async fn run(migration: Migration) -> Result<()> {
    let _flush = telemetry::start_log(&migration.observe, &migration.warnings)?;
    let clock = clock();
    let opened = backend::migrate(migration.cluster, clock.clone()).await?;
    let shutdown = CancellationToken::new();
    // Where this fails, the tasks end as at a shutdown, and nothing but the failure is told.
    let _shutdown = shutdown.clone().drop_guard();
    let settings = public_settings(&migration.public, Settings::default());
    let app = opened.backend.start(clock, settings, &opened.master, true, shutdown.clone()).await?;
    let key = migration.api_key.as_deref();
    let start = app.installation().start(key).await?;
    if !migration.quiet {
        // What is lost here, the key, the next run makes anew.
        output::print(&migrated(&start, key.is_some()))
            .context("cannot write to the standard output")?;
    }
    app.installation().shown().await?;
    shutdown.cancel();
    Ok(())
}
