//! The environment: which values came from it, and what else is there under our names.
//!
//! Kubernetes puts the address of every Service into each pod's environment, as Docker's links did:
//! a Service called `trapline-smtp` makes `TRAPLINE_SMTP_PORT=tcp://10.0.0.1:25`, which is the name of
//! a setting.

use std::{
    collections::{BTreeSet, HashMap},
    env,
    ffi::{OsStr, OsString},
};

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, parser::ValueSource};

use super::{Cli, errors::ConfigErrors, setting::PREFIX};
use crate::clock;

/// Variables that begin like settings and are none: what clients are told to keep the API's address in,
/// and the file of a test's clock, in builds that follow one.
const OTHER_VARIABLES: [Option<&str>; 2] = [Some("TRAPLINE_URL"), clock::VARIABLE];
/// A name with at most one typo in so many letters gets a hint of the setting that it resembles.
const LETTERS_PER_TYPO: usize = 3;

/// The parsed command line and environment.
pub(crate) struct CommandLine {
    pub cli: Cli,
    /// The variable of each flag whose value came from it.
    variables: HashMap<String, String>,
    /// What is odd in the environment, a sentence each.
    pub warnings: Vec<String>,
}

impl CommandLine {
    /// Reads both. Ends the process for `--help`, and where flags are unknown or lack a value.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let known = names(&Cli::command());
        let is_text = |name: &str| env::var_os(name).is_none_or(|it| it.to_str().is_some());
        if let Some(name) = known.iter().find(|name| !is_text(name)) {
            anyhow::bail!("{name}: wants a text in UTF-8");
        }
        let command = ignoring_strays(Cli::command());
        let matches = command.clone().get_matches();
        let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let warnings = env::vars_os().filter_map(|(name, value)| warning(&known, &name, &value));
        let mut warnings: Vec<_> = warnings.collect();
        warnings.sort();
        Ok(Self { cli, variables: variables(&command, &matches), warnings })
    }

    /// The report, with each value named by where it came from.
    pub(crate) fn report(&self, bad: &ConfigErrors) -> anyhow::Error {
        let name = |flag: &str| match self.variables.get(flag) {
            Some(variable) => variable.clone(),
            None => format!("--{flag}"),
        };
        anyhow::anyhow!(bad.report(name))
    }
}

/// The variables of all settings.
fn names(command: &Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(|arg| Some(arg.get_env()?.to_str()?.to_owned()));
    own.chain(command.get_subcommands().flat_map(names)).collect()
}

/// The command line, deaf to variables that are empty or that Kubernetes made.
fn ignoring_strays(command: Command) -> Command {
    let is_stray = |name: &OsStr| {
        env::var_os(name).is_some_and(|value| value.is_empty() || is_service(name, &value))
    };
    command
        .mut_args(|arg| match arg.get_env() {
            Some(name) if is_stray(name) => arg.env(None::<&'static str>),
            _ => arg,
        })
        .mut_subcommands(ignoring_strays)
}

fn variables(command: &Command, matches: &ArgMatches) -> HashMap<String, String> {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        return variables(command, matches);
    }
    let given = |arg: &&clap::Arg| {
        matches.value_source(arg.get_id().as_str()) == Some(ValueSource::EnvVariable)
    };
    let name =
        |arg: &clap::Arg| Some((arg.get_long()?.to_owned(), arg.get_env()?.to_str()?.to_owned()));
    command.get_arguments().filter(given).filter_map(name).collect()
}

fn warning(known: &BTreeSet<String>, name: &OsString, value: &OsStr) -> Option<String> {
    let text = name.to_str()?;
    let is_service = is_service(name, value);
    if known.contains(text) {
        return is_service.then(|| {
            format!(
                "{text} is ignored: Kubernetes sets it to {} for a Service of that name. \
                 `enableServiceLinks: false` in the pod keeps such variables away.",
                value.display()
            )
        });
    }
    if !text.starts_with(PREFIX) || OTHER_VARIABLES.contains(&Some(text)) || is_service {
        return None;
    }
    let typos = |known: &&String| strsim::damerau_levenshtein(known, text);
    let letters = text.len() - PREFIX.len();
    let nearest =
        known.iter().min_by_key(typos).filter(|it| typos(it) * LETTERS_PER_TYPO <= letters);
    let hint = nearest.map_or_else(|| ".".to_owned(), |known| format!("; is {known} meant?"));
    Some(format!("{text} is no setting and is ignored{hint}"))
}

/// Whether Kubernetes or Docker made this variable for a service: `…_SERVICE_HOST`,
/// `…_SERVICE_PORT`, `…_SERVICE_PORT_<NAME>`, `…_PORT=tcp://…`, and `…_PORT_<NUMBER>_<PROTOCOL>` with
/// `_PROTO`, `_PORT` and `_ADDR` of it.
fn is_service(name: &OsStr, value: &OsStr) -> bool {
    let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { return false };
    if name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
    {
        return true;
    }
    if name.ends_with("_PORT") && is_service_address(value) {
        return true;
    }
    name.split("_PORT_").skip(1).any(|rest| {
        let mut words = rest.split('_');
        let number = words.next().is_some_and(|word| word.parse::<u16>().is_ok());
        number && words.next().is_some_and(|word| matches!(word, "TCP" | "UDP" | "SCTP"))
    })
}

fn is_service_address(value: &str) -> bool {
    ["tcp://", "udp://", "sctp://"].iter().any(|protocol| value.starts_with(protocol))
}
