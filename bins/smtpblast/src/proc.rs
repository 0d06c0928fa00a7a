//! The server's CPU and memory from /proc (proc(5)).

use std::{fs, io, time::Duration};

use anyhow::Context;

/// Ticks per second of the times in /proc: `USER_HZ`, 100 on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// A process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// CPU time in user mode of all its threads, also those that ended.
    pub(crate) user: Duration,
    /// The same in the kernel.
    pub(crate) system: Duration,
    /// Memory that is resident now, in KiB.
    pub(crate) rss_kib: u64,
    /// The most that was ever resident, in KiB.
    pub(crate) peak_kib: u64,
}

impl Sample {
    /// Looks at a process.
    ///
    /// # Errors
    /// No such process, or no /proc.
    pub(crate) fn of(pid: u32) -> anyhow::Result<Self> {
        let read = |file: &str| -> io::Result<String> {
            fs::read_to_string(format!("/proc/{pid}/{file}"))
        };
        let context = || format!("read /proc/{pid}");
        let (stat, status) =
            (read("stat").with_context(context)?, read("status").with_context(context)?);
        let (user, system) = cpu(&stat).context("read utime and stime")?;
        let rss_kib = kib(&status, "VmRSS:").context("read VmRSS")?;
        let peak_kib = kib(&status, "VmHWM:").context("read VmHWM")?;
        Ok(Self { user, system, rss_kib, peak_kib })
    }
}

/// utime and stime, fields 14 and 15; the name in field 2 can hold spaces and parentheses.
fn cpu(stat: &str) -> Option<(Duration, Duration)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    Some((duration(ticks.next()?.ok()?), duration(ticks.next()?.ok()?)))
}

fn duration(ticks: u64) -> Duration {
    Duration::from_millis(ticks * (1000 / TICKS_PER_SECOND))
}

/// A line such as `VmRSS:     1234 kB`.
fn kib(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "7 (a) b) (c) S 1 7 7 0 -1 4194560 9 0 0 0 250 13 0 0 20 0 4 0 99 1 2 3";
        let expected = (Duration::from_millis(2500), Duration::from_millis(130));
        assert_eq!(cpu(stat), Some(expected));
        assert_eq!(cpu("7 (a) S 1"), None);
    }

    #[test]
    fn memory_is_found_by_name() {
        let status = "Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n";
        assert_eq!((kib(status, "VmRSS:"), kib(status, "VmHWM:")), (Some(1024), Some(2048)));
        assert_eq!(kib(status, "VmSwap:"), None);
    }

    #[test]
    fn this_process_can_be_looked_at() {
        let sample = Sample::of(std::process::id()).unwrap();
        assert!(sample.rss_kib > 0 && sample.peak_kib >= sample.rss_kib);
    }
}
