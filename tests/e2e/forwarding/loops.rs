//! Mail that comes back is not sent round again.

use serde_json::{Value, json};
use trapline_tests::{Mail, Smtp, deliver, eventually, shared};

use super::Team;

/// Somebody else's mail server has aliases that lead back here: each inbox forwards to the other's.
#[tokio::test]
async fn two_inboxes_that_forward_to_each_other_stop() {
    let server = shared();
    let team = Team::on(&server);
    let (to_first, to_second) = ("first@alias.example", "second@alias.example");
    team.agreed(&[to_first, to_second]).await;
    let first = team.inbox(&[to_second], Value::Null).await;
    let second = team.inbox(&[to_first], Value::Null).await;
    let message = deliver(&server, &first, &Mail::new("round", "and round")).await;
    team.when(&message, to_second, "sent").await;
    let mail = team.forwarded(to_second).remove(0);
    // What the alias does.
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let back = smtp.transact(&mail.from, &[&second.address], &mail.bytes).await.remove(0);
    let stopped = team.when(&back, to_first, "failed").await;
    assert_eq!(stopped["error"], "loop", "{stopped}");
    assert!(team.forwarded(to_first).is_empty());
    // Somebody who asks for it by hand makes no loop.
    team.forward(&back, &[to_first]).await;
    team.when(&back, to_first, "sent").await;
}

#[tokio::test]
async fn bounces_and_automatic_replies_stay_here() {
    let server = shared();
    let team = Team::on(&server);
    let email = "ada@replies.example";
    team.agreed(&[email]).await;
    let inbox = team.inbox(&[email], Value::Null).await;
    let reply = Mail::new("away", "x").field("Auto-Submitted: auto-replied").bytes();
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let bounce = smtp.transact("", &[&inbox.address], &reply).await.remove(0);
    let reply = smtp.transact("ada@x.test", &[&inbox.address], &reply).await.remove(0);
    let stopped = team.when(&reply, email, "failed").await;
    assert_eq!(stopped["error"], "automatic_reply", "{stopped}");
    // The mark of what follows shows that the bounce has been looked at.
    let last = deliver(&server, &inbox, &Mail::new("last", "x")).await;
    team.when(&last, email, "sent").await;
    assert_eq!(json!(team.forwards(&bounce).await), json!([]));
    eventually("one mail", async || (team.forwarded(email).len() == 1).then_some(())).await;
}
