//! Lists, pages and search.

use serde_json::json;
use trapline_tests::{Inbox, Mail, Rest, Smtp, shared};

async fn found(rest: &Rest, inbox: &Inbox, query: &[(&str, &str)]) -> Vec<String> {
    let answer = rest.query(&inbox.path("/messages"), query).await.expect(200).json();
    let subject = |message: &serde_json::Value| message["subject"].as_str().unwrap().to_owned();
    let messages: Vec<_> = answer["messages"].as_array().unwrap().iter().map(subject).collect();
    assert_eq!(answer["total"], messages.len(), "all of them fit one page");
    messages
}

#[tokio::test]
async fn pages_are_newest_first_and_never_overlap() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    for n in 0..55 {
        let raw = Mail::new(&format!("{n}"), "x").bytes();
        smtp.transact("a@example.test", &["b@example.test"], &raw).await;
    }
    let path = inbox.path("/messages");
    let page = async |query: &str| rest.get(&format!("{path}{query}")).await;
    let first = rest.get(&path).await.expect(200).json();
    assert_eq!(
        (&first["total"], &first["page"], &first["limit"]),
        (&55.into(), &1.into(), &50.into())
    );
    assert_eq!(first["messages"].as_array().unwrap().len(), 50);
    let mut subjects = Vec::new();
    let mut times = Vec::new();
    for number in 1..=4 {
        let answer = page(&format!("?limit=20&page={number}")).await.expect(200).json();
        assert_eq!((&answer["total"], &answer["page"]), (&55.into(), &number.into()));
        for message in answer["messages"].as_array().unwrap() {
            subjects.push(message["subject"].as_str().unwrap().to_owned());
            times.push(message["receivedAt"].as_str().unwrap().to_owned());
        }
    }
    let expected: Vec<_> = (0..55).rev().map(|n| n.to_string()).collect();
    assert_eq!(subjects, expected);
    assert!(times.is_sorted_by(|newer, older| newer >= older), "{times:?}");
    for query in
        ["?page=0", "?page=-1", "?page=x", "?limit=0", "?limit=201", "?limit=", "?unread=x"]
    {
        let answer = page(query).await.error(400);
        let name = query.trim_start_matches('?').split('=').next().unwrap();
        assert_eq!(answer.issues(), [name], "{query}");
    }
    let beyond = page("?limit=200&page=2").await.expect(200).json();
    assert_eq!((&beyond["total"], &beyond["messages"]), (&55.into(), &json!([])));
}

#[tokio::test]
async fn search_compares_decoded_folded_text() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let mails = [
        ("=?utf-8?Q?Stra=C3=9Fe_in_K=C3=B6ln?=", "Ada <ada@example.test>", "bcc-one@example.test"),
        (
            "=?utf-8?B?0JfQsNC60LDQtw==?=",
            "=?utf-8?Q?J=C3=B8ran?= <j@example.test>",
            "two@example.test",
        ),
        ("Say \"hello\\world\" 100%", "Bob <bob@example.test>", "three@example.test"),
    ];
    for (subject, to, recipient) in mails {
        let raw = Mail::new(subject, "body only: needle").to(to).from("Shop <shop@example.test>");
        smtp.transact("bounce@example.test", &[recipient], &raw.bytes()).await;
    }
    let (street, order, hello) = ("Straße in Köln", "Заказ", "Say \"hello\\world\" 100%");
    for (q, expected) in [
        ("straße", vec![street]),
        ("STRASSE", vec![street]),
        ("KÖLN", vec![street]),
        ("ЗАКАЗ", vec![order]),
        ("JØRAN", vec![order]),
        ("Ada@Example", vec![street]),
        ("bcc-one@", vec![street]),
        ("shop", vec![hello, order, street]),
        ("bounce@", vec![hello, order, street]),
        ("\"hello\\world\" 100%", vec![hello]),
        ("100_", vec![]),
        ("needle", vec![]),
        ("nothing like it", vec![]),
    ] {
        assert_eq!(found(&rest, &inbox, &[("q", q)]).await, expected, "{q}");
    }
    let page = [("q", "shop"), ("limit", "1"), ("page", "2")];
    let page = rest.query(&inbox.path("/messages"), &page).await.expect(200).json();
    assert_eq!((&page["total"], page["messages"][0]["subject"].as_str()), (&3.into(), Some(order)));
}

#[tokio::test]
async fn a_list_is_narrowed_as_a_wait_is() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let csv = "Content-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\n1,2";
    let mails = [
        ("=?utf-8?Q?Stra=C3=9Fe?=", "Ada <ada@example.test>", "hidden@example.test", false),
        ("Invoice ada", "bob@example.test", "bob@example.test", true),
        ("Verify", "ada@example.test", "ada@example.test", true),
    ];
    let mut times = Vec::new();
    for (subject, to, recipient, has_attachment) in mails {
        let mail = Mail::new(subject, "text").to(to).from("Shop <shop@example.test>");
        let mail = if has_attachment { mail.multipart("mixed", &["\ntext", csv]) } else { mail };
        let id = smtp.transact("bounce@example.test", &[recipient], &mail.bytes()).await.remove(0);
        times.push(rest.message(&id).await["receivedAt"].as_str().unwrap().to_owned());
    }
    let (street, invoice, verify) = ("Straße", "Invoice ada", "Verify");
    let all = vec![verify, invoice, street];
    for (query, expected) in [
        (&[("to", "ADA@")][..], vec![verify, street]),
        (&[("to", "hidden@")], vec![street]),
        (&[("from", "SHOP")], all.clone()),
        (&[("from", "bounce@")], all.clone()),
        (&[("from", "ada")], vec![]),
        (&[("subject", "STRASSE")], vec![street]),
        (&[("subject", "ada")], vec![invoice]),
        (&[("q", "ada")], all.clone()),
        (&[("q", "ada"), ("to", "bob")], vec![invoice]),
        (&[("since", &times[0])], all.clone()),
        (&[("since", &times[2]), ("subject", "Verify")], vec![verify]),
        (&[("since", "2999-01-01T00:00:00Z")], vec![]),
        (&[("until", &times[2])], all.clone()),
        (&[("until", "2001-01-01T00:00:00Z")], vec![]),
        (&[("since", "2999-01-01T00:00:00Z"), ("until", "2001-01-01T00:00:00Z")], vec![]),
        (&[("hasAttachment", "true")], vec![verify, invoice]),
        (&[("hasAttachment", "false")], all.clone()),
        (&[("hasAttachment", "1"), ("to", "ada"), ("from", "shop"), ("unread", "1")], vec![verify]),
        (&[("subject", "ve\0rify")], vec![]),
    ] {
        assert_eq!(found(&rest, &inbox, query).await, expected, "{query:?}");
        let of_wait = |(name, _): &&(&str, &str)| ["to", "from", "subject", "since"].contains(name);
        let filters: Vec<_> = query.iter().filter(of_wait).copied().collect();
        if filters.len() == query.len() {
            let query = [&filters[..], &[("timeout", "1"), ("onTimeout", "200")]].concat();
            let waited = rest.query(&inbox.path("/messages/wait"), &query).await.expect(200).json();
            assert_eq!(
                waited["message"]["subject"].as_str(),
                expected.first().copied(),
                "{query:?}"
            );
        }
    }
    let long = "x".repeat(201);
    for (name, value) in [
        ("to", ""),
        ("from", &long),
        ("subject", &long),
        ("since", "yesterday"),
        ("until", "2026-01-31T09:30:00+02:00x"),
        ("until", ""),
        ("hasAttachment", "maybe"),
        ("hasCode", "true"),
    ] {
        let refused = rest.query(&inbox.path("/messages"), &[(name, value)]).await.error(400);
        assert_eq!(refused.issues(), [name], "{name}={value}");
    }
}

#[tokio::test]
async fn a_list_shows_summaries() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let text = format!("  Hello\n\n{}", "long text ".repeat(40));
    let raw = Mail::new("Summary", "").multipart(
        "mixed",
        &[
            &format!("Content-Type: text/plain\n\n{text}"),
            "Content-Type: text/csv; name=a.csv\nContent-Disposition: attachment\n\n1,2",
        ],
    );
    let id = trapline_tests::deliver(&server, &inbox, &raw).await;
    let list = rest.get(&inbox.path("/messages")).await.expect(200).json();
    let mut summary = list["messages"][0].clone();
    let snippet = summary["snippet"].as_str().unwrap().to_owned();
    assert!(snippet.starts_with("Hello long text"), "{snippet}");
    assert!(snippet.chars().count() <= 140, "{snippet}");
    assert_eq!(summary["attachmentCount"], 1);
    // Otherwise the same as the whole message.
    let mut message = rest.message(&id).await;
    let more = ["html", "text", "headers", "attachments", "alternatives", "links", "codes"];
    for part in more.into_iter().chain(["messageId"]) {
        assert!(message.as_object_mut().unwrap().remove(part).is_some(), "{part}");
    }
    for part in ["snippet", "attachmentCount"] {
        summary.as_object_mut().unwrap().remove(part);
    }
    assert_eq!(summary, message);
}
