//! What a run came to, as a table for people or JSON for programs.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;

use crate::{
    args::Args,
    idle::Held,
    load::Outcome,
    proc::Sample,
    stats::{Histogram, Stats},
};

/// Everything that is printed. Times are in milliseconds where the name says so.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    target: String,
    connections: u32,
    per_connection: Option<u64>,
    /// Whether every accepted message was sent with its envelope in one write.
    pipelined: bool,
    seconds: f64,
    accepted: u64,
    accepted_per_second: f64,
    bytes: u64,
    /// From MAIL to the reply after the content; connecting excluded.
    transaction_ms: Option<Latency>,
    /// The same with connecting included, for the first message of connections opened on the way.
    with_connect_ms: Option<Latency>,
    /// Connections opened ahead: from the first packet to the last reply before MAIL.
    connect_ms: Option<Latency>,
    errors: BTreeMap<String, u64>,
    idle: Option<Idle>,
    server: Option<Cost>,
}

#[derive(Debug, Serialize)]
struct Latency {
    count: u64,
    p50: f64,
    p95: f64,
    p99: f64,
    max: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Idle {
    asked: u32,
    opened: usize,
    alive_after_hold: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    cpu_user_ms: f64,
    cpu_system_ms: f64,
    cpu_ms_per_message: Option<f64>,
    rss_kib: u64,
    peak_kib: u64,
}

impl Report {
    /// Of a run that sent messages; `samples` are the server before and after.
    pub(crate) fn of_load(args: &Args, run: Outcome, samples: Option<(Sample, Sample)>) -> Self {
        let mut report = Self::new(args, run.stats);
        report.seconds = run.elapsed.as_secs_f64();
        report.accepted_per_second = per(float(report.accepted), report.seconds);
        report.server = samples.map(|samples| Cost::new(samples, report.accepted));
        report
    }

    /// Of a run that held connections; `before` is the server before it.
    pub(crate) fn of_idle(args: &Args, held: Held, before: Option<Sample>) -> Self {
        let mut report = Self::new(args, held.stats);
        report.connections = held.asked;
        report.seconds = args.hold.as_secs_f64();
        report.idle =
            Some(Idle { asked: held.asked, opened: held.opened, alive_after_hold: held.alive });
        report.server = before.zip(held.sample).map(|samples| Cost::new(samples, 0));
        report
    }

    fn new(args: &Args, stats: Stats) -> Self {
        Self {
            target: args.target.clone(),
            connections: args.connections,
            per_connection: args.per_connection,
            pipelined: stats.accepted > 0 && stats.pipelined == stats.accepted,
            seconds: 0.0,
            accepted: stats.accepted,
            accepted_per_second: 0.0,
            bytes: stats.bytes,
            transaction_ms: Latency::of(&stats.transaction),
            with_connect_ms: Latency::of(&stats.with_connect),
            connect_ms: Latency::of(&stats.connect),
            errors: stats.errors,
            idle: None,
            server: None,
        }
    }

    /// Whether anything failed.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }
}

impl Latency {
    fn of(histogram: &Histogram) -> Option<Self> {
        let millis = |permille| float(histogram.quantile(permille)) / 1000.0;
        (histogram.count() > 0).then(|| Self {
            count: histogram.count(),
            p50: millis(500),
            p95: millis(950),
            p99: millis(990),
            max: float(histogram.max()) / 1000.0,
        })
    }
}

impl Cost {
    fn new((before, after): (Sample, Sample), accepted: u64) -> Self {
        let millis = |from: Duration, to: Duration| to.saturating_sub(from).as_secs_f64() * 1000.0;
        let (user, system) = (millis(before.user, after.user), millis(before.system, after.system));
        Self {
            cpu_user_ms: user,
            cpu_system_ms: system,
            cpu_ms_per_message: (accepted > 0).then(|| (user + system) / float(accepted)),
            rss_kib: after.rss_kib,
            peak_kib: after.peak_kib,
        }
    }
}

/// A quotient, 0 of nothing.
fn per(count: f64, whole: f64) -> f64 {
    if whole > 0.0 { count / whole } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "for display; counts stay far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_what(f)?;
        let latencies = [
            (
                "transaction ms",
                &self.transaction_ms,
                "from MAIL to the last reply, without connecting",
            ),
            (
                "with connect ms",
                &self.with_connect_ms,
                "the same from the connection's first packet",
            ),
            ("connect ms", &self.connect_ms, "opened ahead, up to the last reply before MAIL"),
        ];
        for (name, latency, note) in latencies {
            if let Some(Latency { p50, p95, p99, max, .. }) = latency {
                write!(f, "{name:<16}  p50 {p50:.2}  p95 {p95:.2}  p99 {p99:.2}  max {max:.2}")?;
                writeln!(f, "  ({note})")?;
            }
        }
        if let Some(cost) = &self.server {
            writeln!(f, "{cost}")?;
        }
        writeln!(f, "{:<16}  {}", "errors", self.errors.values().sum::<u64>())?;
        self.errors.iter().try_for_each(|(kind, count)| writeln!(f, "  {count:>8}  {kind}"))
    }
}

impl Report {
    fn fmt_what(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, connections, accepted, seconds, accepted_per_second, .. } = self;
        let pipelined = if self.pipelined { ", pipelined" } else { "" };
        write!(f, "{:<16}  {target}, {connections} connections", "target")?;
        match self.per_connection {
            Some(count) => writeln!(f, " of {count} messages each{pipelined}")?,
            None => writeln!(f, "{pipelined}")?,
        }
        match &self.idle {
            Some(Idle { opened, alive_after_hold, .. }) => writeln!(
                f,
                "{:<16}  {opened} opened, {alive_after_hold} alive after {seconds:.1} s",
                "idle"
            ),
            None => writeln!(
                f,
                "{:<16}  {accepted} in {seconds:.2} s, {accepted_per_second:.1} per second",
                "accepted"
            ),
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu_user_ms, cpu_system_ms, rss_kib, peak_kib, .. } = self;
        let (rss, peak) = (float(*rss_kib) / 1024.0, float(*peak_kib) / 1024.0);
        write!(f, "{:<16}  CPU {cpu_user_ms:.0} ms user + {cpu_system_ms:.0} ms system", "server")?;
        if let Some(each) = self.cpu_ms_per_message {
            write!(f, " = {each:.3} ms per message")?;
        }
        write!(f, "; memory {rss:.1} MiB, peak {peak:.1} MiB")
    }
}
