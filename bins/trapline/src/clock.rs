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

/// The machine's clock, put ahead by as many seconds as the file says that `TRAPLINE_TEST_CLOCK` names,
/// or back where that is negative: a test writes there that lives through a month in minutes, or is to
/// see data as it was when it was made. The number only grows.
#[cfg(feature = "test-clock")]
pub(crate) fn clock() -> Clock {
    use std::time::Duration;

    const LOOK_EACH: Duration = Duration::from_millis(20);

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
            std::thread::sleep(LOOK_EACH);
        }
    });
    clock
}
