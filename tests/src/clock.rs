//! The clock of the processes under test.

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A file with the seconds that the clock is ahead of the machine's, or behind where that is negative.
/// Only an executable with the feature `test-clock` looks at it.
#[derive(Debug)]
pub struct TestClock {
    file: PathBuf,
    ahead: Cell<i64>,
}

impl TestClock {
    pub(crate) const VARIABLE: &str = "TRAPLINE_TEST_CLOCK";

    /// The clock whose file the environment names, which shows the machine's time.
    pub fn from_environment() -> Self {
        let file = std::env::var_os(Self::VARIABLE).expect("TRAPLINE_TEST_CLOCK is not set");
        Self::ahead(file.into(), 0)
    }

    /// A clock that shows a time, in seconds since 1970, and goes on from there.
    pub(crate) fn showing(file: PathBuf, seconds: i64) -> Self {
        Self::ahead(file, seconds - machine_millis() / 1_000)
    }

    /// A clock that shows the machine's time, until it jumps.
    pub(crate) fn new(file: PathBuf) -> Self {
        Self::ahead(file, 0)
    }

    fn ahead(file: PathBuf, seconds: i64) -> Self {
        let clock = Self { file, ahead: Cell::new(seconds) };
        clock.jump(Duration::ZERO);
        clock
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Puts the clock ahead. A reader never sees half a number.
    pub fn jump(&self, by: Duration) {
        self.ahead.set(self.ahead.get() + i64::try_from(by.as_secs()).unwrap());
        let written = self.file.with_extension("new");
        fs::write(&written, self.ahead.get().to_string()).unwrap();
        fs::rename(written, &self.file).unwrap();
    }

    /// What it shows, in milliseconds since 1970.
    pub fn millis(&self) -> i64 {
        machine_millis() + self.ahead.get() * 1_000
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what the machine shows, from which this clock departs"
)]
fn machine_millis() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}
