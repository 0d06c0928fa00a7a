//! What operators take from the repository: alert rules, their pages, and dashboards. Prometheus itself
//! reads a real process, and evaluates every expression.

use std::{
    collections::BTreeSet,
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
};
use trapline_tests::{Deployment, Mail, deliver, eventually};

use crate::tools;

const TOKEN: &str = "a-token-for-prometheus";
/// Whatever a client sends, no label has other names, and none of these has values of clients.
const LABELS: [&str; 18] = [
    "backend",
    "code",
    "commit",
    "component",
    "kind",
    "lacking",
    "lane",
    "le",
    "limit",
    "method",
    "operation",
    "outcome",
    "quantile",
    "queue",
    "route",
    "shard",
    "status",
    "version",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The name and the expression of each alert.
fn alerts() -> Vec<(String, String)> {
    let rules = text("helm/trapline/files/rules.yaml");
    let mut found = Vec::new();
    for rule in rules.split("- alert: ").skip(1) {
        let mut lines = rule.lines();
        let name = lines.next().unwrap().to_owned();
        let expression = lines.next().unwrap().trim().strip_prefix("expr: '").unwrap();
        let expression = expression.strip_suffix('\'').unwrap().replace("\'\'", "'");
        found.push((name, expression));
    }
    found
}

/// The title and an expression of each panel, for every job.
fn panels() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in fs::read_dir(root().join("helm/trapline/files/dashboards")).unwrap() {
        let dashboard = fs::read_to_string(file.unwrap().path()).unwrap();
        let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
        for panel in dashboard["panels"].as_array().unwrap() {
            let title = panel["title"].as_str().unwrap();
            let unit = panel["fieldConfig"]["defaults"]["unit"].as_str();
            assert!(unit.is_some_and(|unit| !unit.is_empty()), "{title} has no unit");
            assert!(panel["description"].as_str().is_some_and(|text| text.len() > 10), "{title}");
            for target in panel["targets"].as_array().unwrap() {
                let expression = target["expr"].as_str().unwrap().replace("$job", "trapline.*");
                found.push((title.to_owned(), expression));
            }
        }
    }
    found
}

/// The page and the text of each query of the runbooks.
fn queries() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, _) in alerts() {
        let page = text(&format!("docs/operate/runbooks/{name}.md"));
        for block in page.split("```promql\n").skip(1) {
            let query = block.split("\n```").next().unwrap();
            found.push((name.clone(), query.to_owned()));
        }
    }
    found
}

/// The metrics that an expression names, without the endings that histograms add.
fn metrics_of(expression: &str) -> BTreeSet<String> {
    let words = expression.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let names = words.filter(|word| word.starts_with("trapline_") || word.starts_with("process_"));
    let base = |name: &str| {
        let ends = ["_bucket", "_count", "_sum"];
        let end = ends.iter().find_map(|end| name.strip_suffix(end));
        end.unwrap_or(name).to_owned()
    };
    names.map(base).collect()
}

#[test]
fn alerts_pages_dashboards_and_metrics_hold_together() {
    let list = text("docs/alerts.md");
    let known = text("docs/metrics.md");
    let mut pages = BTreeSet::new();
    for (name, expression) in alerts() {
        assert!(list.contains(&format!("| [{name}](operate/runbooks/{name}.md) |")), "{name}");
        let rules = text("helm/trapline/files/rules.yaml");
        assert!(rules.contains(&format!("runbook_url: docs/operate/runbooks/{name}.md")), "{name}");
        let page = text(&format!("docs/operate/runbooks/{name}.md"));
        assert!(page.starts_with(&format!("# {name}\n")), "{name}");
        assert!(page.contains(&format!("```promql\n{expression}\n```")), "{name}: the expression");
        let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let wanted = ["What users notice", "Queries", "Causes", "Mending", "What not to do"];
        assert_eq!(headings, wanted, "{name}");
        assert!(page.matches("```promql").count() >= 4, "{name}: three queries");
        assert_eq!(
            text("tests/operate/rules.tests.yaml").matches(&format!("'{name}: ")).count(),
            2
        );
        pages.insert(format!("{name}.md"));
        named_in(&known, &name, &metrics_of(&page));
    }
    let found = fs::read_dir(root().join("docs/operate/runbooks")).unwrap();
    let found: BTreeSet<_> =
        found.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(found, pages);
    for (title, expression) in panels() {
        named_in(&known, &title, &metrics_of(&expression));
    }
}

fn named_in(known: &str, place: &str, names: &BTreeSet<String>) {
    for name in names {
        assert!(known.contains(&format!("| `{name}` |")), "{place}: there is no {name}");
    }
}

#[tokio::test]
async fn each_alert_fires_and_is_silent_just_below() {
    for arguments in [
        ["check", "rules", "helm/trapline/files/rules.yaml"],
        ["test", "rules", "tests/operate/rules.tests.yaml"],
    ] {
        let mut promtool = Command::new("promtool");
        promtool.args(arguments).current_dir(root());
        tools::run(promtool).await;
    }
}

/// A Prometheus that scrapes one process each second.
struct Prometheus {
    url: String,
    _process: Child,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    fn of(server: &Deployment) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let target = server.probes()[0].replace("http://", "");
        let rules = root().join("helm/trapline/files/rules.yaml");
        let config = format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n\
             rule_files: ['{}']\n\
             scrape_configs:\n  - job_name: trapline\n    metrics_path: /api/metrics\n    \
             authorization: {{ credentials: '{TOKEN}' }}\n    \
             static_configs: [{{ targets: ['{target}'] }}]\n",
            rules.display()
        );
        let file = folder.path().join("prometheus.yml");
        fs::write(&file, config).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={free}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path().join("log")).unwrap())
            .kill_on_drop(true)
            .spawn()
            .expect("run tests/setup.sh first");
        Self { url: format!("http://{free}"), _process: process, _folder: folder }
    }

    /// What it answers, once it does.
    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> Option<Value> {
        let request = reqwest::Client::new().get(format!("{}{path}", self.url)).query(query);
        let text = request.send().await.ok()?.text().await.ok()?;
        serde_json::from_str(&text).ok()
    }

    /// How many series an expression has.
    async fn series(&self, expression: &str) -> Option<usize> {
        let answer = self.ask("/api/v1/query", &[("query", expression)]).await?;
        assert_eq!(answer["status"], "success", "{expression}: {answer}");
        Some(answer["data"]["result"].as_array().unwrap().len())
    }
}

#[tokio::test]
async fn prometheus_reads_a_real_process_and_evaluates_every_expression() {
    let (server, clock) = Deployment::with_clock(&["--metrics-token", TOKEN]);
    let inbox = server.rest().inbox().await;
    deliver(&server, &inbox, &Mail::new("s", "t")).await;
    let prometheus = Prometheus::of(&server);
    // Probes are taken once a minute.
    clock.jump(Duration::from_mins(1));
    for (title, expression) in panels() {
        eventually(&format!("{title}: {expression}"), async || {
            prometheus.series(&expression).await.filter(|series| *series > 0)
        })
        .await;
    }
    for (name, expression) in alerts() {
        let series = eventually(&name, async || prometheus.series(&expression).await).await;
        // Another test may fill the disk that all share.
        assert!(series == 0 || name == "TraplineDiskFull", "{name} is true of a fresh process");
    }
    for (page, query) in queries() {
        let series = eventually(&page, async || prometheus.series(&query).await).await;
        println!("{page}: {series} series of {query}");
    }
    let wanted = alerts().len();
    eventually("an evaluation of all rules", async || {
        let answer = prometheus.ask("/api/v1/rules", &[]).await?;
        let rules = answer["data"]["groups"][0]["rules"].as_array()?;
        rules.iter().all(|rule| rule["health"] == "ok").then_some(())?;
        (rules.len() == wanted).then_some(())
    })
    .await;
    let metrics = server.client(TOKEN).get("/api/metrics").await.expect(200);
    check_metrics(metrics.text()).await;
}

/// Names, units and help as Prometheus asks for, and labels of a bounded number.
async fn check_metrics(exposed: &str) {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut promtool = promtool.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = promtool.stdin.take().unwrap();
    stdin.write_all(exposed.as_bytes()).await.unwrap();
    drop(stdin);
    let output = promtool.wait_with_output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.trim().is_empty(), "{told}");
    let known = text("docs/metrics.md");
    for line in exposed.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, rest) = line.split_once(['{', ' ']).unwrap();
        named_in(&known, "the output", &metrics_of(name));
        let labels = rest.split_once('}').map_or("", |(labels, _)| labels);
        for label in labels.split("\",").filter(|label| !label.is_empty()) {
            let label = label.split('=').next().unwrap();
            assert!(LABELS.contains(&label), "{line}");
        }
    }
}
