//! spamd and rspamd themselves: what their own clients say of a mail, and what is said of them while they are away.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::process::Command;
use trapline_tests::{Backing, Deployment, Mail, Rest, deliver, deliver_bytes, eventually};

use crate::tools::run;

/// Only these engines.
const SERVICES: &[&str] =
    &["--cassandra", "0", "--nats", "0", "--redis", "0", "--s3", "0", "--spam-engines"];
/// The mail that each engine takes for spam (<https://spamassassin.apache.org/gtube/>).
const GTUBE: &str = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X";
const HTML: &str = "From: \"Cheap!!!\" <app@example.test>\r\nSubject: FREE offer, act NOW\r\n\
    MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n\
    <html><body bgcolor=\"#ffffff\"><font color=\"#ffffff\">hidden</font>\
    <a href=\"http://192.0.2.1/\">CLICK HERE</a><img src=\"http://192.0.2.1/a.png\"></body></html>\r\n";

/// Points and description by name.
type Rules = BTreeMap<String, (f64, String)>;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn rules_of(report: &Value) -> Rules {
    let rules = report["rules"].as_array().unwrap().iter().map(|rule| {
        let text = |name: &str| rule[name].as_str().unwrap();
        (text("name").to_owned(), (rule["score"].as_f64().unwrap(), words(text("description"))))
    });
    rules.collect()
}

/// The table that `spamc -R` prints below a line of dashes.
fn printed(text: &str) -> Rules {
    let mut rows: Vec<(f64, String, String)> = Vec::new();
    let table = text.lines().skip_while(|line| !line.starts_with("----")).skip(1);
    for line in table.take_while(|line| !line.trim().is_empty()) {
        if let (true, Some((_, _, description))) = (line.starts_with("     "), rows.last_mut()) {
            *description = format!("{description} {line}");
            continue;
        }
        let (score, rest) = line.trim().split_once(' ').unwrap();
        let (name, description) = rest.trim().split_once(' ').unwrap();
        rows.push((score.parse().unwrap(), name.to_owned(), description.to_owned()));
    }
    rows.into_iter().map(|(score, name, text)| (name, (score, words(&text)))).collect()
}

/// What the engine's own client says: the score, the threshold, and the rules.
async fn said_by_client(engine: &str, address: &str, file: &str, rcpt: &str) -> (f64, f64, Rules) {
    let (ip, port) = address.split_once("://").unwrap().1.split_once(':').unwrap();
    if engine == "spamd" {
        let mut spamc = Command::new("sh");
        spamc.args(["-c", r#"exec spamc -R -d "$0" -p "$1" <"$2""#, ip, port, file]);
        let text = run(spamc).await;
        let (score, threshold) = text.lines().next().unwrap().split_once('/').unwrap();
        return (score.parse().unwrap(), threshold.parse().unwrap(), printed(&text));
    }
    let mut rspamc = Command::new("rspamc");
    let host = format!("{ip}:{port}");
    let envelope = ["-F", "app@example.test", "-r", rcpt];
    rspamc.args(["--json", "-h", &host]).args(envelope).args(["symbols", file]);
    let text = run(rspamc).await;
    let scan: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let symbols = scan["symbols"].as_object().unwrap().iter().map(|(name, symbol)| {
        let description = words(symbol["description"].as_str().unwrap_or_default());
        (name.clone(), (symbol["score"].as_f64().unwrap(), description))
    });
    let points = |name: &str| scan[name].as_f64().unwrap();
    (points("score"), points("required_score"), symbols.collect())
}

async fn judged(rest: &Rest, id: &str, engine: &str) -> Value {
    rest.get(&format!("/api/messages/{id}/spam?engine={engine}")).await.expect(200).json()
}

#[tokio::test]
async fn reports_are_what_the_engines_own_clients_say() {
    let backing = Backing::start(SERVICES);
    let engines = backing.setting("TRAPLINE_SPAM_ENGINE").to_owned();
    let server = Deployment::with(&["--spam-engine", &engines]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let ids = [
        deliver(&server, &inbox, &Mail::new("Hello", "A mail like many")).await,
        deliver(&server, &inbox, &Mail::new("Test", GTUBE)).await,
        deliver_bytes(&server, &inbox, HTML.as_bytes()).await,
    ];
    for (at, id) in ids.iter().enumerate() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), rest.raw(id).await).unwrap();
        for address in engines.split(',') {
            let engine = address.split(':').next().unwrap();
            let report = judged(&rest, id, engine).await;
            let path = file.path().to_str().unwrap();
            let (score, threshold, rules) =
                said_by_client(engine, address, path, "ada@example.test").await;
            assert_eq!(rules_of(&report), rules, "{engine}, mail {at}");
            let told = (report["score"].as_f64().unwrap(), report["threshold"].as_f64().unwrap());
            assert_eq!(told, (score, threshold), "{engine}, mail {at}");
            if let Some(is_spam) = [Some(false), Some(true), None][at] {
                assert_eq!(report["isSpam"], is_spam, "{engine}, mail {at}: {report}");
            }
        }
    }
}

#[tokio::test]
async fn an_engine_that_is_killed_or_silent_is_told_and_found_again() {
    let mut backing = Backing::start(SERVICES);
    let engines = backing.setting("TRAPLINE_SPAM_ENGINE");
    let engines: Vec<_> = engines.split(',').map(|engine| format!("{engine}?timeout=2")).collect();
    let server = Deployment::with(&["--spam-engine", &engines.join(",")]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    for engine in ["spamd", "rspamd"] {
        for (fault, end, reason) in [("kill", "start", "unreachable"), ("stop", "cont", "timeout")]
        {
            // What was judged a moment ago is known for a minute.
            let id = deliver(&server, &inbox, &Mail::new("Hello", "A mail like many")).await;
            backing.order(&format!("{fault} {engine}"));
            let path = format!("/api/messages/{id}/spam?engine={engine}");
            let body = rest.get(&path).await.expect(503).json();
            assert_eq!(body["reason"], reason, "{engine} after {fault}: {body}");
            let other = judged(&rest, &id, "builtin").await;
            assert_eq!(other["engine"], json!("builtin"), "{engine} after {fault}");
            backing.order(&format!("{end} {engine}"));
            eventually("the engine", async || (rest.get(&path).await.status == 200).then_some(()))
                .await;
        }
    }
}
