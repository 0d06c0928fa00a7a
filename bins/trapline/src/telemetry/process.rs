//! What this process takes of its machine, as Linux tells it.

use std::{fs, io, time::Duration};

use rustix::{
    process::{Resource, getrlimit},
    time::{ClockId, clock_gettime},
};
use trapline_app::metrics::{self, ProcessUse};

/// Between two measurements.
const INTERVAL: Duration = Duration::from_secs(15);

/// Measures again and again, for ever; once where the system does not tell.
pub(crate) async fn measure() {
    loop {
        match tokio::task::spawn_blocking(measured).await {
            Ok(Ok(measured)) => metrics::process(measured),
            Ok(Err(error)) => {
                return tracing::debug!(%error, "the system tells nothing of processes");
            }
            Err(error) => return tracing::debug!(%error, "the process was not measured"),
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

fn measured() -> io::Result<ProcessUse> {
    let open = fs::read_dir("/proc/self/fd")?.count();
    let status = fs::read_to_string("/proc/self/status")?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = memory.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let cpu = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    Ok(ProcessUse {
        // Without the one that lists them.
        open_files: u64::try_from(open).unwrap_or(u64::MAX).saturating_sub(1),
        max_files: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        memory: kibibytes.ok_or(io::ErrorKind::InvalidData)?.saturating_mul(1024),
        cpu: u64::try_from(cpu).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_process_has_files_and_memory() {
        let before = measured().unwrap();
        let files: Vec<_> = (0..64).map(|_| fs::File::open("/proc/self/statm").unwrap()).collect();
        let with_files = measured().unwrap();
        // Other tests open and close some meanwhile.
        assert!(with_files.open_files + 32 > before.open_files + 64, "{before:?} {with_files:?}");
        assert!(before.max_files >= before.open_files);
        assert!((1 << 20..1 << 40).contains(&before.memory), "{before:?}");
        drop(files);
    }
}
