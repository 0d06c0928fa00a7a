//! `GET /api/inboxes/:id/messages/wait`

use serde_json::{Value, json};
use trapline_tests::{Answer, Deployment, Inbox, Mail, Rest, Smtp, deliver, guarded, shared};

async fn wait(rest: &Rest, inbox: &Inbox, query: &[(&str, &str)]) -> Answer {
    rest.query(&inbox.path("/messages/wait"), query).await
}

fn subject(answer: Answer) -> String {
    answer.expect(200).json()["message"]["subject"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_message_is_found_whenever_the_wait_begins() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    // Before: parked until it comes, and whole the moment it does.
    let mail = Mail::new("first", "Your code is 482913").html("<p>Your code is <b>482913</b></p>");
    let parked = wait(&rest, &inbox, &[("timeout", "60")]);
    let sent = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        deliver(&server, &inbox, &mail).await
    };
    let (found, id) = tokio::join!(parked, sent);
    let found = found.expect(200).json();
    assert_eq!(found["message"], rest.message(&id).await);
    assert_eq!(found["message"]["codes"], json!(["482913"]));
    // After: at once, and the newest.
    assert_eq!(subject(wait(&rest, &inbox, &[("timeout", "1")]).await), "first");
    deliver(&server, &inbox, &Mail::new("second", "x")).await;
    assert_eq!(subject(wait(&rest, &inbox, &[("timeout", "1")]).await), "second");
}

#[tokio::test]
async fn filters_choose_the_message() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let mut received = Vec::new();
    for (subject, from, to, rcpt, text) in [
        (
            "=?utf-8?Q?Gr=C3=BC=C3=9Fe?=",
            "Shop <shop@one.test>",
            "Ada <ada@x.test>",
            "ada@x.test",
            "hi",
        ),
        ("Your code", "Bank <bank@two.test>", "Bob <bob@x.test>", "hidden@x.test", "Code: 482913"),
        ("Order 2026", "Shop <shop@three.test>", "Cy <cy@x.test>", "cy@x.test", "Total 19.99"),
    ] {
        let raw = Mail::new(subject, text).from(from).to(to).bytes();
        let id = smtp.transact("bounce@x.test", &[rcpt], &raw).await.remove(0);
        received.push(rest.message(&id).await["receivedAt"].as_str().unwrap().to_owned());
    }
    for (query, expected) in [
        (&[("subject", "GRÜSSE")][..], "Grüße"),
        (&[("subject", "code")], "Your code"),
        (&[("from", "SHOP")], "Order 2026"),
        (&[("from", "shop@one")], "Grüße"),
        (&[("to", "Bob")], "Your code"),
        (&[("to", "HIDDEN@")], "Your code"),
        (&[("hasCode", "true")], "Your code"),
        (&[("hasCode", "false")], "Order 2026"),
        (&[("from", "shop"), ("to", "ada")], "Grüße"),
        (&[("since", &received[2])], "Order 2026"),
        (&[("since", &received[0]), ("subject", "grü")], "Grüße"),
    ] {
        let query = [query, &[("timeout", "30")]].concat();
        assert_eq!(subject(wait(&rest, &inbox, &query).await), expected, "{query:?}");
    }
    for query in [
        &[("subject", "code"), ("from", "shop")][..],
        &[("subject", "nothing")],
        &[("to", "dave")],
        &[("since", "2999-01-01T00:00:00Z")],
        &[("hasCode", "true"), ("to", "ada")],
    ] {
        let query = [query, &[("timeout", "1")]].concat();
        wait(&rest, &inbox, &query).await.error(408);
    }
}

#[tokio::test]
async fn a_wait_that_ends_without_a_message_says_what_it_missed() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let to = |name: &str| format!("{name}@x.test");
    let mut ids = Vec::new();
    for n in 0..6 {
        let mail = Mail::new(&format!("Welcome {n}"), "x").to(&to("ada"));
        ids.insert(0, deliver(&server, &inbox, &mail).await);
    }
    // This one fails two filters, so it is no near miss.
    deliver(&server, &inbox, &Mail::new("Other", "x").to(&to("bob"))).await;
    let query = [("to", "ada@x"), ("subject", "Verify"), ("timeout", "1")];
    let answer = wait(&rest, &inbox, &query).await.error(408).json();
    assert_eq!(answer["code"], "wait_timeout");
    let misses = answer["nearMisses"].as_array().unwrap();
    let found: Vec<_> = misses.iter().map(|miss| miss["id"].as_str().unwrap()).collect();
    assert_eq!(found, ids[..5].iter().map(String::as_str).collect::<Vec<_>>());
    for miss in misses {
        assert!(miss["subject"].as_str().unwrap().starts_with("Welcome"), "{miss}");
        assert!(miss["to"].to_string().contains("ada@x.test"), "{miss}");
        assert!(miss["why"].as_str().unwrap().contains("subject"), "{miss}");
    }
    let empty = rest.inbox().await;
    let answer = wait(&rest, &empty, &[("timeout", "1")]).await.error(408).json();
    assert_eq!(answer["nearMisses"], json!([]));
}

#[tokio::test]
async fn a_wait_ends_with_its_inbox() {
    let server = Deployment::with(&["--metrics-token", "metrics"]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let parked = wait(&rest, &inbox, &[("timeout", "120")]);
    let delete = async {
        server.until_parked(1).await;
        rest.delete(&inbox.path("")).await.expect(204);
    };
    let (answer, ()) =
        Box::pin(guarded("the end of the wait", async { tokio::join!(parked, delete) })).await;
    answer.error(404);
}

#[tokio::test]
async fn a_wait_without_a_message_is_an_answer_like_others_where_asked() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let query = [("subject", "code"), ("timeout", "1"), ("onTimeout", "200")];
    let answer = wait(&rest, &inbox, &query).await.expect(200).json();
    assert_eq!(answer, json!({ "message": null, "nearMisses": [] }));
    let id = deliver(&server, &inbox, &Mail::new("no such word", "x")).await;
    let answer = wait(&rest, &inbox, &query).await.expect(200).json();
    assert_eq!((&answer["message"], &answer["nearMisses"][0]["id"]), (&Value::Null, &json!(id)));
}

#[tokio::test]
async fn only_new_mail_wakes_a_wait_that_asks_for_new_mail() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let old = deliver(&server, &inbox, &Mail::new("code old", "x")).await;
    let since = rest.message(&old).await["receivedAt"].as_str().unwrap().to_owned();
    rest.delete(&format!("/api/messages/{old}")).await.expect(204);
    let query = [("since", since.as_str()), ("subject", "code"), ("timeout", "60")];
    let parked = wait(&rest, &inbox, &query);
    let sent = async {
        deliver(&server, &inbox, &Mail::new("noise", "x")).await;
        rest.patch(&inbox.path("/messages"), Value::Null).await.expect(200);
        deliver(&server, &inbox, &Mail::new("code new", "x")).await;
    };
    let (answer, ()) = tokio::join!(parked, sent);
    assert_eq!(subject(answer), "code new");
}
