//! A team's first steps: noted once, by what really happened.

use std::time::Duration;

use trapline_app::{Filter, NewInbox, NewKey, Waited};
use trapline_model::{Access, Principal};
use trapline_store::{Op, When, records::FirstStep};

use crate::support::Bench;

async fn done(bench: &Bench, by: &Principal) -> Vec<String> {
    let found = bench.app.first_steps().of(by).await.unwrap();
    let done: Vec<_> = found.steps.into_iter().filter(|step| step.done).collect();
    assert_eq!((found.completed, found.total), (done.len(), 6));
    done.into_iter().map(|step| step.id).collect()
}

#[tokio::test]
async fn steps_are_done_once_they_happened_and_stay_so() {
    let bench = Bench::new().await;
    let by = Principal::system(bench.app.access().create_team("New").await.unwrap());
    assert_eq!(done(&bench, &by).await, Vec::<String>::new());
    let inbox = bench.app.inboxes().create(&by, NewInbox::named("One")).await.unwrap();
    assert_eq!(done(&bench, &by).await, ["inbox"]);
    bench.deliver(&inbox, "first").await;
    while !done(&bench, &by).await.contains(&"message".to_owned()) {
        tokio::task::yield_now().await;
    }
    let filter = Filter::default();
    let wait = bench.app.live().wait(&by, inbox.id, &filter, Duration::from_secs(9));
    assert!(matches!(wait.await.unwrap(), Waited::Found(_)));
    let access = Access::Read;
    let new = NewKey { name: "CI".to_owned(), access, expires_at: None, value: None };
    bench.app.access().create_key(&by, new).await.unwrap();
    bench.app.inboxes().delete(&by, inbox.id).await.unwrap();
    assert_eq!(done(&bench, &by).await, ["inbox", "message", "key", "wait"]);
    // The first start made an inbox and a key for the first team, and nothing arrived.
    assert_eq!(done(&bench, &bench.by).await, ["inbox", "key"]);
}

#[tokio::test]
async fn what_an_earlier_release_did_not_note_is_found() {
    let bench = Bench::new().await;
    for step in ["inbox", "key"] {
        let key = FirstStep::row(bench.team, step);
        bench.ports.store.write(vec![Op::Delete { key, when: When::Always }]).await.unwrap();
    }
    assert_eq!(done(&bench, &bench.by).await, ["inbox", "key"]);
}
