//! People: the first owner, sign-in and its limits, sessions and links.

use std::{net::IpAddr, time::Duration};

use trapline_app::{App, Error, LinkInput, LinkKind, NewSession, SignUp, Unauthenticated, Visitor};
use trapline_model::{PersonId, Role};
use trapline_store::{
    Op, When, load,
    records::{FirstOwner, Membership, PersonByEmail, Session, SessionOfPerson},
};

use crate::support::Bench;

const PASSWORD: &str = "correct horse";
const DAY: Duration = Duration::from_hours(24);

fn from(address: u8) -> Visitor {
    let address = Some(IpAddr::from([192, 0, 2, address]));
    Visitor { address, user_agent: "Test".to_owned(), person: None }
}

fn input(email: &str) -> LinkInput {
    LinkInput { email: email.to_owned(), name: String::new(), password: PASSWORD.to_owned() }
}

fn token_of(link: &str) -> &str {
    link.split_once("?token=").unwrap().1
}

fn is_over<T>(outcome: &trapline_app::Result<T>) -> bool {
    matches!(outcome, Err(Error::Unauthenticated(Unauthenticated::SessionOver)))
}

/// Uses a link of an operator.
async fn by_link(app: &App, email: Option<&str>) -> trapline_app::Result<NewSession> {
    let team = app.access().first_team().await?.unwrap();
    let link = app.people().operators_link(team, email).await?;
    app.people().use_link(token_of(&link), input("ada@example.com"), &from(1)).await
}

/// An installation whose owner is Ada.
async fn owned() -> (Bench, NewSession) {
    let bench = Bench::new().await;
    let (people, token) = (bench.app.people(), token_of(&bench.owners_link));
    let asked = people.link(token, &from(1)).await.unwrap();
    assert_eq!((asked.email, asked.kind), (None, LinkKind::FirstOwner));
    let session = people.use_link(token, input("Ada@Example.com"), &from(1)).await.unwrap();
    (bench, session)
}

#[tokio::test]
async fn the_first_starts_link_makes_an_owner_once() {
    let (bench, session) = owned().await;
    let (app, people) = (&bench.app, bench.app.people());
    let me = people.me(&session.signed_in).await.unwrap();
    assert_eq!((me.person.email.as_str(), me.person.name.as_str()), ("ada@example.com", "Ada"));
    assert_eq!(me.team.as_ref().unwrap().role, Role::Owner);
    assert_eq!(Some(me.team.unwrap().id), app.access().first_team().await.unwrap());
    assert!(
        me.can.contains(&"team.delete".to_owned()) && me.can.contains(&"keys.manage".to_owned())
    );
    assert!(app.installation().start(None).await.unwrap().owners_link.is_none());
    // From now on an operator's link sets the owner's password, and ends the sessions.
    let again = by_link(app, None).await.unwrap();
    assert_eq!(again.signed_in, session.signed_in);
    assert!(is_over(&people.authenticate(&session.token, &from(1)).await));
    assert!(matches!(by_link(app, Some("eve@example.com")).await, Err(Error::NotFound)));
    assert!(by_link(app, Some("ADA@example.com")).await.is_ok());
}

#[tokio::test]
async fn a_link_works_once_and_only_in_its_time() {
    let bench = Bench::new().await;
    let (people, token) = (bench.app.people(), token_of(&bench.owners_link));
    // What is refused leaves the link as it was, and so does whoever only looks.
    for bad in [
        LinkInput { password: "short".to_owned(), ..input("ada@example.com") },
        LinkInput { name: "a\nb".to_owned(), ..input("ada@example.com") },
        input("no address"),
    ] {
        let refused = people.use_link(token, bad, &from(1)).await;
        assert!(matches!(refused, Err(Error::Invalid(_))));
        people.link(token, &from(1)).await.unwrap();
    }
    bench.clock.advance(DAY);
    assert!(matches!(people.link(token, &from(1)).await, Err(Error::NotFound)));
    let late = people.use_link(token, input("ada@example.com"), &from(1)).await;
    assert!(matches!(late, Err(Error::NotFound)));
    let team = bench.app.access().first_team().await.unwrap().unwrap();
    let link = people.operators_link(team, None).await.unwrap();
    people.use_link(token_of(&link), input("ada@example.com"), &from(1)).await.unwrap();
    let twice = people.use_link(token_of(&link), input("eve@example.com"), &from(1)).await;
    assert!(matches!(twice, Err(Error::NotFound)));
}

/// An installation whose owner said neither address nor password.
async fn owned_by_nobody_known() -> (Bench, NewSession) {
    let bench = Bench::new().await;
    let (people, token) = (bench.app.people(), token_of(&bench.owners_link));
    assert!(people.link(token, &from(1)).await.unwrap().is_optional());
    let session = people.use_link(token, LinkInput::default(), &from(1)).await.unwrap();
    (bench, session)
}

fn form(email: &str, name: &str, password: &str) -> SignUp {
    let [email, name, password] = [email, name, password].map(str::to_owned);
    SignUp { email, name, password }
}

#[tokio::test]
async fn the_owner_may_give_an_address_and_a_password_later() {
    let (bench, session) = owned_by_nobody_known().await;
    let (people, who) = (bench.app.people(), &session.signed_in);
    let me = people.me(who).await.unwrap();
    let person = &me.person;
    assert_eq!((person.email.as_str(), person.name.as_str()), ("", "Owner"));
    assert_eq!((person.verified_at, me.team.unwrap().role), (None, Role::Owner));
    // What is for whoever has them says so.
    let refused = people.change_password(who, PASSWORD, "another horse", &from(1)).await;
    assert!(matches!(refused, Err(Error::Invalid(_))));
    let refused = people.ask_new_address(who, "ada@example.com", PASSWORD, &from(1)).await;
    assert!(matches!(refused, Err(Error::Invalid(_))));
    people.sign_up(&form("eve@example.com", "", PASSWORD), &from(2)).await.unwrap();
    for (bad, path, code) in [
        (form("ada", "", PASSWORD), "email", "invalid_address"),
        (form("", "", PASSWORD), "email", "invalid_address"),
        (form("eve@example.com", "", PASSWORD), "email", "taken"),
        (form("ada@example.com", "a\nb", PASSWORD), "name", "invalid_name"),
        (form("ada@example.com", "", "password123"), "password", "too_common"),
        (form("ada@example.com", "", ""), "password", "invalid_length"),
    ] {
        let Err(Error::Invalid(issues)) = people.set_up_account(who, &bad, &from(3)).await else {
            panic!("{bad:?} was taken");
        };
        assert_eq!((issues[0].path.as_str(), issues[0].code), (path, code));
    }
    let good = form("Ada@Example.com", "Ada", PASSWORD);
    let new = people.set_up_account(who, &good, &from(4)).await.unwrap();
    assert!(is_over(&people.authenticate(&session.token, &from(1)).await));
    let person = people.me(&new.signed_in).await.unwrap().person;
    assert_eq!((person.email.as_str(), person.name.as_str()), ("ada@example.com", "Ada"));
    assert_eq!(person.verified_at, Some(bench.clock.now()));
    people.sign_in("ada@example.com", PASSWORD, &from(5)).await.unwrap();
    let other = form("b@example.com", "", PASSWORD);
    let again = people.set_up_account(&new.signed_in, &other, &from(6)).await;
    assert!(matches!(again, Err(Error::Invalid(issues)) if issues[0].code == "set_already"));
}

#[tokio::test]
async fn of_two_forms_of_an_owner_without_an_address_one_counts() {
    let (bench, session) = owned_by_nobody_known().await;
    let (people, other) = (bench.app.people(), bench.another_process().await);
    let who = &session.signed_in;
    let (one, two) = (form("one@example.com", "", PASSWORD), form("two@example.com", "", PASSWORD));
    let (here, there) = (from(1), from(2));
    let (one, two) = tokio::join!(
        people.set_up_account(who, &one, &here),
        other.people().set_up_account(who, &two, &there),
    );
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    let mut lets_in = 0;
    for email in ["one@example.com", "two@example.com"] {
        lets_in += usize::from(people.sign_in(email, PASSWORD, &from(3)).await.is_ok());
    }
    assert_eq!(lets_in, 1);
}

#[tokio::test]
async fn an_owner_without_an_address_comes_back_by_a_link_that_asks_for_one() {
    let (bench, session) = owned_by_nobody_known().await;
    let people = bench.app.people();
    let link = people.operators_link(bench.team, None).await.unwrap();
    let asked = people.link(token_of(&link), &from(1)).await.unwrap();
    assert_eq!((asked.kind, asked.email.as_deref()), (LinkKind::Password, None));
    assert!(asked.wants_password() && !asked.is_optional());
    let refused = people.use_link(token_of(&link), input(""), &from(1)).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "an address is needed");
    let back = people.use_link(token_of(&link), input("ada@example.com"), &from(1)).await.unwrap();
    assert_eq!(back.signed_in.person(), session.signed_in.person());
    assert!(is_over(&people.authenticate(&session.token, &from(1)).await));
    people.sign_in("ada@example.com", PASSWORD, &from(2)).await.unwrap();
}

#[tokio::test]
async fn two_links_lead_one_person_to_the_team() {
    let bench = Bench::new().await;
    let (people, team) = (bench.app.people(), bench.team);
    let [one, two] = [people.operators_link(team, None), people.operators_link(team, None)];
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    let visitor = from(1);
    let (one, two) = tokio::join!(
        people.use_link(token_of(&one), input("ada@example.com"), &visitor),
        people.use_link(token_of(&two), input("eve@example.com"), &visitor),
    );
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    let members = bench.ports.store.scan(Membership::of_team(team, 10)).await.unwrap();
    assert_eq!(members.len(), 1);
}

/// A process may end between any two writes.
#[tokio::test]
async fn what_was_begun_and_not_ended_is_taken_over() {
    let bench = Bench::new().await;
    let nobody = PersonId(bench.team.0);
    let claim = FirstOwner { person: nobody, claimed_at: bench.clock.now().before(DAY) };
    let address = PersonByEmail { email: "ada@example.com".to_owned(), person: nobody };
    let claims = vec![
        Op::put(&claim, None, When::Absent).unwrap(),
        Op::put(&address, None, When::Absent).unwrap(),
    ];
    bench.ports.store.write(claims).await.unwrap();
    let session = by_link(&bench.app, None).await.unwrap();
    let me = bench.app.people().me(&session.signed_in).await.unwrap();
    assert_eq!(me.team.unwrap().role, Role::Owner);
}

#[tokio::test]
async fn a_password_lets_in_and_a_wrong_one_or_an_unknown_address_does_not() {
    let (bench, first) = owned().await;
    let people = bench.app.people();
    let second = people.sign_in(" ADA@example.com ", PASSWORD, &from(2)).await.unwrap();
    assert_ne!(first.token, second.token);
    for token in [&first.token, &second.token] {
        let who = people.authenticate(token, &from(2)).await.unwrap();
        let known = first.signed_in.principal().map(|by| by.at(from(2).address));
        assert_eq!((who.person(), who.principal()), (first.signed_in.person(), known));
    }
    for (email, password) in
        [("ada@example.com", "correct horsf"), ("eve@example.com", PASSWORD), ("", PASSWORD)]
    {
        let refused = people.sign_in(email, password, &from(2)).await;
        let wrong = Error::Unauthenticated(Unauthenticated::WrongPassword);
        assert_eq!(refused.unwrap_err().to_string(), wrong.to_string());
    }
}

#[tokio::test]
async fn guesses_put_off_their_own_address_only() {
    let (bench, _) = owned().await;
    let people = bench.app.people();
    let guess = async |email: &str, address: u8| match people
        .sign_in(email, "guess guess", &from(address))
        .await
    {
        Err(Error::TooMany { retry_after }) => Some(retry_after),
        Err(Error::Unauthenticated(_)) => None,
        other => panic!("{other:?}"),
    };
    for _ in 0..5 {
        assert_eq!(guess("ada@example.com", 2).await, None);
    }
    assert_eq!(guess("ada@example.com", 2).await, Some(Duration::from_secs(12)));
    // Other accounts may be tried from there, until the address has had its share.
    for number in 0..14 {
        assert_eq!(guess(&format!("p{number}@example.com"), 2).await, None);
    }
    assert_eq!(guess("more@example.com", 2).await, Some(Duration::from_secs(3)));
    people.sign_in("ada@example.com", PASSWORD, &from(3)).await.unwrap();
    bench.clock.advance(Duration::from_secs(12));
    people.sign_in("ada@example.com", PASSWORD, &from(2)).await.unwrap();
}

#[tokio::test]
async fn a_session_ends_when_nobody_uses_it_and_after_sixty_days() {
    let (bench, first) = owned().await;
    let people = bench.app.people();
    let other = people.sign_in("ada@example.com", PASSWORD, &from(1)).await.unwrap();
    for _ in 0..4 {
        bench.clock.advance(DAY * 13);
        people.authenticate(&first.token, &from(1)).await.unwrap();
    }
    assert!(is_over(&people.authenticate(&other.token, &from(1)).await), "idle for 52 days");
    bench.clock.advance(DAY * 8);
    assert!(is_over(&people.authenticate(&first.token, &from(1)).await), "60 days old");
    assert!(is_over(
        &bench.another_process().await.people().authenticate(&first.token, &from(1)).await
    ));
}

#[tokio::test]
async fn the_last_use_is_noted_once_a_minute() {
    let (bench, session) = owned().await;
    let people = bench.app.people();
    let row = Session::row(&sha256(&session.token));
    let version = async || load::<Session>(&*bench.ports.store, &row).await.unwrap().unwrap().1;
    for (seconds, wanted) in [(0, 1), (30, 1), (30, 2), (1, 2), (59, 3)] {
        bench.clock.advance(Duration::from_secs(seconds));
        people.authenticate(&session.token, &from(1)).await.unwrap();
        people.authenticate(&session.token, &from(1)).await.unwrap();
        assert_eq!(version().await, wanted, "after {seconds} more");
    }
    // A process that does not know of the last note does no harm.
    let other = bench.another_process().await;
    other.people().authenticate(&session.token, &from(1)).await.unwrap();
    bench.clock.advance(Duration::from_mins(1));
    people.authenticate(&session.token, &from(1)).await.unwrap();
    other.people().authenticate(&session.token, &from(1)).await.unwrap();
    assert_eq!(version().await, 4);
}

#[tokio::test]
async fn a_session_that_ended_is_not_known_again() {
    let (bench, session) = owned().await;
    let people = bench.app.people();
    people.sign_out(&session.token).await.unwrap();
    people.sign_out(&session.token).await.unwrap();
    assert!(is_over(&people.authenticate(&session.token, &from(1)).await));
    for token in ["", "short", &"x".repeat(43), &"y".repeat(10_000)] {
        assert!(is_over(&people.authenticate(token, &from(1)).await), "{token}");
    }
}

#[tokio::test]
async fn an_address_that_tries_tokens_is_put_off_and_a_known_session_is_not() {
    let (bench, session) = owned().await;
    let people = bench.app.people();
    people.authenticate(&session.token, &from(2)).await.unwrap();
    for number in 0..50 {
        assert!(is_over(&people.authenticate(&format!("{number:043}"), &from(2)).await));
    }
    let refused = people.authenticate(&"z".repeat(43), &from(2)).await;
    assert!(matches!(refused, Err(Error::TooMany { .. })));
    people.authenticate(&session.token, &from(2)).await.unwrap();
}

#[tokio::test]
async fn a_person_has_no_more_than_a_hundred_sessions() {
    let (bench, first) = owned().await;
    let people = bench.app.people();
    let person = first.signed_in.person();
    let mut others = Vec::new();
    for number in 0..99 {
        bench.clock.advance(Duration::from_secs(1));
        let (sha256, created_at) = (format!("{number:064}"), bench.clock.now());
        let listed = SessionOfPerson { person, sha256, created_at };
        others.push(Op::put(&listed, None, When::Always).unwrap());
    }
    bench.ports.store.write(others).await.unwrap();
    people.authenticate(&first.token, &from(1)).await.unwrap();
    people.sign_in("ada@example.com", PASSWORD, &from(1)).await.unwrap();
    assert!(is_over(&people.authenticate(&first.token, &from(1)).await));
}

#[tokio::test]
async fn whoever_leaves_a_team_stays_signed_in_without_it() {
    let (bench, session) = owned().await;
    let who = session.signed_in;
    let (team, person) = (who.principal().unwrap().team, who.person());
    let row = Membership::row(team, person);
    let leave = Op::Delete { key: row, when: When::Version(1) };
    bench.ports.store.write(vec![leave]).await.unwrap();
    // A process that has not seen the session yet.
    let other = bench.another_process().await;
    let who = other.people().authenticate(&session.token, &from(1)).await.unwrap();
    assert_eq!((who.person(), who.principal()), (person, None));
    let me = other.people().me(&who).await.unwrap();
    assert_eq!((me.team, me.teams, me.can), (None, vec![], vec![]));
}

/// As sessions are kept.
fn sha256(token: &str) -> String {
    use sha2::Digest as _;
    data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(token.as_bytes()))
}
