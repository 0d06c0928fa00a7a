//! Times of day and of the CPU, as the kernel has them (`clock_gettime(2)`).

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds since 1970, by the clock that packets are stamped with.
pub(crate) fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// CPU time of all threads of this process, in milliseconds.
pub(crate) fn cpu_ms() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime)) / 1_000_000
}

/// Zero before 1970.
fn nanoseconds(time: Timespec) -> u64 {
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_the_rest_are_added() {
        let time = |tv_sec, tv_nsec| nanoseconds(Timespec { tv_sec, tv_nsec });
        assert_eq!(time(3, 7), 3_000_000_007);
        assert_eq!(time(-1, 0), 0);
    }

    #[test]
    fn the_clock_goes_on() {
        let before = now();
        assert!(before > 1_600_000_000_000_000_000 && now() >= before);
    }
}
