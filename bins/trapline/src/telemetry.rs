//! Logs to the standard error, and the metrics recorder.

use anyhow::{Context, Result};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::{EnvFilter, fmt};

use crate::config::Observe;

/// Bounds of the histograms in seconds: from a commit on a fast disk to a parked wait.
const SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 120.0];
const MAILS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

pub(crate) fn logs(observe: &Observe) -> Result<()> {
    let Observe { log: filter, json_logs, warnings, .. } = observe;
    let filter = EnvFilter::try_new(filter).with_context(|| format!("--log {filter}"))?;
    let logs = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let installed = if *json_logs { logs.json().try_init() } else { logs.try_init() };
    installed.map_err(|error| anyhow::anyhow!("logs: {error}"))?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    Ok(())
}

pub(crate) fn metrics() -> Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_mails".to_owned()), &MAILS)?
        .install_recorder()?;
    trapline_app::metrics::describe();
    Ok(handle)
}
