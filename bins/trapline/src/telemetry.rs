//! Logs to the standard error, and the metrics recorder.

mod log_writer;
mod process;

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use anyhow::{Context, Result};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::{EnvFilter, fmt};
use trapline_store::Clock;

use crate::{config::Observability, version};
pub(crate) use log_writer::FlushGuard;
use log_writer::LogWriter;
pub(crate) use process::measure;

/// Bounds of the histograms in seconds: from a commit on a fast disk to a parked wait.
const SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 120.0];
/// Bounds of the histograms of mails in a group.
const MAILS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
/// Time between two rounds of [`upkeep`].
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Starts the log, with the warnings first. Dropping the guard writes the lines that still wait.
pub(crate) fn start_log(observe: &Observability, warnings: &[String]) -> Result<FlushGuard> {
    let Observability { log: filter, json_logs, .. } = observe;
    let filter = EnvFilter::try_new(filter).with_context(|| format!("--log {filter}"))?;
    let (lines, flush) = LogWriter::start(io::stderr()).context("cannot start a thread")?;
    // By itself the layer would report a lost line on the standard error, and panic if it cannot.
    let logs = fmt()
        .with_env_filter(filter)
        .with_writer(lines)
        .with_ansi(is_coloured())
        .log_internal_errors(false);
    let installed = if *json_logs { logs.json().try_init() } else { logs.try_init() };
    installed.map_err(|error| anyhow::anyhow!("logs: {error}"))?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    Ok(flush)
}

/// Colours are for people: not for files and pipes, nor for who sets `NO_COLOR` (no-color.org).
fn is_coloured() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !unwanted
}

/// Installs the recorder of metrics, and describes them.
pub(crate) fn install_metrics() -> Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_mails".to_owned()), &MAILS)?
        .install_recorder()?;
    trapline_app::metrics::describe();
    trapline_app::metrics::build(version::VERSION, version::COMMIT);
    trapline_app::metrics::process_started(Clock::system().now());
    Ok(handle)
}

/// Puts the samples of histograms into their buckets again and again, for ever. The recorder keeps
/// every sample until somebody does, and nobody may ever read the metrics.
pub(crate) async fn upkeep(handle: PrometheusHandle) {
    regularly(UPKEEP_INTERVAL, || handle.run_upkeep()).await;
}

async fn regularly(pause: Duration, work: impl Fn()) {
    loop {
        tokio::time::sleep(pause).await;
        work();
    }
}

#[cfg(test)]
mod tests;
