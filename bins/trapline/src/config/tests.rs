#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{env, fmt::Write, fs, path::Path};

use clap::{CommandFactory, Parser};

use super::Cli;

#[test]
fn every_bad_setting_is_reported_at_once() {
    let cli = Cli::parse_from([
        "trapline",
        "--http=nowhere",
        "--smtp-message=25XB",
        "--smtp-errors=0",
        "--durability=never",
        "--api-key=tl_secret!",
        "--mail-domain=a..b",
        "--base-url=ftp://x",
        "--drain=26s",
    ]);
    let report = cli.serve.check().err().unwrap().to_string();
    for flag in [
        "http",
        "smtp-message",
        "smtp-errors",
        "durability",
        "api-key",
        "mail-domain",
        "base-url",
        "drain",
    ] {
        assert!(report.contains(&format!("--{flag} ")), "{flag} in {report}");
    }
    assert!(!report.contains("tl_secret"), "{report}");
}

#[test]
fn the_defaults_are_good() {
    let config = Cli::parse_from(["trapline"]).serve.check().unwrap();
    assert_eq!(config.edge.limits.message_size, 25 << 20);
    assert!(config.api_rate.is_none());
}

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
         Each setting of `trapline serve` is a flag and an environment variable; the flag wins. All bad \
         settings are reported at once, and `trapline serve --check-config` does nothing else. Sizes are \
         numbers with `B`, `KiB`, `MiB` or `GiB`; times are numbers with `ms`, `s`, `m`, `h` or `d`.\n\n\
         This page is made from the settings themselves.\n",
    );
    let command = Cli::command();
    let mut heading = None;
    for arg in command.get_arguments() {
        let Some(variable) = arg.get_env() else { continue };
        let group = arg.get_help_heading().unwrap_or("Addresses");
        if heading != Some(group) {
            heading = Some(group);
            write!(
                page,
                "\n## {group}\n\n| flag | variable | default | what |\n|---|---|---|---|\n"
            )
            .unwrap();
        }
        let defaults: Vec<_> =
            arg.get_default_values().iter().filter_map(|value| value.to_str()).collect();
        let default = if defaults.is_empty() {
            "–".to_owned()
        } else {
            format!("`{}`", defaults.join(" "))
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        writeln!(
            page,
            "| `--{}` | `{}` | {default} | {} |",
            arg.get_long().unwrap(),
            variable.to_str().unwrap(),
            help.replace('|', "\\|"),
        )
        .unwrap();
    }
    page
}
