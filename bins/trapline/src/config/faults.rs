//! Collects what is wrong with each setting.

use std::time::Duration;

use super::parse;

/// What is wrong, a line each.
#[derive(Default)]
pub(super) struct Faults(Vec<String>);

impl Faults {
    /// The value; a bad one is noted, and its stand-in is never used.
    pub(super) fn or<T>(
        &mut self,
        flag: &str,
        text: &str,
        value: Result<T, String>,
        stand_in: T,
    ) -> T {
        value.unwrap_or_else(|wanted| {
            self.0.push(format!("--{flag} {text}: {wanted}"));
            stand_in
        })
    }

    pub(super) fn take<T: Default>(
        &mut self,
        flag: &str,
        text: &str,
        value: Result<T, String>,
    ) -> T {
        self.or(flag, text, value, T::default())
    }

    pub(super) fn optional<T>(
        &mut self,
        flag: &str,
        text: Option<&String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = given(text)?;
        self.take(flag, text, read(text).map(Some))
    }

    /// Like `optional`, for a value that the report must not show.
    pub(super) fn secret<T>(
        &mut self,
        flag: &str,
        text: Option<&String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.take(flag, "(hidden)", read(given(text)?).map(Some))
    }

    /// A text that must be there.
    pub(super) fn needed(&mut self, flag: &str, text: Option<&String>) -> String {
        let text = text.cloned().unwrap_or_default();
        if text.is_empty() {
            self.0.push(format!("--{flag}: is needed in a cluster"));
        }
        text
    }

    pub(super) fn count(&mut self, flag: &str, text: &str, most: u64) -> usize {
        let number = self.take(flag, text, parse::number(text, 1, most));
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    pub(super) fn size(&mut self, flag: &str, text: &str, least: u64) -> usize {
        let size = self.take(flag, text, parse::size(text, least, 1 << 40));
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    pub(super) fn time(&mut self, flag: &str, text: &str, most: Duration) -> Duration {
        self.take(flag, text, parse::time(text, Duration::from_millis(100), most))
    }

    pub(super) fn boolean(&mut self, flag: &str, text: &str) -> bool {
        self.take(flag, text, parse::boolean(text))
    }

    pub(super) fn end<T>(self, value: T) -> anyhow::Result<T> {
        anyhow::ensure!(self.0.is_empty(), "bad settings\n  {}", self.0.join("\n  "));
        Ok(value)
    }
}

/// An empty text is none, as environments can leave one.
pub(super) fn given(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}
