#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::Path, sync::Mutex};

use metrics::{
    Counter, Histogram, Key, KeyName, Metadata, Recorder, SharedString, with_local_recorder,
};

use super::*;

/// What was said of a metric.
struct Described {
    kind: &'static str,
    unit: Option<Unit>,
    help: String,
}

/// Takes note of descriptions.
#[derive(Default)]
struct Notes(Mutex<BTreeMap<String, Described>>);

impl Notes {
    fn add(&self, kind: &'static str, key: &KeyName, unit: Option<Unit>, help: &SharedString) {
        let described = Described { kind, unit, help: help.to_string() };
        let old = self.0.lock().unwrap().insert(key.as_str().to_owned(), described);
        assert!(old.is_none(), "{} is described twice", key.as_str());
    }
}

impl Recorder for Notes {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, help: SharedString) {
        self.add("counter", &key, unit, &help);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, help: SharedString) {
        self.add("gauge", &key, unit, &help);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, help: SharedString) {
        self.add("histogram", &key, unit, &help);
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn described() -> BTreeMap<String, Described> {
    let notes = Notes::default();
    with_local_recorder(&notes, describe);
    notes.0.into_inner().unwrap()
}

/// <https://prometheus.io/docs/practices/naming>
#[test]
fn names_say_what_is_counted_in_which_unit() {
    for (name, Described { kind, unit, help }) in described() {
        let is_common = name.starts_with("process_");
        assert!(is_common || name.starts_with("trapline_"), "{name}");
        assert!(name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_'), "{name}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
        let base = name.trim_end_matches("_total");
        assert_eq!(base.ends_with("_seconds"), unit == Some(Unit::Seconds), "{name}");
        assert_eq!(base.ends_with("_bytes"), unit == Some(Unit::Bytes), "{name}");
        assert!(help.ends_with('.') && help.len() > 15 && !help.contains('|'), "{name}: {help}");
    }
}

#[test]
fn every_metric_is_described() {
    let described = described();
    let sources = [
        include_str!("../metrics.rs"),
        include_str!("calls.rs"),
        include_str!("checks.rs"),
        include_str!("idp.rs"),
        include_str!("process.rs"),
    ];
    let named = sources.into_iter().flat_map(|source| source.split('"'));
    for name in named.filter(|text| text.starts_with("trapline_")) {
        assert!(described.contains_key(name), "{name}");
    }
}

/// `UPDATE_DOCS=1 cargo test -p trapline-app` writes the page.
#[test]
fn the_page_of_metrics_is_what_the_code_says() {
    const MARKS: [&str; 2] = ["<!-- The metrics. -->\n", "<!-- The end of the metrics. -->"];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let mut table = String::from("| metric | kind | unit | what it says |\n|---|---|---|---|\n");
    for (name, Described { kind, unit, help }) in described() {
        let unit = unit.map_or("–", |unit| unit.as_str());
        writeln!(table, "| `{name}` | {kind} | {unit} | {help} |").unwrap();
    }
    let wanted = format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, wanted).unwrap();
    } else {
        assert!(page == wanted, "run UPDATE_DOCS=1 cargo test -p trapline-app");
    }
}
