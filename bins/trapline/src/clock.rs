//! The clock of a process.

use trapline_store::Clock;

/// The variable that names the file of a test's clock, in builds that follow one.
pub(crate) const VARIABLE: Option<&str> =
    if cfg!(feature = "test-clock") { Some("TRAPLINE_TEST_CLOCK") } else { None };

/// The machine's clock.
#[cfg(not(feature = "test-clock"))]
pub(crate) fn clock() -> Clock {
    Clock::system()
}

/// The machine's clock, ahead by the seconds in the file that `TRAPLINE_TEST_CLOCK` names, or behind where
/// they are negative. Tests write the file to pass a month in minutes, or to read old data; the number
/// may only grow.
#[cfg(feature = "test-clock")]
pub(crate) fn clock() -> Clock {
    use std::time::Duration;

    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    let Some(file) = VARIABLE.and_then(std::env::var_os) else {
        return Clock::system();
    };
    let clock = Clock::ahead();
    let moved = clock.clone();
    let read = move || std::fs::read_to_string(&file).ok()?.trim().parse::<i64>().ok();
    let mut ahead = read().unwrap_or(0);
    if ahead < 0 {
        moved.turn(ahead.saturating_mul(1_000));
    } else {
        moved.advance(Duration::from_secs(ahead.unsigned_abs()));
    }
    std::thread::spawn(move || {
        loop {
            let now = read().unwrap_or(ahead).max(ahead);
            moved.advance(Duration::from_secs(now.abs_diff(ahead)));
            ahead = now;
            std::thread::sleep(POLL_INTERVAL);
        }
    });
    clock
}
