//! Accounts: signed up, confirmed, reset and changed, and what many guesses cost.

use std::{net::IpAddr, time::Duration};

use futures_util::future::join_all;
use trapline_app::{
    Error, LinkInput, LinkKind, People, Settings, SignUp, SignedUp, Unauthenticated, Visitor,
};
use trapline_model::Role;

use crate::support::Bench;

const PASSWORD: &str = "correct horse";
const NEW: &str = "another horse";

fn from(address: u32) -> Visitor {
    let address = Some(IpAddr::from(address.to_be_bytes()));
    Visitor { address, ..Visitor::default() }
}

fn wish(email: &str) -> SignUp {
    SignUp { email: email.to_owned(), name: "Ada".to_owned(), password: PASSWORD.to_owned() }
}

async fn signed_up(people: &People, email: &str) -> trapline_app::NewSession {
    match people.sign_up(&wish(email), &from(1)).await.unwrap() {
        SignedUp::Now(session) => session,
        SignedUp::MailSent => panic!("no mail can be sent"),
    }
}

#[tokio::test]
async fn without_mail_an_account_is_there_at_once_with_a_team_of_its_own() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let session = signed_up(people, "ada@example.com").await;
    let me = people.me(&session.signed_in).await.unwrap();
    assert_eq!((me.person.name.as_str(), me.person.verified_at), ("Ada", None));
    let team = me.team.unwrap();
    assert_eq!((team.name.as_str(), team.role), ("Ada's team", Role::Owner));
    assert_ne!(team.id, bench.team);
    let again = people.sign_up(&wish("ADA@example.com"), &from(1)).await;
    assert!(matches!(again, Err(Error::Invalid(_))));
    assert!(!people.reset_password("ada@example.com", &from(1)).await.unwrap());
    let verify = people.verify_address(&session.signed_in).await;
    assert!(matches!(verify, Err(Error::OutboundDisabled)));
}

#[tokio::test]
async fn where_nobody_may_sign_up_nobody_does() {
    let bench = Bench::set(Settings { sign_up: false, ..Settings::default() }).await;
    let people = bench.app.people();
    assert!(!people.options().sign_up);
    let refused = people.sign_up(&wish("ada@example.com"), &from(1)).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))));
}

#[tokio::test]
async fn a_changed_password_ends_the_other_sessions_and_earlier_links() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let session = signed_up(people, "ada@example.com").await;
    let other = people.sign_in("ada@example.com", PASSWORD, &from(2)).await.unwrap();
    let link = people.operators_link(bench.team, Some("ada@example.com")).await.unwrap();
    let token = link.split_once("?token=").unwrap().1;
    assert_eq!(people.link(token, &from(1)).await.unwrap().kind, LinkKind::Password);
    bench.clock.advance(Duration::from_mins(1));
    let who = &session.signed_in;
    for (current, new) in [("wrong horse", NEW), (PASSWORD, "short")] {
        let refused = people.change_password(who, current, new, &from(1)).await;
        assert!(matches!(refused, Err(Error::Invalid(_))));
    }
    let changed = people.change_password(who, PASSWORD, NEW, &from(1)).await.unwrap();
    for token in [&session.token, &other.token] {
        let over = people.authenticate(token, &from(1)).await;
        let wanted = Unauthenticated::SessionOver;
        assert!(matches!(over, Err(Error::Unauthenticated(why)) if why == wanted));
    }
    people.authenticate(&changed.token, &from(1)).await.unwrap();
    let input = LinkInput { password: NEW.to_owned(), ..LinkInput::default() };
    assert!(matches!(people.use_link(token, input, &from(1)).await, Err(Error::NotFound)));
    people.sign_in("ada@example.com", NEW, &from(3)).await.unwrap();
    assert!(people.sign_in("ada@example.com", PASSWORD, &from(3)).await.is_err());
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let first = signed_up(people, "ada@example.com").await;
    let eve = signed_up(people, "eve@example.com").await;
    let mut tokens = vec![first.token.clone()];
    for address in 2..4 {
        bench.clock.advance(Duration::from_secs(1));
        let session = people.sign_in("ada@example.com", PASSWORD, &from(address)).await;
        tokens.push(session.unwrap().token);
    }
    let who = &first.signed_in;
    let listed = people.sessions(who, &first.token).await.unwrap();
    let addresses: Vec<_> = listed.iter().map(|one| one.address.as_deref().unwrap()).collect();
    assert_eq!(addresses, ["0.0.0.3", "0.0.0.2", "0.0.0.1"]);
    assert_eq!(listed.iter().map(|one| one.is_current).collect::<Vec<_>>(), [false, false, true]);
    let refused = people.end_session(&eve.signed_in, &listed[0].id).await;
    assert!(matches!(refused, Err(Error::NotFound)), "another person's");
    people.end_session(who, &listed[0].id).await.unwrap();
    assert!(matches!(people.end_session(who, &listed[0].id).await, Err(Error::NotFound)));
    assert!(people.authenticate(&tokens[2], &from(3)).await.is_err());
    people.authenticate(&tokens[1], &from(2)).await.unwrap();
    people.end_other_sessions(who, &first.token).await.unwrap();
    assert!(people.authenticate(&tokens[1], &from(2)).await.is_err());
    assert_eq!(people.sessions(who, &first.token).await.unwrap().len(), 1);
    people.authenticate(&eve.token, &from(1)).await.unwrap();
}

#[tokio::test]
async fn a_person_of_several_teams_switches_without_signing_in_again() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let session = signed_up(people, "ada@example.com").await;
    let own = session.signed_in.principal().unwrap().team;
    let refused = people.switch_team(&session.signed_in, &session.token, bench.team).await;
    assert!(matches!(refused, Err(Error::NotFound)));
    let token = bench.owners_link.split_once("?token=").unwrap().1;
    let input = LinkInput {
        email: "ada@example.com".to_owned(),
        password: PASSWORD.to_owned(),
        ..LinkInput::default()
    };
    people.use_link(token, input, &from(1)).await.unwrap();
    let who = people.switch_team(&session.signed_in, &session.token, bench.team).await.unwrap();
    assert_eq!(who.principal().unwrap().team, bench.team);
    let other = bench.another_process().await;
    for people in [people, other.people()] {
        assert_eq!(people.authenticate(&session.token, &from(1)).await.unwrap(), who);
    }
    let back = people.switch_team(&who, &session.token, own).await.unwrap();
    assert_eq!(people.authenticate(&session.token, &from(1)).await.unwrap(), back);
}

#[tokio::test]
async fn mails_to_one_person_are_few_and_an_answer_tells_nothing() {
    let bench = Bench::with_relay().await;
    let people = bench.app.people();
    for email in ["ada@example.com", "nobody@example.com"] {
        for _ in 0..3 {
            assert!(people.reset_password(email, &from(1)).await.unwrap());
        }
        let limited = people.reset_password(email, &from(1)).await;
        assert!(matches!(limited, Err(Error::TooMany { .. })), "{email}");
        let tagged = email.replace('@', "+tag@");
        assert!(people.reset_password(&tagged, &from(1)).await.is_err(), "the same mailbox");
    }
    let sent = people.sign_up(&wish("ada@example.com"), &from(2)).await.unwrap();
    assert!(matches!(sent, SignedUp::MailSent));
    let early = people.sign_in("ada@example.com", PASSWORD, &from(3)).await;
    assert!(matches!(early, Err(Error::Unauthenticated(_))), "nobody before the link is used");
}

/// However many guess from however many addresses, a bounded number of hashes is made at a time, the
/// rest are told to come later, and nobody is locked out.
#[tokio::test]
async fn a_flood_of_guesses_costs_a_bounded_number_of_hashes() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    signed_up(people, "ada@example.com").await;
    // From one address, most are refused before a hash is made.
    let mut hashes = 0;
    for number in 0..1_000 {
        let email = format!("p{}@example.com", number % 300);
        match people.sign_in(&email, "guess guess", &from(7)).await {
            Err(Error::Unauthenticated(_)) => hashes += 1,
            Err(Error::TooMany { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(hashes, 20);
    // From many at once, the queue is full before long.
    let guesses = (100..500).map(|number| async move {
        people.sign_in("ada@example.com", "guess guess", &from(number)).await.unwrap_err()
    });
    let answers = join_all(guesses).await;
    let put_off = answers.iter().filter(|error| matches!(error, Error::TooMany { .. })).count();
    let wrong = answers.iter().filter(|error| matches!(error, Error::Unauthenticated(_))).count();
    assert_eq!(put_off + wrong, 400, "{answers:?}");
    // Beside those that wait, the threads take what comes while the rest arrive.
    assert!(wrong < 200, "{wrong}");
    people.sign_in("ada@example.com", PASSWORD, &from(1)).await.unwrap();
}

#[tokio::test]
async fn every_team_of_a_person_has_a_new_name_in_its_log() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let session = signed_up(people, "ada@example.com").await;
    let own = session.signed_in.principal().unwrap();
    let token = bench.owners_link.split_once("?token=").unwrap().1;
    let input = LinkInput {
        email: "ada@example.com".to_owned(),
        password: PASSWORD.to_owned(),
        ..LinkInput::default()
    };
    people.use_link(token, input, &from(1)).await.unwrap();
    people.rename(&session.signed_in, "Ada Lovelace").await.unwrap();
    for by in [&own, &bench.by] {
        let entry = bench.app.audit().latest(by).await.unwrap().remove(0);
        assert_eq!((entry.action.as_str(), entry.actor.name.as_str()), ("member.renamed", "Ada"));
        let who = session.signed_in.person().to_string();
        assert_eq!((entry.target.id, entry.target.name.as_str()), (who, "Ada Lovelace"));
        assert_eq!(entry.address.as_deref(), Some("0.0.0.1"));
    }
    let other = signed_up(people, "eve@example.com").await.signed_in;
    for bad in ["a\nb", &"x".repeat(101)] {
        assert!(matches!(people.rename(&other, bad).await, Err(Error::Invalid(_))), "{bad}");
    }
    let told = bench.app.audit().latest(&other.principal().unwrap()).await.unwrap();
    assert!(told.iter().all(|entry| entry.action != "member.renamed"), "{told:?}");
}
