//! The inbox that catches mail to unknown addresses.

use std::sync::Arc;

use trapline_app::{App, InboxChange, LoginRefused};
use trapline_model::InboxId;

use crate::support::{Bench, inboxes_of};

async fn caught(app: &Arc<App>) -> InboxId {
    app.receive().route("nobody@example.test").await.unwrap().unwrap().inbox()
}

async fn name(bench: &Bench, inbox: InboxId) -> String {
    bench.app.inboxes().get(&bench.by, inbox).await.unwrap().name
}

#[tokio::test]
async fn it_is_made_again_when_it_was_deleted() {
    let bench = Bench::new().await;
    let first = caught(&bench.app).await;
    bench.app.inboxes().delete(&bench.by, first).await.unwrap();
    let second = caught(&bench.app).await;
    assert_ne!(first, second);
    assert_eq!(name(&bench, second).await, "Default");
    assert_eq!(caught(&bench.app).await, second);
    assert_eq!(caught(&bench.another_process().await).await, second, "written down");
}

#[tokio::test]
async fn a_start_makes_it_again() {
    let bench = Bench::new().await;
    let first = caught(&bench.app).await;
    bench.app.inboxes().delete(&bench.by, first).await.unwrap();
    let start = bench.another_process().await.installation().start(None).await.unwrap();
    let second = start.inbox.unwrap();
    assert_eq!((second.name.as_str(), second.id), ("Default", caught(&bench.app).await));
}

#[tokio::test]
async fn many_mails_at_once_make_one() {
    let bench = Bench::new().await;
    let first = caught(&bench.app).await;
    bench.app.inboxes().delete(&bench.by, first).await.unwrap();
    let processes = [bench.another_process().await, bench.another_process().await];
    let mut mails = tokio::task::JoinSet::new();
    for number in 0..20 {
        let app = Arc::clone(&processes[number % 2]);
        mails.spawn(async move { caught(&app).await });
    }
    let inboxes = mails.join_all().await;
    assert!(inboxes.iter().all(|inbox| *inbox == inboxes[0]), "{inboxes:?}");
    assert_eq!(inboxes_of(&bench.app, &bench.by).await.len(), 1);
}

#[tokio::test]
async fn it_has_the_name_that_is_set() {
    let bench = Bench::new().await;
    let ours = bench.inbox(10, None).await;
    let named = |name: &str| {
        let name = name.to_owned();
        bench.process_with(move |settings| settings.catch_all_inbox = name)
    };
    let found = named("bench").await;
    assert_eq!(caught(&found).await, ours.id, "one that is there");
    let change = InboxChange { name: Some("renamed".to_owned()), ..InboxChange::default() };
    bench.app.inboxes().update(&bench.by, ours.id, change).await.unwrap();
    assert_eq!(caught(&named("bench").await).await, ours.id, "renaming it changes nothing");
    let made = caught(&named("CI").await).await;
    assert_eq!(name(&bench, made).await, "CI");
}

#[tokio::test]
async fn nothing_is_made_where_nothing_is_caught() {
    let bench = Bench::new().await;
    let first = caught(&bench.app).await;
    bench.app.inboxes().delete(&bench.by, first).await.unwrap();
    let quiet = bench.process_with(|settings| settings.catch_all = false).await;
    assert!(quiet.installation().start(None).await.unwrap().inbox.is_none());
    let outcome = quiet.receive().route("nobody@example.test").await.unwrap();
    assert_eq!(outcome.unwrap_err(), LoginRefused::Unknown);
}

#[tokio::test]
async fn an_inbox_is_signed_in_to_by_its_name_or_address() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    for username in [&inbox.smtp.username, &inbox.address, &inbox.address.to_uppercase()] {
        let login = bench.app.access().login(username, &inbox.smtp.password).await.unwrap();
        assert_eq!(login.unwrap().inbox(), inbox.id, "{username}");
    }
    let elsewhere = format!("{}@example.test", inbox.smtp.username);
    let login = bench.app.access().login(&elsewhere, &inbox.smtp.password).await.unwrap();
    assert_eq!(login.unwrap_err(), LoginRefused::Unknown);
}

#[tokio::test]
async fn a_password_stands_until_it_is_replaced() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let login = bench.app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
    let mailbox = login.unwrap();
    let change = InboxChange { max_messages: Some(20), ..InboxChange::default() };
    bench.app.inboxes().update(&bench.by, inbox.id, change).await.unwrap();
    assert!(bench.app.access().is_password_current(&mailbox).await.unwrap());
    bench.app.inboxes().rotate_password(&bench.by, inbox.id).await.unwrap();
    assert!(!bench.app.access().is_password_current(&mailbox).await.unwrap());
}
