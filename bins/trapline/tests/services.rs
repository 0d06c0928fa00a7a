//! The only arrows that there may be between the services of `libs/app`: each uses those before it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use sources::rust_files;

/// A service may use the services before it, and the parts that all share.
const SERVICES: [&str; 17] = [
    "access",
    "inboxes",
    "messages",
    "checks",
    "usage",
    "receive",
    "live",
    "mail",
    "people",
    "teams",
    "sso",
    "webhooks",
    "mocks",
    "forwarding",
    "idps",
    "maintenance",
    "status",
];
/// Make the services and hand them out, or stand above all of them: no service uses these.
const TOP: [&str; 5] = ["lib", "app", "arrivals", "installation", "upgrade"];

#[test]
fn no_arrow_between_services_runs_back() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../libs/app/src");
    let reexports = reexports(&fs::read_to_string(source.join("lib.rs")).unwrap());
    let mut wrong = BTreeSet::new();
    let mut known = BTreeSet::new();
    // Tests may do what they like.
    for file in rust_files(&source).iter().filter(|file| !file.ends_with("tests.rs")) {
        let module = module_of(file.strip_prefix(&source).unwrap());
        known.insert(module.clone());
        let text = fs::read_to_string(file).unwrap();
        for used in names_used(&text) {
            let used = reexports.get(&used).unwrap_or(&used);
            if !may_use(&module, used) {
                wrong.insert(format!("{} uses {used}", file.display()));
            }
        }
    }
    assert!(SERVICES.iter().chain(&TOP).all(|name| known.contains(*name)), "{known:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a module may use another one.
fn may_use(module: &str, used: &str) -> bool {
    let place = |name| SERVICES.iter().position(|service| *service == name);
    if TOP.contains(&module) || module == used {
        return true;
    }
    match (place(module), place(used)) {
        _ if TOP.contains(&used) => false,
        (Some(module), Some(used)) => used < module,
        (None, Some(_)) => false,
        (_, None) => true,
    }
}

/// What the crate's root gives another name to, and the module that it is of.
fn reexports(root: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in root.split(';').filter_map(|part| part.split("pub use ").nth(1)) {
        let Some((module, names)) = line.split_once("::") else { continue };
        for name in names.trim_matches(['{', '}']).split(',').map(str::trim) {
            found.insert(name.trim_matches(['{', '}']).to_owned(), module.to_owned());
        }
    }
    found
}

/// The first names of all paths that begin with `crate::`, alone or in braces.
fn names_used(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => found.extend(firsts_of(group)),
            None => found.extend(first_name(rest)),
        }
    }
    found
}

/// The first name of each path of a group, up to the brace that closes it.
fn firsts_of(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut item) = (0_u32, Vec::new(), String::new());
    for letter in group.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.extend(first_name(&std::mem::take(&mut item))),
            _ => {}
        }
        if depth == 0 && letter != ',' {
            item.push(letter);
        }
    }
    names.extend(first_name(&item));
    names
}

fn first_name(path: &str) -> Option<String> {
    let path = path.trim_start();
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    (end > 0).then(|| path[..end].to_owned())
}

fn module_of(file: &Path) -> String {
    let first = file.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn arrows_are_seen_however_they_are_written() {
    let text = "use crate::{Error, inboxes::{Inboxes, rows::life}, live::feed};\n\
                fn a() { crate::webhooks::b() } // crate::forwarding\n";
    let names: Vec<_> = names_used(text).into_iter().collect();
    assert_eq!(names, ["Error", "inboxes", "live", "webhooks"]);
    let root = "mod live;\n\npub use live::{Feed, FeedEvent};\npub use app::App;\n";
    let found = reexports(root);
    assert_eq!((found["Feed"].as_str(), found["App"].as_str()), ("live", "app"));
    for (module, used, may) in [
        ("receive", "messages", true),
        ("messages", "receive", false),
        ("messages", "jobs", true),
        ("jobs", "messages", false),
        ("jobs", "app", false),
        ("app", "maintenance", true),
        ("forwarding", "webhooks", true),
        ("webhooks", "upgrade", false),
    ] {
        assert_eq!(may_use(module, used), may, "{module} uses {used}");
    }
}
