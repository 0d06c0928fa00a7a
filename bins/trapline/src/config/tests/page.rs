//! docs/configuration.md, from the settings.

use std::{env, fmt::Write, fs, path::Path};

use clap::CommandFactory;

use super::Cli;

/// The page is written from the settings themselves: `UPDATE_DOCS=1 cargo test -p trapline`.
#[test]
fn the_configuration_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = page();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), page, "run with UPDATE_DOCS=1");
}

fn page() -> String {
    let mut page = String::from(
        "# Configuration\n\n\
         Each setting is a flag and an environment variable; the flag wins. `trapline serve` runs \
         everything in one process; `api`, `smtp` and `worker` are the roles of a cluster, for which \
         `migrate` prepares the services. An empty variable is as none. All bad settings are reported \
         at once, and `--check-config` does nothing else; it also tells of variables that begin with \
         `TRAPLINE_` and are no setting, as each start does in the log. The variables that Kubernetes \
         makes for a Service, such as `TRAPLINE_SMTP_PORT=tcp://10.0.0.1:25`, are ignored. Sizes are \
         numbers with `B`, `KiB`, `MiB` or `GiB`; times are numbers with `ms`, `s`, `m`, `h` or `d`. \
         The value of a *secret* is in no report, help text or log; it may also be in a \
         file, as systemd and Kubernetes hand secrets over, but not given in both ways.\n\n\
         This page is made from the settings themselves.\n",
    );
    let command = Cli::command();
    let mut heading = None;
    for (arg, commands) in all_settings(&command) {
        let group = arg.get_help_heading().unwrap_or("Addresses");
        if heading != Some(group) {
            heading = Some(group);
            write!(
                page,
                "\n## {group}\n\n| flag | variable | default | of | what |\n|---|---|---|---|---|\n"
            )
            .unwrap();
        }
        writeln!(
            page,
            "| `--{}` | `{}` | {} | {} | {}{} |",
            arg.get_long().unwrap(),
            arg.get_env().unwrap().to_str().unwrap(),
            default(arg),
            commands.join(", "),
            if arg.is_hide_env_values_set() { from_file(arg) } else { String::new() },
            arg.get_help().map(ToString::to_string).unwrap_or_default().replace('|', "\\|"),
        )
        .unwrap();
    }
    page
}

/// What the page says of every secret.
fn from_file(arg: &clap::Arg) -> String {
    let (flag, variable) = (arg.get_long().unwrap(), arg.get_env().unwrap().to_str().unwrap());
    format!("*Secret*, or a file with it: `--{flag}-file`, `{variable}_FILE`. ")
}

/// Whether an argument only names a file with the value of another one.
fn is_file(arg: &clap::Arg, command: &clap::Command) -> bool {
    let secret = |name: &str| command.get_arguments().find(|arg| arg.get_id() == name);
    let name = arg.get_id().as_str().strip_suffix("-file");
    name.and_then(secret).is_some_and(clap::Arg::is_hide_env_values_set)
}

/// Every setting with the commands that have it, by group.
pub(super) fn all_settings(command: &clap::Command) -> Vec<(&clap::Arg, Vec<&str>)> {
    let mut settings: Vec<(&clap::Arg, Vec<&str>)> = Vec::new();
    for name in ["serve", "api", "smtp", "worker", "migrate"] {
        let command = command.find_subcommand(name).unwrap();
        for arg in command.get_arguments() {
            if arg.get_env().is_none() || is_file(arg, command) {
                continue;
            }
            match settings.iter_mut().find(|(known, _)| known.get_id() == arg.get_id()) {
                Some((_, commands)) => commands.push(name),
                None => settings.push((arg, vec![name])),
            }
        }
    }
    settings.sort_by_key(|(arg, _)| arg.get_help_heading().map(str::to_owned));
    settings
}

/// The default as the page has it.
pub(super) fn default(arg: &clap::Arg) -> String {
    let defaults: Vec<_> =
        arg.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    if defaults.is_empty() { "–".to_owned() } else { format!("`{}`", defaults.join(" ")) }
}
