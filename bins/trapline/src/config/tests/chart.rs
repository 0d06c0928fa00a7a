//! What the Helm chart knows of settings: `files/settings.json`, by which it finds variables and the
//! commands that take them, and the names and forms in `values.schema.json`.
//! `UPDATE_DOCS=1 cargo test -p trapline` writes both.

use std::{env, fs, path::Path};

use clap::{Arg, CommandFactory};
use serde_json::{Value, json};

use super::{Cli, page::all_settings};

/// Listeners, folders and files that the chart gives itself, and what it takes from the Secret beside
/// the secrets.
const OF_THE_CHART: [&str; 10] = [
    "data",
    "http",
    "https",
    "relay-username",
    "smtp",
    "smtp-proxy-from",
    "smtp-proxy-protocol",
    "smtps",
    "tls-cert",
    "tls-key",
];
/// What the schema's last definition begins with. All before it is written by hand.
const DEFINITION: &str = "\n    \"settings\": {";

#[test]
fn the_chart_knows_every_setting() {
    let command = Cli::command();
    let mut settings = all_settings(&command);
    settings.sort_by_key(|(arg, _)| arg.get_long());
    let known: Vec<_> = settings.iter().map(|(arg, of)| known(arg, of)).collect();
    check("files/settings.json", |_| format!("{{\n{}\n}}\n", known.join(",\n")));
    let forms: Vec<_> = settings
        .iter()
        .map(|(arg, _)| *arg)
        .filter(|arg| {
            !arg.is_hide_env_values_set() && !OF_THE_CHART.contains(&arg.get_long().unwrap())
        })
        .map(|arg| format!("        \"{}\": {}", arg.get_long().unwrap(), form(arg)))
        .collect();
    check("values.schema.json", |schema| {
        let by_hand = &schema[..schema.rfind(DEFINITION).unwrap()];
        format!(
            "{by_hand}{DEFINITION}\n      \"type\": \"object\",\n      \
             \"additionalProperties\": false,\n      \"properties\": {{\n{}\n      }}\n    }}\n  }}\n}}\n",
            forms.join(",\n")
        )
    });
}

/// Compares a file of the chart with what it should be, or writes that.
fn check(file: &str, wanted: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../helm/trapline").join(file);
    let found = fs::read_to_string(&path).unwrap_or_default();
    let wanted = wanted(&found);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    } else {
        assert!(found == wanted, "{file}: run UPDATE_DOCS=1 cargo test -p trapline");
    }
}

fn known(arg: &Arg, of: &[&str]) -> String {
    let variable = arg.get_env().unwrap().to_str().unwrap();
    format!("  \"{}\": {}", arg.get_long().unwrap(), json!({ "of": of, "variable": variable }))
}

/// What values the schema lets through; the process checks them whole.
fn form(arg: &Arg) -> Value {
    let what = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let pattern =
        |pattern: &str| json!({ "description": what, "pattern": pattern, "type": "string" });
    match arg.get_value_names().unwrap()[0].as_str() {
        "N" | "PERCENT" => json!({ "description": what, "minimum": 0, "type": "integer" }),
        "PORT" => json!({ "description": what, "maximum": 65535, "minimum": 1, "type": "integer" }),
        "BOOL" => json!({ "description": what, "type": "boolean" }),
        "SIZE" => pattern("^[0-9]+(B|KiB|MiB|GiB)?$"),
        "TIME" => pattern("^[0-9]+(ms|s|m|h|d)$"),
        _ => pattern("^.+$"),
    }
}
