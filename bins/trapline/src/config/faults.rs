//! Collects what is wrong with each setting.

use std::{fmt, time::Duration};

use super::parse;

/// What is wrong with the settings, each with its flag.
#[derive(Debug, Default)]
pub(crate) struct BadSettings(Vec<Fault>);

#[derive(Debug)]
enum Fault {
    /// A value that does not do.
    Bad { flag: String, value: String, wanted: String },
    /// A setting that a cluster has to have.
    NeededInCluster { flag: String },
    /// A setting that another one calls for.
    NeededWith { flag: String, other: String },
}

impl BadSettings {
    /// A line for each fault; `name` says what a flag's value is called where it came from.
    pub(super) fn report(&self, name: impl Fn(&str) -> String) -> String {
        let line = |fault: &Fault| match fault {
            Fault::Bad { flag, value, wanted } => format!("{} {value}: {wanted}", name(flag)),
            Fault::NeededInCluster { flag } => format!("--{flag}: is needed in a cluster"),
            Fault::NeededWith { flag, other } => {
                format!("--{flag}: is needed with {}", name(other))
            }
        };
        let lines: Vec<_> = self.0.iter().map(line).collect();
        format!("these settings are wrong:\n  {}", lines.join("\n  "))
    }
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report(|flag| format!("--{flag}")))
    }
}

impl std::error::Error for BadSettings {}

/// What is wrong so far.
#[derive(Default)]
pub(super) struct Faults(BadSettings);

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
            self.note(Fault::Bad { flag: flag.to_owned(), value: text.to_owned(), wanted });
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

    /// A text that must be there in a cluster.
    pub(super) fn needed_in_cluster(&mut self, flag: &str, text: Option<&String>) -> String {
        if given(text).is_none() {
            self.note(Fault::NeededInCluster { flag: flag.to_owned() });
        }
        text.cloned().unwrap_or_default()
    }

    /// A text that must be there because another setting is.
    pub(super) fn needed_with(&mut self, other: &str, flag: &str, text: Option<&String>) {
        if given(text).is_none() {
            let (flag, other) = (flag.to_owned(), other.to_owned());
            self.note(Fault::NeededWith { flag, other });
        }
    }

    /// Two texts of which neither does without the other.
    pub(super) fn both<'a>(
        &mut self,
        (one, text): (&str, Option<&'a String>),
        (other, other_text): (&str, Option<&'a String>),
    ) -> Option<(&'a str, &'a str)> {
        let (text, other_text) = (given(text), given(other_text));
        let needed = match (text, other_text) {
            (Some(_), None) => Some((other, one)),
            (None, Some(_)) => Some((one, other)),
            _ => None,
        };
        if let Some((flag, other)) = needed {
            self.needed_with(other, flag, None);
        }
        text.zip(other_text)
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

    pub(super) fn end<T>(self, value: T) -> Result<T, BadSettings> {
        if self.0.0.is_empty() { Ok(value) } else { Err(self.0) }
    }

    fn note(&mut self, fault: Fault) {
        self.0.0.push(fault);
    }
}

/// An empty text is none, as environments can leave one.
pub(super) fn given(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}
