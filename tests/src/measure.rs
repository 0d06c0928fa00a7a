//! What processes count, and what the system says of their memory.

use std::fs;

use crate::{Deployment, Rest, eventually};

/// A number of bytes in `/proc/PID/status`: `VmRSS`, what the process has in memory, or `VmHWM`, the most
/// that it ever had. `None` when there is no such process.
pub fn memory_of(process: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

impl Deployment {
    /// A metric with its labels, over all processes of the API. The server has the metrics token `metrics`.
    pub async fn metric(&self, name: &str) -> u64 {
        let mut sum = 0;
        for address in self.api() {
            let metrics =
                Rest::new(&address, Some("metrics")).get("/api/metrics").await.expect(200);
            let value =
                metrics.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            sum += value.map_or(0, |number| number.parse::<u64>().unwrap());
        }
        sum
    }

    /// Waits until as many waits are parked. The server has the metrics token `metrics`.
    pub async fn until_parked(&self, waits: usize) {
        eventually("parked waits", async || {
            (self.metric("trapline_waits_parked").await == waits as u64).then_some(())
        })
        .await;
    }
}
