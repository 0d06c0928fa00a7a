//! The 42 MIME cases and their variations, through the real SMTP port and the REST API.

use std::{fs, path::PathBuf};

use data_encoding::BASE64;
use serde_json::Value;
use trapline_tests::{Inbox, Rest, Smtp, dot_stuff, sha256_hex, shared};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "mime-cases"].iter().collect()
}

/// Line ends are compared as LF, and those at the end are ignored.
fn normal(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim_end_matches('\n').to_owned()
}

/// `*` alone accepts anything, a leading `*` means "contains the rest", a trailing one "starts with".
fn fits(pattern: &str, text: &str) -> bool {
    let text = normal(text);
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(""), _) => true,
        (Some(rest), _) => text.contains(&normal(rest)),
        (None, Some(start)) => text.starts_with(&normal(start)),
        (None, None) => text == normal(pattern),
    }
}

/// What of the message is not as the case says.
fn differences(case: &Value, message: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: &str, expected: &Value, found: &Value| {
        let holds = match (expected.as_str(), found.as_str()) {
            (Some("*"), _) => true,
            (Some(pattern), Some(text)) => fits(pattern, text),
            (None, None) => expected == found,
            _ => false,
        };
        if !holds {
            wrong.push(format!("{what}: {found} is not {expected}"));
        }
    };
    check("subject", &case["subject"], &message["subject"]);
    check("text", &case["text"], &message["text"]);
    check("html", &case["html"], &message["html"]);
    if let Some(from) = case.get("frm") {
        check("from", from, &message["from"]["address"]);
    }
    let none = Value::Array(Vec::new());
    for (field, listed) in [("att", "attachments"), ("alt", "alternatives")] {
        let expected = case.get(field).unwrap_or(&none).as_array().unwrap();
        let found = message[listed].as_array().unwrap();
        check(&format!("number of {listed}"), &expected.len().into(), &found.len().into());
        for (expected, found) in expected.iter().zip(found) {
            check("file name", &expected[0], &found["filename"]);
            let prefix = format!("{}*", expected[1].as_str().unwrap().trim_end_matches('*'));
            check("sha256", &prefix.into(), &found["sha256"]);
        }
    }
    wrong
}

/// What of the downloads is not as the record says.
async fn wrong_downloads(rest: &Rest, message: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let lists = ["attachments", "alternatives"].map(|list| message[list].as_array().unwrap());
    for part in lists.into_iter().flatten() {
        let (id, part_id) = (message["id"].as_str().unwrap(), part["id"].as_str().unwrap());
        let answer = rest.get(&format!("/api/messages/{id}/attachments/{part_id}")).await;
        let sum = sha256_hex(&answer.body);
        if answer.status != 200 || part["sha256"] != sum || part["size"] != answer.body.len() {
            wrong.push(format!("{part} was downloaded as {sum} ({})", answer.status));
        }
    }
    wrong
}

/// Sends a message and answers with its id.
async fn send(raw: &[u8], smtp: &mut Smtp) -> Result<String, String> {
    smtp.begin("app@example.test", &["ada@example.test"]).await;
    let wire = dot_stuff(raw);
    smtp.write(&wire).await;
    let reply = smtp.reply().await;
    let mut ids = reply.ids().into_iter();
    ids.next().ok_or_else(|| format!("the reply to DATA is {reply}"))
}

async fn run(case: &Value, smtp: &mut Smtp, rest: &Rest) -> Vec<String> {
    let name = format!("{}.eml", case["id"].as_str().unwrap());
    let raw = fs::read(folder().join(name)).unwrap();
    let id = match send(&raw, smtp).await {
        Ok(id) => id,
        Err(wrong) => return vec![wrong],
    };
    let mut wrong = Vec::new();
    // Without a line end before the final dot there is no end, so that one belongs to the mail.
    let sent = if raw.ends_with(b"\r\n") { raw } else { [&raw[..], b"\r\n"].concat() };
    if rest.raw(&id).await != sent {
        wrong.push("the raw message is not what was sent".to_owned());
    }
    let message = rest.message(&id).await;
    wrong.extend(differences(case, &message));
    wrong.extend(wrong_downloads(rest, &message).await);
    wrong
}

async fn all(cases: &[Value], inbox: &Inbox, rest: &Rest, mut smtp: Smtp) -> String {
    smtp.login(&inbox.username, &inbox.password).await;
    let mut report = Vec::new();
    for case in cases {
        let wrong = run(case, &mut smtp, rest).await;
        report.extend(wrong.iter().map(|wrong| format!("{}: {wrong}\n", case["id"])));
    }
    report.concat()
}

#[tokio::test]
async fn every_case_is_read_as_a_person_would() {
    let cases = fs::read(folder().join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&cases).unwrap();
    assert_eq!(cases.len(), 42);
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let smtp = Smtp::hello(server.smtp()[0]).await;
    let report = all(&cases, &inbox, &rest, smtp).await;
    assert!(report.is_empty(), "\n{report}");
    assert_eq!(rest.subjects(&inbox).await.0, 42);
}

#[tokio::test]
async fn every_variation_is_read_as_its_rule_says() {
    let cases = fs::read(folder().join("variations.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&cases).unwrap();
    assert!(cases.len() >= 200);
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let mut report = String::new();
    for case in &cases {
        let raw = BASE64.decode(case["raw"].as_str().unwrap().as_bytes()).unwrap();
        let wrong = match send(&raw, &mut smtp).await {
            Ok(id) => differences(case, &rest.message(&id).await),
            Err(wrong) => vec![wrong],
        };
        report.extend(wrong.iter().map(|wrong| format!("{}: {wrong}\n", case["id"])));
    }
    assert!(report.is_empty(), "\n{report}");
}
