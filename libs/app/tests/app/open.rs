//! A server at which nobody signs in.

use std::time::Duration;

use trapline_app::{Error, Settings, SignUp, SignedUp, Visitor};
use trapline_model::Role;
use trapline_store::{Op, When, records::FirstOwner};

use crate::support::Bench;

fn open() -> Settings {
    Settings { sign_in: false, ..Settings::default() }
}

#[tokio::test]
async fn whoever_asks_is_the_owner_of_the_first_team() {
    let bench = Bench::set(open()).await;
    let people = bench.app.people();
    let who = people.anyone(&Visitor::default()).await.unwrap();
    let me = people.me(&who).await.unwrap();
    assert_eq!(me.person.email, "owner@trapline.test");
    assert_eq!(me.team.map(|team| (team.id, team.role)), Some((bench.team, Role::Owner)));
    assert_eq!(people.anyone(&Visitor::default()).await.unwrap(), who);
    let options = people.options();
    assert!(!options.sign_in && !options.password && !options.sso);
}

#[tokio::test]
async fn where_people_sign_in_nobody_else_comes_in() {
    let bench = Bench::new().await;
    let refused = bench.app.people().anyone(&Visitor::default()).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
}

/// The process may have ended when the person was made, and when the team was claimed.
#[tokio::test]
async fn a_takeover_that_was_cut_short_is_finished() {
    let bench = Bench::set(open()).await;
    let people = bench.app.people();
    let wish = SignUp {
        email: "owner@trapline.test".to_owned(),
        name: String::new(),
        password: "correct horse battery".to_owned(),
    };
    let SignedUp::Now(session) = people.sign_up(&wish, &Visitor::default()).await.unwrap() else {
        panic!("no mail can be sent");
    };
    let owner = session.signed_in.person();
    let claimed_at = bench.clock.now();
    let claim = FirstOwner { person: owner, claimed_at };
    bench.ports.store.write(vec![Op::put(&claim, None, When::Absent).unwrap()]).await.unwrap();
    assert_eq!(people.anyone(&Visitor::default()).await.unwrap().person(), owner);
    // Somebody else who is about to join is waited for.
    let other = Bench::set(open()).await;
    let claim = FirstOwner { person: owner, claimed_at: other.clock.now() };
    other.ports.store.write(vec![Op::put(&claim, None, When::Absent).unwrap()]).await.unwrap();
    let people = other.app.people();
    assert!(people.anyone(&Visitor::default()).await.is_err());
    other.clock.advance(Duration::from_mins(1));
    people.anyone(&Visitor::default()).await.unwrap();
}
