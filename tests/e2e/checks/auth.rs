//! SPF, DKIM and DMARC, by a zone that nobody published.

use std::process::Command;

use serde_json::{Value, json};
use trapline_tests::{Inbox, Mail, Rest, deliver, deliver_bytes, shared};

use crate::tools::{run, source, tool};

/// The example of RFC 8463, appendix A, with its keys.
const SIGNED: &str = include_str!("auth/rfc8463.eml");
const ED25519: &str = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const RSA: &str = "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB";

fn record(name: &str, kind: &str, value: &str) -> Value {
    json!({ "name": name, "type": kind, "value": value })
}

fn zone() -> Value {
    json!({
        "clientIp": "192.0.2.1",
        "helo": "mail.football.example.com",
        "records": [
            record("brisbane._domainkey.football.example.com", "TXT", ED25519),
            record("test._domainkey.football.example.com", "TXT", RSA),
            record("_dmarc.football.example.com", "TXT", "v=DMARC1; p=reject; rua=mailto:a@football.example.com"),
            record("example.com", "TXT", "v=spf1 ip4:192.0.2.1 -all"),
        ]
    })
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

async fn set(rest: &Rest, inbox: &Inbox, zone: Value) {
    rest.send("PUT", &format!("/api/inboxes/{}/dns-zone", inbox.id), zone).await.expect(200);
}

/// The words of a report: SPF, each signature, DMARC.
fn words(report: &Value) -> (&Value, Vec<&Value>, &Value) {
    let dkim = report["dkim"].as_array().unwrap();
    let dkim = dkim.iter().map(|signature| &signature["result"]).collect();
    (&report["spf"]["result"], dkim, &report["dmarc"]["result"])
}

fn codes(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_signed_message_passes_by_the_zone_of_its_inbox() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver_bytes(&server, &inbox, crlf(SIGNED).as_bytes()).await;
    let path = format!("/api/messages/{id}/auth");
    let report = rest.get(&path).await.expect(200).json();
    assert_eq!(report["source"], "none");
    assert_eq!(words(&report), (&Value::Null, vec![&Value::Null; 2], &Value::Null), "{report}");
    assert_eq!(report["dkim"][0]["reason"], "no_dns");
    set(&rest, &inbox, zone()).await;
    let report = rest.get(&path).await.expect(200).json();
    let (_, dkim, dmarc) = words(&report);
    assert_eq!((dkim, dmarc), (vec![&json!("pass"); 2], &json!("pass")), "{report}");
    assert_eq!((&report["source"], &report["dmarc"]["policy"]), (&json!("zone"), &json!("reject")));
    assert_eq!(
        (&report["dkim"][0]["keyBits"], &report["dkim"][1]["keyBits"]),
        (&json!(256), &json!(1024))
    );
    assert_eq!(report["dkim"][1]["aligned"], true);
    assert_eq!(codes(&report), ["dkim_short_key"], "{report}");
    rest.delete(&format!("/api/inboxes/{}/dns-zone", inbox.id)).await.expect(204);
    assert_eq!(rest.get(&path).await.expect(200).json()["source"], "none");
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    rest.get(&path).await.expect(404);
}

#[tokio::test]
async fn one_other_byte_breaks_a_signature() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    set(&rest, &inbox, zone()).await;
    for (from, to, word) in [("hungry", "Hungry", "neutral"), ("dinner", "Dinner", "fail")] {
        let raw = crlf(&SIGNED.replace(from, to));
        let id = deliver_bytes(&server, &inbox, raw.as_bytes()).await;
        let report = rest.get(&format!("/api/messages/{id}/auth")).await.expect(200).json();
        let (_, dkim, dmarc) = words(&report);
        assert_eq!((dkim, dmarc), (vec![&json!(word); 2], &json!("fail")), "{report}");
    }
}

#[tokio::test]
async fn spf_is_about_where_production_sends_from() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "Hello")).await;
    let sender = rest.message(&id).await["envelope"]["from"].as_str().unwrap().to_owned();
    let domain = sender.split_once('@').unwrap().1;
    let path = format!("/api/messages/{id}/auth");
    let spf = |value: &str| json!({ "records": [record(domain, "TXT", value)] });
    for (value, address, result) in [
        ("v=spf1 ip4:192.0.2.0/24 -all", "192.0.2.9", "pass"),
        ("v=spf1 ip4:192.0.2.0/24 -all", "198.51.100.1", "fail"),
        ("v=spf1 ip6:2001:db8::/32 ~all", "198.51.100.1", "softfail"),
        ("v=spf1 ip6:2001:db8::/32 ~all", "2001:db8::1", "pass"),
        ("v=spf1 ?all", "198.51.100.1", "neutral"),
        ("v=spf1 nonsense -all", "198.51.100.1", "permerror"),
        ("other", "198.51.100.1", "none"),
    ] {
        set(&rest, &inbox, spf(value)).await;
        let report = rest.query(&path, &[("clientIp", address)]).await.expect(200).json();
        assert_eq!(
            (&report["spf"]["result"], &report["spf"]["domain"]),
            (&json!(result), &json!(domain)),
            "{value}: {report}"
        );
    }
    let unknown = rest.get(&path).await.expect(200).json();
    assert_eq!(
        (&unknown["spf"]["result"], &unknown["spf"]["reason"]),
        (&Value::Null, &json!("no_client_ip"))
    );
    set(&rest, &inbox, spf("v=spf1 a:1.example a:2.example a:3.example +all")).await;
    let report = rest.query(&path, &[("clientIp", "192.0.2.1")]).await.expect(200).json();
    let found = codes(&report);
    assert!(found.contains(&"spf_all") && found.contains(&"spf_void_lookups"), "{report}");
    let refused = rest.query(&path, &[("clientIp", "here")]).await.expect(400).json();
    assert_eq!(refused["issues"][0]["code"], "bad_address");
}

#[tokio::test]
async fn what_no_dns_would_take_is_refused() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let path = format!("/api/inboxes/{}/dns-zone", inbox.id);
    let bad = json!({ "records": [record("a.example", "A", "nowhere"), record("a b", "TXT", "")] });
    let refused = rest.send("PUT", &path, bad).await;
    assert_eq!(refused.issues(), ["records[0].value", "records[1].name"]);
    assert_eq!(rest.get(&path).await.expect(200).json()["records"], json!([]));
    server.reader().send("PUT", &path, zone()).await.expect(403);
    rest.delete(&format!("/api/inboxes/{}", inbox.id)).await.expect(204);
    rest.get(&path).await.expect(404);
}

/// Mail that another implementation signs, by a key made for it.
#[tokio::test]
async fn a_foreign_signer_is_understood() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/python/sign.py");
    for mode in ["2048 relaxed/relaxed", "4096 simple/simple", "2048 relaxed/simple length"] {
        let raw = crlf(
            "From: Ada <ada@example.com>\nTo: bob@example.com\nSubject: Signed\n\
            Date: Mon, 02 Mar 2026 09:00:00 +0000\n\nHello\n",
        );
        let mut python = Command::new(tool("python/bin/python"));
        let out = python.arg(script).args(mode.split(' ')).arg(&raw).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let signed: Value = serde_json::from_slice(&out.stdout).unwrap();
        let key = signed["key"].as_str().unwrap();
        let dmarc = record("_dmarc.example.com", "TXT", "v=DMARC1; p=none");
        set(
            &rest,
            &inbox,
            json!({ "records": [record("s1._domainkey.example.com", "TXT", key), dmarc] }),
        )
        .await;
        let message = signed["message"].as_str().unwrap();
        for (message, result) in
            [(message.to_owned(), "pass"), (message.replace("Hello", "Hallo"), "neutral")]
        {
            let id = deliver_bytes(&server, &inbox, message.as_bytes()).await;
            let report = rest.get(&format!("/api/messages/{id}/auth")).await.expect(200).json();
            assert_eq!(report["dkim"][0]["result"], result, "{mode}: {report}");
            assert_eq!(
                codes(&report).contains(&"dkim_length"),
                mode.ends_with("length"),
                "{report}"
            );
            assert!(codes(&report).contains(&"dmarc_none"), "{report}");
        }
    }
}

/// Of the mails by which verdicts on signatures are held, those who signed them say today what is stored of them.
#[tokio::test]
async fn dkimpy_and_mailauth_say_what_is_stored() {
    let mut python = tokio::process::Command::new(tool("python/bin/python"));
    python.arg(source("dkim/make.py")).arg("--check").env("DKIM_TOOLS", tool("dkim"));
    assert_eq!(run(python).await, "all verdicts are as they were\n");
}
