//! Collects what is wrong with the settings, so that all of it is reported at once.

use std::fmt;

use super::setting::Setting;

/// What is wrong with the settings so far.
#[derive(Debug, Default)]
pub(crate) struct ConfigErrors(Vec<ConfigError>);

#[derive(Debug)]
enum ConfigError {
    /// A value that does not pass its check.
    Wrong { flag: &'static str, value: String, wanted: String },
    /// A setting that a cluster has to have.
    NeededInCluster { flag: &'static str },
    /// A setting that another one calls for.
    NeededWith { flag: &'static str, other: &'static str },
}

impl ConfigErrors {
    /// What `read` makes of the settings, or every error in them.
    ///
    /// # Errors
    ///
    /// When `read` adds an error, or returns nothing.
    pub(super) fn collect<T>(read: impl FnOnce(&mut Self) -> Option<T>) -> Result<T, Self> {
        let mut errors = Self::default();
        match read(&mut errors) {
            Some(value) if errors.0.is_empty() => Ok(value),
            _ => Err(errors),
        }
    }

    /// The value that a text stands for; nothing when it is wrong. The report shows no secret.
    pub(super) fn check<T>(
        &mut self,
        setting: &Setting,
        text: &str,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let value = setting.shown(text).to_owned();
        let wrong = |wanted| ConfigError::Wrong { flag: setting.flag, value, wanted };
        check(text).map_err(|wanted| self.0.push(wrong(wanted))).ok()
    }

    /// Reports a value that does not do, which is no secret; returns nothing.
    pub(super) fn wrong<T>(&mut self, flag: &'static str, value: &str, wanted: &str) -> Option<T> {
        let (value, wanted) = (value.to_owned(), wanted.to_owned());
        self.0.push(ConfigError::Wrong { flag, value, wanted });
        None
    }

    /// Reports that a cluster needs the setting; returns nothing.
    pub(super) fn needed_in_cluster<T>(&mut self, flag: &'static str) -> Option<T> {
        self.0.push(ConfigError::NeededInCluster { flag });
        None
    }

    /// Reports that the setting is needed beside another one.
    pub(super) fn needed_with(&mut self, other: &'static str, flag: &'static str) {
        self.0.push(ConfigError::NeededWith { flag, other });
    }

    /// Reports the one of two settings that is missing, where neither does without the other.
    pub(super) fn needed_together(
        &mut self,
        [(one, has_one), (other, has_other)]: [(&'static str, bool); 2],
    ) {
        match (has_one, has_other) {
            (true, false) => self.needed_with(one, other),
            (false, true) => self.needed_with(other, one),
            _ => {}
        }
    }

    /// A line for each error; `name` says what a flag's value is called where it came from.
    pub(super) fn report(&self, name: impl Fn(&str) -> String) -> String {
        let line = |error: &ConfigError| match error {
            ConfigError::Wrong { flag, value, wanted } => {
                format!("{} {value}: {wanted}", name(flag))
            }
            ConfigError::NeededInCluster { flag } => format!("--{flag}: is needed in a cluster"),
            ConfigError::NeededWith { flag, other } => {
                format!("--{flag}: is needed with {}", name(other))
            }
        };
        let lines: Vec<_> = self.0.iter().map(line).collect();
        format!("these settings are wrong:\n  {}", lines.join("\n  "))
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report(|flag| format!("--{flag}")))
    }
}

impl std::error::Error for ConfigErrors {}
