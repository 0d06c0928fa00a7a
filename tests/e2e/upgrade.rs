//! An installation of an earlier release is served after the upgrade, and so is one that is restored from an
//! archive of that release; nothing of it is lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Duration,
};

use data_encoding::BASE64;
use jiff::Timestamp;
use serde_json::{Value, json};
use trapline_tests::{
    Deployment, Earlier, Hooks, Inbox, Mail, Person, Relay, Relayed, Rest, Smtp, TestClock,
    deliver, eventually, relay_flags, sha256_hex,
};

/// What differs with the machine and the time.
const OTHERS: [&str; 7] =
    ["host", "port", "tlsPort", "lastStatus", "lastError", "lastAttemptAt", "lastDeliveryAt"];

#[tokio::test]
async fn what_earlier_releases_left_is_served() {
    // Installations may have the same receivers.
    let mut receivers = BTreeMap::new();
    for earlier in Earlier::all() {
        let expected = &earlier.expected;
        let hooks: Vec<_> = texts(&expected["hooks"])
            .map(|text| {
                let address: SocketAddr = text.parse().unwrap();
                receivers.entry(address).or_insert_with(|| Hooks::at(address).0).clone()
            })
            .collect();
        let relay = Relay::start();
        let mut flags = vec!["--webhook-allow-cidrs".to_owned(), "127.0.0.0/8".to_owned()];
        flags.extend(relay_flags(relay.address()));
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        hooks.iter().for_each(Hooks::forget);
        let (server, clock) = earlier.start(&flags).await;
        assert_clock(&server.rest(), &clock).await;
        everything_is_there(&server.rest(), expected).await;
        // Whatever waited is due by then, and the disposable inbox is not at its end.
        clock.jump(Duration::from_mins(10));
        what_waited_is_done(&server, expected, &hooks, &relay).await;
        mail_comes(&server, expected, &relay).await;
        clock.jump(Duration::from_hours(2));
        the_disposable_inbox_ends(&server, expected).await;
        an_operator_becomes_the_owner(&server).await;
    }
}

/// Of an installation that knew keys only.
async fn an_operator_becomes_the_owner(server: &Deployment) {
    let (link, rest) = (server.command(&["link"]), server.anonymous());
    let ada = Person::by_link(&rest, &link, Some("ada@example.com"), "correct horse battery").await;
    let me = ada.ask(&rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    assert_eq!(me["team"]["role"], "owner");
    let inboxes = ada.ask(&rest, "GET", "/api/inboxes", Value::Null).await.expect(200).json();
    assert_eq!(inboxes, server.rest().get("/api/inboxes").await.expect(200).json());
}

/// The disposable inbox of an old fixture would be gone by the machine's clock.
async fn assert_clock(rest: &Rest, clock: &TestClock) {
    let record = rest.post("/api/inboxes", json!({ "name": "New" })).await.expect(201).json();
    let made: Timestamp = record["createdAt"].as_str().unwrap().parse().unwrap();
    let distance = made.as_millisecond().abs_diff(clock.millis());
    assert!(
        distance < 600_000,
        "the executable has no test clock: build it with --features test-clock"
    );
}

/// Each answer, message and attachment is as the earlier release had it.
async fn everything_is_there(rest: &Rest, expected: &Value) {
    for (path, before) in expected["answers"].as_object().unwrap() {
        let now = rest.get(path).await.expect(200).json();
        if let Err(difference) = compare(path, before, &now) {
            panic!("{difference}\nbefore: {before}\nnow: {now}");
        }
    }
    for (path, hash) in expected["sha256"].as_object().unwrap() {
        let body = rest.get(path).await.expect(200).body;
        assert_eq!(sha256_hex(&body), *hash, "{path}");
    }
}

/// Whether all that was there is there now. There may be more of it.
fn compare(at: &str, before: &Value, now: &Value) -> Result<(), String> {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let kept = before.iter().filter(|(name, _)| !OTHERS.contains(&name.as_str()));
            for (name, before) in kept {
                let now = now.get(name).unwrap_or(&Value::Null);
                compare(&format!("{at} {name}"), before, now)?;
            }
            Ok(())
        }
        (Value::Array(before), Value::Array(now))
            if before.iter().any(|one| one["id"].is_string()) =>
        {
            for one in before {
                let same = now.iter().find(|other| other["id"] == one["id"]);
                compare(&format!("{at} {}", one["id"]), one, same.unwrap_or(&Value::Null))?;
            }
            Ok(())
        }
        _ if before == now => Ok(()),
        _ => Err(format!("{at}: {before} became {now}")),
    }
}

/// Deliveries, jobs and letters that waited, and the link in a letter that was sent.
async fn what_waited_is_done(
    server: &Deployment,
    expected: &Value,
    hooks: &[Hooks],
    relay: &Relay,
) {
    let rest = server.rest();
    let due: [BTreeSet<_>; 2] =
        ["untold", "told"].map(|name| texts(&expected[name]).map(str::to_owned).collect());
    eventually("a call for each message", async || {
        let missing = hooks.iter().zip(&due).map(|(hooks, due)| hooks.missing(due));
        (missing.sum::<usize>() == 0).then_some(())
    })
    .await;
    let log = expected["waiting"]["path"].as_str().unwrap();
    eventually("deliveries that succeeded", async || {
        let entries = rest.get(log).await.expect(200).json();
        let is_done = |id: &str| {
            let mut entries = entries.as_array().unwrap().iter();
            entries.any(|entry| entry["id"] == id && entry["status"] == "succeeded")
        };
        texts(&expected["waiting"]["deliveries"]).all(is_done).then_some(())
    })
    .await;
    let forwards = &expected["forwards"];
    let late = forwards["waiting"].as_str().unwrap();
    eventually("the letter that waited", async || {
        relay.mails(late).iter().find_map(Relayed::confirmation)
    })
    .await;
    let link = forwards["link"].as_str().unwrap();
    server.anonymous().post(link, Value::Null).await.expect(200);
    let addresses = rest.get("/api/forward-addresses").await.expect(200).json();
    let mut addresses = addresses.as_array().unwrap().iter();
    let asked = addresses.find(|address| address["email"] == forwards["asked"]).unwrap();
    assert!(asked["verifiedAt"].is_string(), "{asked}");
}

/// Each inbox takes mail by its old password, and the first one what is for nobody; rules hold.
async fn mail_comes(server: &Deployment, expected: &Value, relay: &Relay) {
    let rest = server.rest();
    for record in expected["answers"]["/api/inboxes"].as_array().unwrap() {
        let inbox = Inbox::of(record);
        let subject = format!("After the upgrade, to {}", inbox.id);
        let id = deliver(server, &inbox, &Mail::new(&subject, "x")).await;
        let newest = rest.get(&inbox.path("/messages?limit=1")).await.expect(200).json();
        assert_eq!(
            (&newest["messages"][0]["id"], &newest["messages"][0]["subject"]),
            (&id.into(), &subject.into())
        );
    }
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let raw = Mail::new("For nobody", "x").bytes();
    let ids = smtp.transact("app@example.test", &["nobody@elsewhere.example"], &raw).await;
    assert_eq!(rest.message(&ids[0]).await["subject"], "For nobody");
    eventually("a mail that is forwarded", async || {
        let mails = relay.mails("ada@agreed.example");
        mails.iter().find(|mail| mail.text().contains("After the upgrade")).map(drop)
    })
    .await;
}

/// It is gone for clients, and its messages for everybody: the task that removes them was not lost.
async fn the_disposable_inbox_ends(server: &Deployment, expected: &Value) {
    let (rest, passing) = (server.rest(), &expected["passing"]);
    let inbox = Inbox::of(&passing["inbox"]);
    let message = format!("/api/messages/{}/raw", passing["message"].as_str().unwrap());
    for path in [inbox.path(""), message] {
        eventually(&format!("the end of {path}"), async || {
            (rest.get(&path).await.status == 404).then_some(())
        })
        .await;
    }
    let backstage = server.backstage().await;
    eventually("the removal of its messages", async || {
        backstage.docs_of_inbox("message", &inbox.id).await.is_empty().then_some(())
    })
    .await;
    let credentials = format!("\0{}\0{}", inbox.username, inbox.password);
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.ask(&format!("AUTH PLAIN {}", BASE64.encode(credentials.as_bytes())), 535).await;
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap())
}
