//! Addresses, and their owners' consent.

use std::time::Duration;

use trapline_app::{AddedAddress, Error, NewInbox};
use trapline_model::{Forwarding, Principal};

use super::token_of;
use crate::support::Bench;

fn issue(error: &Error) -> (&str, &str) {
    let Error::Invalid(issues) = error else { panic!("{error:?}") };
    (&issues[0].path, issues[0].code)
}

#[tokio::test]
async fn an_owner_agrees_once() {
    let bench = Bench::with_relay().await;
    let token = bench.asked("Ada@Example.com").await;
    let asked = bench.app.forwarding().confirmation(&token).await.unwrap();
    assert_eq!(asked.email, "Ada@example.com");
    // To look changes nothing.
    let addresses = bench.app.forwarding().addresses(&bench.by).await.unwrap();
    assert_eq!((addresses.len(), addresses[0].verified_at), (1, None));
    bench.app.forwarding().confirm(&token, None).await.unwrap();
    let addresses = bench.app.forwarding().addresses(&bench.by).await.unwrap();
    assert_eq!(addresses[0].verified_at, Some(bench.clock.now()));
    for wrong in [token.as_str(), "", "x", &"x".repeat(43)] {
        let (shown, done) = (
            bench.app.forwarding().confirmation(wrong).await,
            bench.app.forwarding().confirm(wrong, None).await,
        );
        assert!(matches!(shown, Err(Error::NotFound)), "{wrong}: {shown:?}");
        assert!(matches!(done, Err(Error::NotFound)), "{wrong}: {done:?}");
    }
}

#[tokio::test]
async fn a_link_works_for_seven_days() {
    for (days, works) in [(6, true), (7, false)] {
        let bench = Bench::with_relay().await;
        let token = bench.asked("ada@example.com").await;
        bench.clock.advance(Duration::from_hours(24 * days) + Duration::from_secs(1));
        assert_eq!(bench.app.forwarding().confirm(&token, None).await.is_ok(), works, "{days}");
    }
}

#[tokio::test]
async fn a_link_ends_with_its_address() {
    let bench = Bench::with_relay().await;
    let token = bench.asked("ada@example.com").await;
    let address = bench.app.forwarding().addresses(&bench.by).await.unwrap().remove(0);
    bench.app.forwarding().delete_address(&bench.by, address.id).await.unwrap();
    assert!(bench.app.forwarding().confirm(&token, None).await.is_err());
    bench.clock.advance(Duration::from_mins(1));
    let again = bench.asked("ada@example.com").await;
    assert!(bench.app.forwarding().confirm(&token, None).await.is_err());
    bench.app.forwarding().confirm(&again, None).await.unwrap();
}

#[tokio::test]
async fn links_are_sent_again_within_bounds() {
    let bench = Bench::with_relay().await;
    let first = bench.asked("ada@example.com").await;
    let add = || bench.app.forwarding().add_address(&bench.by, "ADA@example.com");
    let early = add().await;
    assert!(matches!(early, Err(Error::TooMany { .. })), "{early:?}");
    let mut last = first.clone();
    for _ in 0..4 {
        bench.clock.advance(Duration::from_mins(1));
        assert!(matches!(add().await.unwrap(), AddedAddress::Known(_)));
        last = token_of(&bench.send_due(Ok(())).await[0]);
    }
    assert_ne!(first, last);
    bench.clock.advance(Duration::from_mins(1));
    assert!(matches!(add().await, Err(Error::TooMany { .. })), "five a day");
    assert_eq!(bench.app.forwarding().addresses(&bench.by).await.unwrap().len(), 1);
    bench.app.forwarding().confirm(&last, None).await.unwrap();
    // Whoever agreed is asked no more, by any link.
    assert!(bench.app.forwarding().confirm(&first, None).await.is_err());
    assert!(
        matches!(add().await.unwrap(), AddedAddress::Known(known) if known.verified_at.is_some())
    );
    assert!(bench.send_due(Ok(())).await.is_empty());
}

/// Who adds and deletes the same person's address under one tag after another.
#[tokio::test]
async fn nobody_gets_many_links_under_different_tags() {
    let bench = Bench::with_relay().await;
    let mut mails = 0;
    for number in 0..40 {
        let email = format!("vic.tim+{number}@Example.com");
        match bench.app.forwarding().add_address(&bench.by, &email).await {
            Ok(AddedAddress::New(address)) => {
                bench.app.forwarding().delete_address(&bench.by, address.id).await.unwrap();
            }
            Err(Error::TooMany { .. }) => {}
            other => panic!("{other:?}"),
        }
        mails += bench.send_due(Ok(())).await.len();
    }
    assert!(mails <= 5, "{mails}");
    // Others are not in the way of it.
    bench.asked("ada@example.com").await;
}

#[tokio::test]
async fn a_team_cannot_have_strangers_written_to_without_end() {
    let bench = Bench::with_relay().await;
    let mut mails = 0;
    for number in 0..40 {
        let email = format!("stranger{number}@example.com");
        if let Ok(AddedAddress::New(address)) =
            bench.app.forwarding().add_address(&bench.by, &email).await
        {
            bench.app.forwarding().delete_address(&bench.by, address.id).await.unwrap();
        }
        mails += bench.send_due(Ok(())).await.len();
    }
    assert!(mails <= 30, "{mails}");
}

#[tokio::test]
async fn few_addresses_may_wait() {
    let bench = Bench::with_relay().await;
    for number in 0..20 {
        let email = format!("ada{number}@example.com");
        bench.app.forwarding().add_address(&bench.by, &email).await.unwrap();
    }
    let add = || bench.app.forwarding().add_address(&bench.by, "one-more@example.com");
    assert_eq!(issue(&add().await.unwrap_err()), ("", "too_many"));
    let mails = bench.send_due(Ok(())).await;
    assert_eq!(mails.len(), 20);
    bench.app.forwarding().confirm(&token_of(&mails[0]), None).await.unwrap();
    add().await.unwrap();
}

#[tokio::test]
async fn our_own_addresses_and_nonsense_are_refused() {
    let bench = Bench::with_relay().await;
    let cases = [
        ("x@trapline.test", "own_address"),
        ("x@TRAPLINE.test", "own_address"),
        ("x@a.trapline.test", "own_address"),
        ("nobody", "invalid_address"),
        ("a@b.example\r\nBcc: c@d.example", "invalid_address"),
    ];
    for (email, code) in cases {
        let error = bench.app.forwarding().add_address(&bench.by, email).await.unwrap_err();
        assert_eq!(issue(&error), ("email", code), "{email}");
    }
    bench.app.forwarding().add_address(&bench.by, "x@nottrapline.test").await.unwrap();
}

#[tokio::test]
async fn only_confirmed_addresses_of_the_team_are_forwarded_to() {
    let bench = Bench::with_relay().await;
    let inbox = bench.inbox(10, None).await;
    bench.agreed("ada@example.com").await;
    bench.asked("bob@example.com").await;
    let set = async |by: &Principal, inbox, to: &[&str], enabled| {
        let to = to.iter().map(|to| (*to).to_owned()).collect();
        bench.app.forwarding().set_rule(by, inbox, Forwarding { enabled, to, matching: None }).await
    };
    let error = set(&bench.by, inbox.id, &["ada@example.com", "bob@example.com"], true).await;
    assert_eq!(issue(&error.unwrap_err()), ("to[1]", "not_verified"));
    let error = set(&bench.by, inbox.id, &[], true).await;
    assert_eq!(issue(&error.unwrap_err()), ("to", "required"));
    let twice = set(&bench.by, inbox.id, &["ADA@example.com", "ada@example.com"], true).await;
    assert_eq!(twice.unwrap().to, ["ada@example.com"]);
    // Another team's consent is its own.
    let other = Principal::system(bench.app.access().create_team("Other").await.unwrap());
    let theirs = bench.app.inboxes().create(&other, NewInbox::named("theirs")).await.unwrap();
    let error = set(&other, theirs.id, &["ada@example.com"], true).await;
    assert_eq!(issue(&error.unwrap_err()), ("to[0]", "not_verified"));
    let foreign = set(&other, inbox.id, &[], false).await;
    assert!(matches!(foreign, Err(Error::NotFound)), "{foreign:?}");
    let message = bench.deliver(&inbox, "hello").await;
    let to = ["ada@example.com".to_owned()];
    let foreign = bench.app.forwarding().forward(&other, message, &to).await;
    assert!(matches!(foreign, Err(Error::NotFound)), "{foreign:?}");
    let ids: Vec<_> = bench.app.forwarding().addresses(&bench.by).await.unwrap();
    let foreign = bench.app.forwarding().delete_address(&other, ids[0].id).await;
    assert!(matches!(foreign, Err(Error::NotFound)), "{foreign:?}");
}

#[tokio::test]
async fn an_address_that_goes_leaves_every_inbox() {
    let bench = Bench::with_relay().await;
    let (one, two) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    bench.agreed("ada@example.com").await;
    bench.agreed("bob@example.com").await;
    bench.rule(&one, &["ada@example.com", "bob@example.com"], None).await;
    bench.rule(&two, &["ada@example.com"], None).await;
    bench.deliver(&two, "before").await;
    bench.arrive().await;
    let addresses = bench.app.forwarding().addresses(&bench.by).await.unwrap();
    let ada = addresses.iter().find(|address| address.email == "ada@example.com").unwrap();
    bench.app.forwarding().delete_address(&bench.by, ada.id).await.unwrap();
    let left = bench.app.forwarding().rule(&bench.by, one.id).await.unwrap();
    assert_eq!((left.enabled, left.to), (true, vec!["bob@example.com".to_owned()]));
    let left = bench.app.forwarding().rule(&bench.by, two.id).await.unwrap();
    assert_eq!((left.enabled, left.to.len()), (false, 0));
    // What was on its way is not sent either.
    assert!(bench.forward_due(|_| Ok(())).await.is_empty());
}
