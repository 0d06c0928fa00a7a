//! A thousand waits in parallel, begun before, during and after delivery: none may be missed, and
//! none may get another's message.

use std::sync::Arc;

use futures_util::future::join_all;
use trapline_tests::{Deployment, Inbox, Mail, Rest, Smtp};

const WAITS: usize = 1_000;
/// Half of the waits share one inbox, the others are spread over these.
const SEPARATE: usize = 50;
const SENDERS: usize = 8;

/// One wait and the message that it's for.
#[derive(Debug, Clone)]
struct Case {
    token: String,
    inbox: Inbox,
}

fn cases(shared: &Inbox, separate: &[Inbox]) -> Vec<Case> {
    let case = |n: usize| {
        let inbox = if n.is_multiple_of(2) { shared } else { &separate[n / 2 % SEPARATE] };
        Case { token: format!("token-{n:04}"), inbox: inbox.clone() }
    };
    (0..WAITS).map(case).collect()
}

/// Sends each its message, from several connections at once.
async fn send(server: Arc<Deployment>, cases: &[Case]) {
    let share = |sender: usize| {
        let mine: Vec<_> = cases.iter().skip(sender).step_by(SENDERS).cloned().collect();
        let address = server.smtp()[0];
        async move {
            let mut smtp = Smtp::hello(address).await;
            for Case { token, inbox } in mine {
                let raw = Mail::new(&format!("for {token}"), &token).bytes();
                let ids = smtp.transact("a@x.test", &[&inbox.address], &raw).await;
                assert_eq!(ids.len(), 1);
            }
        }
    };
    join_all((0..SENDERS).map(share)).await;
}

/// Waits for its message, and tells what is wrong with the answer.
async fn wait(rest: Rest, case: Case) -> Option<String> {
    let path = case.inbox.path(&format!("/messages/wait?timeout=120&subject={}", case.token));
    let answer = rest.get(&path).await;
    let right = answer.status == 200 && {
        let message = &answer.json()["message"];
        message["subject"] == format!("for {}", case.token)
            && message["text"].as_str().is_some_and(|text| text.trim_end() == case.token)
            && message["inboxId"] == case.inbox.id
    };
    (!right).then(|| format!("{}: {answer}", case.token))
}

#[tokio::test]
async fn no_wait_is_missed_and_none_is_wrong() {
    let server = Arc::new(Deployment::with(&["--metrics-token", "metrics"]));
    let rest = server.rest();
    let shared = rest.inbox().await;
    let mut separate = Vec::new();
    for _ in 0..SEPARATE {
        separate.push(rest.inbox().await);
    }
    let (mut before, mut during, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for (n, case) in cases(&shared, &separate).into_iter().enumerate() {
        [&mut before, &mut during, &mut after][n % 3].push(case);
    }
    let start = |cases: &[Case]| -> Vec<_> {
        cases.iter().map(|case| tokio::spawn(wait(rest.clone(), case.clone()))).collect()
    };
    send(server.clone(), &after).await;
    let mut waits = start(&before);
    server.until_parked(before.len()).await;
    let sent = [before.clone(), during.clone()].concat();
    let sending = {
        let server = server.clone();
        tokio::spawn(async move { send(server, &sent).await })
    };
    waits.extend(start(&during));
    waits.extend(start(&after));
    sending.await.unwrap();
    let wrong: Vec<_> = join_all(waits).await.into_iter().filter_map(Result::unwrap).collect();
    assert!(wrong.is_empty(), "{} of {WAITS}:\n{}", wrong.len(), wrong.join("\n"));
    server.until_parked(0).await;
}
