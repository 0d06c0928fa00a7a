//! `settings!`: one declaration of a setting makes its flag, its environment variable, its default, its
//! check, its row in docs/configuration.md, and says whether its value may be shown.
//!
//! ```text
//! /// What the setting is: the help text, and the row.
//! field: Type = VARIABLE("VALUE NAME") presence public|secret, check;
//! ```
//!
//! *Presence* is `default("text")`, `optional` (the type is then an `Option`), or `needed` (in a
//! cluster). *Check* reads the text, or says what it wants instead. The flag is the variable without
//! `TRAPLINE_`, in lower case, with `-` for `_`. A secret may also be in a file, which the same names with
//! `_FILE` and `-file` behind them name.

use std::{fmt, marker::PhantomData};

use clap::{Arg, ArgMatches, Command, parser::ValueSource};

use super::{errors::ConfigErrors, secret_file};

/// The prefix of most variables, which flags do without.
pub(super) const PREFIX: &str = "TRAPLINE_";

/// A setting as the command line and the environment have it.
pub(crate) struct Setting {
    /// The environment variable.
    pub variable: &'static str,
    /// The flag, without the dashes before it.
    pub flag: &'static str,
    /// What the help calls the value.
    pub value_name: &'static str,
    /// The text that holds when there is none; it passes the check.
    pub default: Option<&'static str>,
    /// The documentation of the declaration, line by line.
    pub help: &'static str,
    /// Another way to give the value, which secrets have. Theirs are kept out of help texts, error reports
    /// and debug output.
    pub file: Option<FileSetting>,
}

/// What names a file that holds the value of a setting.
pub(crate) struct FileSetting {
    /// The environment variable.
    pub variable: &'static str,
    /// The flag, without the dashes before it.
    pub flag: &'static str,
}

impl Setting {
    fn arg(&self) -> Arg {
        Arg::new(self.flag)
            .long(self.flag)
            .env(self.variable)
            .value_name(self.value_name)
            .default_value(self.default)
            .help(self.help.trim().trim_end_matches('.'))
            .hide_env_values(self.file.is_some())
    }

    fn file_arg(&self) -> Option<Arg> {
        let FileSetting { variable, flag } = self.file.as_ref()?;
        let arg = Arg::new(*flag).long(*flag).env(*variable).value_name("FILE");
        Some(arg.help(format!("A file that holds the value of --{}", self.flag)))
    }

    /// What was given for the setting, by itself or in a file.
    fn given(&self, matches: &ArgMatches) -> Given {
        let text = matches.get_one::<String>(self.flag).cloned();
        let file = self.file.as_ref().and_then(|file| {
            let path = matches.get_one::<String>(file.flag)?;
            (!path.is_empty()).then(|| (file.flag, path.clone()))
        });
        let is_default = matches.value_source(self.flag) == Some(ValueSource::DefaultValue);
        match (text, file) {
            (text, None) => Given::Text(text),
            (Some(text), Some((flag, path))) if !text.is_empty() && !is_default => {
                let wanted = format!("--{} or {} is given too", self.flag, self.variable);
                Given::Fault { flag, path, wanted }
            }
            (_, Some((flag, path))) => match secret_file::read(&path) {
                Ok(text) => Given::Text(Some(text)),
                Err(wanted) => Given::Fault { flag, path, wanted },
            },
        }
    }
}

/// What was given for a setting.
enum Given {
    Text(Option<String>),
    /// A file that does not do.
    Fault {
        flag: &'static str,
        path: String,
        wanted: String,
    },
}

/// Settings that commands have together; `settings!` implements it.
pub(crate) trait SettingGroup: Sized {
    /// Their heading in help texts and in docs/configuration.md.
    const HEADING: Option<&'static str>;
    /// The settings, as declared.
    const SETTINGS: &'static [Setting];

    /// The checked values. Each fault is added to `errors`, and then there are none.
    fn read(texts: &SettingTexts<Self>, errors: &mut ConfigErrors) -> Option<Self>;
}

/// The texts of a group's settings, before they are checked.
pub(crate) struct SettingTexts<G> {
    /// In the order of `SettingGroup::SETTINGS`.
    given: Vec<Given>,
    group: PhantomData<fn() -> G>,
}

impl<G: SettingGroup> SettingTexts<G> {
    /// The checked values. Each fault is added to `errors`, and then there are none.
    pub(super) fn read(&self, errors: &mut ConfigErrors) -> Option<G> {
        G::read(self, errors)
    }

    /// Whether there is something for a variable. An empty text is none, as environments can leave one.
    pub(super) fn is_given(&self, variable: &str) -> bool {
        self.find(variable).is_some_and(|(_, given)| match given {
            Given::Text(text) => text.as_ref().is_some_and(|text| !text.is_empty()),
            Given::Fault { .. } => true,
        })
    }

    /// The value of a setting that has a default.
    pub(super) fn default<T>(
        &self,
        variable: &str,
        check: impl Fn(&str) -> Result<T, String>,
        errors: &mut ConfigErrors,
    ) -> Option<T> {
        let (setting, text) = self.text(variable, errors)?;
        errors.check(setting, text.unwrap_or_default(), check)
    }

    /// The value of a setting that may be absent; the outer `None` is a fault.
    #[expect(clippy::option_option, reason = "a value that is wrong is not one that is absent")]
    pub(super) fn optional<T>(
        &self,
        variable: &str,
        check: impl Fn(&str) -> Result<T, String>,
        errors: &mut ConfigErrors,
    ) -> Option<Option<T>> {
        let (setting, text) = self.text(variable, errors)?;
        match text.filter(|text| !text.is_empty()) {
            Some(text) => errors.check(setting, text, check).map(Some),
            None => Some(None),
        }
    }

    /// The value of a setting that a cluster has to have.
    pub(super) fn needed<T>(
        &self,
        variable: &str,
        check: impl Fn(&str) -> Result<T, String>,
        errors: &mut ConfigErrors,
    ) -> Option<T> {
        let (setting, text) = self.text(variable, errors)?;
        match text.filter(|text| !text.is_empty()) {
            Some(text) => errors.check(setting, text, check),
            None => errors.needed_in_cluster(setting.flag),
        }
    }

    /// The text for a variable; a file that does not do is a fault, and then there is nothing.
    fn text(
        &self,
        variable: &str,
        errors: &mut ConfigErrors,
    ) -> Option<(&'static Setting, Option<&str>)> {
        let (setting, given) = self.find(variable)?;
        match given {
            Given::Text(text) => Some((setting, text.as_deref())),
            Given::Fault { flag, path, wanted } => errors.wrong(flag, path, wanted),
        }
    }

    fn find(&self, variable: &str) -> Option<(&'static Setting, &Given)> {
        let mut settings = G::SETTINGS.iter().zip(&self.given);
        settings.find(|(setting, _)| setting.variable == variable)
    }
}

impl<G: SettingGroup> fmt::Debug for SettingTexts<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = G::SETTINGS.iter().zip(&self.given).map(|(setting, given)| match given {
            Given::Text(text) => (setting.flag, text.as_deref().map(|text| setting.shown(text))),
            Given::Fault { flag, path, .. } => (*flag, Some(path.as_str())),
        });
        f.debug_map().entries(shown).finish()
    }
}

impl Setting {
    /// The value as reports may show it.
    pub(super) fn shown<'a>(&self, text: &'a str) -> &'a str {
        if self.file.is_some() { "(hidden)" } else { text }
    }
}

impl<G: SettingGroup> clap::Args for SettingTexts<G> {
    fn augment_args(command: Command) -> Command {
        let args = G::SETTINGS.iter().flat_map(|setting| [Some(setting.arg()), setting.file_arg()]);
        command.args(args.flatten().map(|arg| arg.help_heading(G::HEADING)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: SettingGroup> clap::FromArgMatches for SettingTexts<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |setting: &Setting| setting.given(matches);
        Ok(Self { given: G::SETTINGS.iter().map(given).collect(), group: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How many letters [`flag`] makes of a variable.
pub(super) const fn flag_length(variable: &str) -> usize {
    match variable.as_bytes() {
        [b'T', b'R', b'A', b'P', b'L', b'I', b'N', b'E', b'_', rest @ ..] => rest.len(),
        all => all.len(),
    }
}

/// The flag of a variable.
pub(super) const fn flag<const LENGTH: usize>(variable: &str) -> [u8; LENGTH] {
    let letters = variable.as_bytes();
    let mut flag = [b'-'; LENGTH];
    let mut index = 0;
    while index < LENGTH {
        let letter = letters[letters.len() - LENGTH + index];
        if letter != b'_' {
            flag[index] = letter.to_ascii_lowercase();
        }
        index += 1;
    }
    flag
}

/// The text of a flag, whose letters are ASCII.
pub(super) const fn text(flag: &'static [u8]) -> &'static str {
    match str::from_utf8(flag) {
        Ok(flag) => flag,
        Err(_) => "",
    }
}

/// Declares a group of settings: `struct` makes a type for their values, `fill` puts them into one that
/// is somewhere else, whose other fields keep their defaults.
macro_rules! settings {
    ($(#[$meta:meta])* struct $group:ident($heading:expr) { $(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty =
            $variable:ident($value:literal) $presence:ident $(($default:literal))? $shown:ident, $check:expr;
    )+ }) => {
        $(#[$meta])*
        pub(crate) struct $group { $( $(#[doc = $doc])+ pub $field: $type, )+ }

        settings! { @group $group, $heading, [], $(
            ($($doc)+) $field $variable $value $presence ($($default)?) $shown ($check)
        )+ }
    };
    (fill $group:path, $heading:expr, { $(
        $(#[doc = $doc:literal])+
        $field:ident =
            $variable:ident($value:literal) $presence:ident $(($default:literal))? $shown:ident, $check:expr;
    )+ }) => {
        settings! { @group $group, $heading, [..Default::default()], $(
            ($($doc)+) $field $variable $value $presence ($($default)?) $shown ($check)
        )+ }
    };
    (@group $group:path, $heading:expr, [$($others:tt)*], $(
        ($($doc:literal)+) $field:ident $variable:ident $value:literal $presence:ident ($($default:literal)?)
        $shown:ident ($check:expr)
    )+) => {
        impl $crate::config::setting::SettingGroup for $group {
            const HEADING: Option<&'static str> = $heading;
            const SETTINGS: &'static [$crate::config::setting::Setting] = &[$({
                const VARIABLE: &str = stringify!($variable);
                const FLAG: [u8; $crate::config::setting::flag_length(VARIABLE)] =
                    $crate::config::setting::flag(VARIABLE);
                $crate::config::setting::Setting {
                    variable: VARIABLE,
                    flag: $crate::config::setting::text(&FLAG),
                    value_name: $value,
                    default: settings!(@default $($default)?),
                    help: concat!($($doc),+),
                    file: settings!(@file $shown $variable),
                }
            }),+];

            fn read(
                texts: &$crate::config::setting::SettingTexts<Self>,
                errors: &mut $crate::config::errors::ConfigErrors,
            ) -> Option<Self> {
                $( let $field = texts.$presence(stringify!($variable), $check, errors); )+
                Some(Self { $($field: $field?,)+ $($others)* })
            }
        }
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    (@file public $variable:ident) => { None };
    (@file secret $variable:ident) => { Some({
        const VARIABLE: &str = concat!(stringify!($variable), "_FILE");
        const FLAG: [u8; $crate::config::setting::flag_length(VARIABLE)] =
            $crate::config::setting::flag(VARIABLE);
        $crate::config::setting::FileSetting {
            variable: VARIABLE,
            flag: $crate::config::setting::text(&FLAG),
        }
    }) };
}

pub(super) use settings;
