//! docs/mocks.md tells of the providers what their tables say.

use std::{env, fmt::Write as _, fs, path::Path};

use crate::{ALL, Provider, flow::StepActor};

const BEGIN: &str = "<!-- Written by a test of libs/mocks from the tables: `UPDATE_DOCS=1 cargo test -p trapline-mocks`. -->\n";

#[test]
fn the_page_tells_of_every_provider() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mocks.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, _) = page.split_once(BEGIN).unwrap();
    let mut wanted = format!("{before}{BEGIN}");
    for provider in ALL {
        section(&mut wanted, provider).unwrap();
    }
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "run with UPDATE_DOCS=1");
}

fn section(page: &mut String, provider: &Provider) -> std::fmt::Result {
    let code = |texts: Vec<&str>| format!("`{}`", texts.join("`, `"));
    writeln!(page, "\n## {}\n", provider.name)?;
    writeln!(page, "`provider` is `{}`, its category `{}`.\n", provider.id, category(provider))?;
    let names = provider.credentials.iter().map(|credential| credential.name).collect();
    writeln!(page, "- Credentials: {}.", code(names))?;
    writeln!(
        page,
        "- Kinds of objects: {}.",
        code(provider.kinds.iter().map(|it| it.name).collect())
    )?;
    if !provider.hooks.events.is_empty() {
        writeln!(page, "- Events: {}.", code(provider.hooks.events.to_vec()))?;
    }
    for own in provider.own_settings {
        let (name, default) = (own.name, own.default);
        writeln!(page, "- Setting `{name}` (`{default}`): {}", own.description)?;
    }
    for sdk in provider.sdks {
        writeln!(page, "- Tested with `{}` {} ({}).", sdk.package, sdk.version, sdk.language)?;
    }
    writeln!(page, "\n| operation |\n|---|")?;
    for (method, path) in provider.operations() {
        writeln!(page, "| `{method} {path}` |")?;
    }
    if !provider.declines.is_empty() {
        writeln!(page, "\n| decline | values that bring it about |\n|---|---|")?;
        for decline in provider.declines {
            writeln!(page, "| `{}` | {} |", decline.code, code(decline.triggers.to_vec()))?;
        }
    }
    simulated(page, provider)?;
    for snippet in provider.snippets {
        let language = if snippet.language == "curl" { "sh" } else { snippet.language };
        let language = if language == "node" { "js" } else { language };
        writeln!(page, "\n```{language}\n{}```", snippet.template)?;
    }
    writeln!(page, "\nIn what it differs from the provider:\n")?;
    for divergence in provider.divergences {
        writeln!(page, "- {divergence}")?;
    }
    Ok(())
}

fn category(provider: &Provider) -> String {
    format!("{:?}", provider.category).to_lowercase()
}

/// What a test can move, and what it can let happen.
fn simulated(page: &mut String, provider: &Provider) -> std::fmt::Result {
    let Some(simulation) = crate::providers::simulation(provider) else { return Ok(()) };
    if !simulation.flows.is_empty() {
        writeln!(page, "\n| kind | from | to | by |\n|---|---|---|---|")?;
    }
    for flow in simulation.flows {
        for step in flow.steps {
            let by = match step.by {
                StepActor::Time => "time".to_owned(),
                StepActor::Person(label) => format!("a person: {label}"),
                StepActor::Test => "a test".to_owned(),
            };
            writeln!(page, "| `{}` | `{}` | `{}` | {by} |", flow.kind, step.from, step.to)?;
        }
    }
    if simulation.triggers.is_empty() {
        return Ok(());
    }
    let triggers: Vec<_> = simulation.triggers.iter().map(|trigger| trigger.event).collect();
    writeln!(page, "\nA test triggers: `{}`.", triggers.join("`, `"))
}
