//! Addresses that change: by a link, for one person only, wherever a process ends on the way.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use trapline_app::{
    App, Error, LinkInput, LinkKind, NewSession, People, Result, SignUp, SignedUp, Visitor,
};
use trapline_store::{
    Op, PortError, Store, When, load,
    records::{Person, PersonByEmail},
};

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::Bench,
};

const PASSWORD: &str = "correct horse";
const OLD: &str = "ada@example.com";
const NEW: &str = "ada@example.org";

/// A client that nobody else has, so that no limit of tries is met.
fn somewhere() -> Visitor {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let number = u32::try_from(LAST.fetch_add(1, Ordering::Relaxed)).unwrap();
    Visitor { address: Some(IpAddr::from(number.to_be_bytes())), ..Visitor::default() }
}

/// The browser in which somebody is signed in.
fn browser_of(session: &NewSession) -> Visitor {
    Visitor { person: Some(session.signed_in.person()), ..somewhere() }
}

async fn signed_up(people: &People, email: &str) -> Result<NewSession> {
    let wish =
        SignUp { email: email.to_owned(), name: String::new(), password: PASSWORD.to_owned() };
    match people.sign_up(&wish, &somewhere()).await? {
        SignedUp::Now(session) => Ok(session),
        SignedUp::MailSent => panic!("no mail can be sent"),
    }
}

/// The token of the link by which somebody gets an address, on a server that sends no mail.
async fn ask(people: &People, session: &NewSession, email: &str) -> String {
    let asked = people.ask_new_address(&session.signed_in, email, PASSWORD, &somewhere()).await;
    asked.unwrap().unwrap().split_once("?token=").unwrap().1.to_owned()
}

async fn press(people: &People, token: &str, visitor: &Visitor) -> Result<NewSession> {
    people.use_link(token, LinkInput::default(), visitor).await
}

async fn signs_in(people: &People, email: &str) -> bool {
    people.sign_in(email, PASSWORD, &somewhere()).await.is_ok()
}

/// The code of what is wrong with an input.
fn issue<T>(outcome: Result<T>) -> (String, &'static str) {
    match outcome {
        Err(Error::Invalid(issues)) => (issues[0].path.clone(), issues[0].code),
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it was taken"),
    }
}

fn pair(path: &str, code: &'static str) -> (String, &'static str) {
    (path.to_owned(), code)
}

#[tokio::test]
async fn an_address_changes_by_the_button_of_its_link_and_no_sooner() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let session = signed_up(people, OLD).await.unwrap();
    let other = people.sign_in(OLD, PASSWORD, &somewhere()).await.unwrap();
    let token = ask(people, &session, "Ada@Example.ORG").await;
    for (visitor, wants) in [(browser_of(&session), false), (somewhere(), true)] {
        let asked = people.link(&token, &visitor).await.unwrap();
        assert_eq!((asked.kind, asked.email.as_deref()), (LinkKind::NewAddress, Some(NEW)));
        assert_eq!(
            (asked.wants_password(), asked.has_password, asked.is_new),
            (wants, true, false)
        );
    }
    assert!(signs_in(people, OLD).await && !signs_in(people, NEW).await, "only looked at");
    // A stranger who reads the mail has neither the session nor the password, and the link works on.
    let eve = signed_up(people, "eve@example.com").await.unwrap();
    for (visitor, password) in [(somewhere(), ""), (browser_of(&eve), ""), (somewhere(), "a guess")]
    {
        let input = LinkInput { password: password.to_owned(), ..LinkInput::default() };
        let refused = people.use_link(&token, input, &visitor).await;
        assert_eq!(issue(refused), pair("password", "wrong_password"));
    }
    let new = press(people, &token, &browser_of(&session)).await.unwrap();
    for token in [&session.token, &other.token] {
        assert!(people.authenticate(token, &somewhere()).await.is_err(), "it has ended");
    }
    let me = people.me(&new.signed_in).await.unwrap();
    // No mail showed that the address is hers.
    assert_eq!((me.person.email.as_str(), me.person.verified_at), (NEW, None));
    assert!(signs_in(people, NEW).await && !signs_in(people, OLD).await);
    assert!(matches!(press(people, &token, &browser_of(&new)).await, Err(Error::NotFound)));
    let told = bench.app.audit().latest(&new.signed_in.principal().unwrap()).await.unwrap();
    assert_eq!(told[0].action, "member.address_changed");
    // The old one is anybody's.
    signed_up(people, OLD).await.unwrap();
    assert!(signed_up(people, NEW).await.is_err());
}

#[tokio::test]
async fn the_password_is_enough_where_nobody_is_signed_in() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let session = signed_up(people, OLD).await.unwrap();
    let token = ask(people, &session, NEW).await;
    let input = LinkInput { password: PASSWORD.to_owned(), ..LinkInput::default() };
    people.use_link(&token, input, &somewhere()).await.unwrap();
    assert!(signs_in(people, NEW).await);
}

#[tokio::test]
async fn what_is_asked_wrongly_is_told_and_changes_nothing() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let session = signed_up(people, OLD).await.unwrap();
    for (email, password, path, code) in [
        ("no address", PASSWORD, "email", "invalid_address"),
        ("ADA@example.com", PASSWORD, "email", "unchanged"),
        (NEW, "a guess", "password", "wrong_password"),
        (NEW, "", "password", "wrong_password"),
    ] {
        let who = &session.signed_in;
        let refused = people.ask_new_address(who, email, password, &somewhere()).await;
        assert_eq!(issue(refused), pair(path, code), "{email}");
    }
    let visitor = somewhere();
    let mut limited = 0;
    for _ in 0..10 {
        let guess = people.ask_new_address(&session.signed_in, NEW, "a guess", &visitor).await;
        limited += usize::from(matches!(guess, Err(Error::TooMany { .. })));
    }
    assert_eq!(limited, 5, "guesses here are those of the sign-in");
    let open = Bench::set(trapline_app::Settings { sign_in: false, ..<_>::default() }).await;
    let owner = open.app.people().anyone(&somewhere()).await.unwrap();
    let refused = open.app.people().ask_new_address(&owner, NEW, PASSWORD, &somewhere()).await;
    assert_eq!(issue(refused), pair("password", "no_password"));
}

#[tokio::test]
async fn of_two_who_want_an_address_one_gets_it() {
    let bench = Bench::new().await;
    let other = bench.another_process().await;
    let (here, there) = (bench.app.people(), other.people());
    let (ada, eve) =
        (signed_up(here, OLD).await.unwrap(), signed_up(here, "eve@example.com").await);
    let eve = eve.unwrap();
    let (one, two) = (ask(here, &ada, NEW).await, ask(there, &eve, NEW).await);
    let (adas, eves) = (browser_of(&ada), browser_of(&eve));
    let (one, two) = tokio::join!(press(here, &one, &adas), press(there, &two, &eves));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    let (winner, loser, kept) =
        if one.is_ok() { (one, two, "eve@example.com") } else { (two, one, OLD) };
    assert_eq!(issue(loser), pair("email", "taken"));
    let found = load::<PersonByEmail>(&*bench.ports.store, &PersonByEmail::row(NEW)).await;
    assert_eq!(found.unwrap().unwrap().0.person, winner.unwrap().signed_in.person());
    assert!(signs_in(here, NEW).await && signs_in(there, kept).await);
}

#[tokio::test]
async fn of_two_presses_one_changes_the_address() {
    let bench = Bench::new().await;
    let other = bench.another_process().await;
    let (here, there) = (bench.app.people(), other.people());
    let ada = signed_up(here, OLD).await.unwrap();
    let (token, visitor) = (ask(here, &ada, NEW).await, browser_of(&ada));
    let (one, two) = tokio::join!(press(here, &token, &visitor), press(there, &token, &visitor));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert!(matches!(one.and(two), Err(Error::NotFound)));
    assert!(signs_in(here, NEW).await);
}

#[tokio::test]
async fn links_that_were_made_before_a_change_are_over() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let ada = signed_up(people, OLD).await.unwrap();
    let token = |link: String| link.split_once("?token=").unwrap().1.to_owned();
    let operators =
        async |email: &str| token(people.operators_link(bench.team, Some(email)).await.unwrap());
    let is_over = async |token: &str| {
        let outcome = people.link(token, &somewhere()).await;
        matches!(outcome, Err(Error::NotFound))
    };
    let soon = || bench.clock.advance(Duration::from_mins(1));
    let (password, first) = (operators(OLD).await, ask(people, &ada, "first@example.org").await);
    soon();
    let second = ask(people, &ada, NEW).await;
    assert!(is_over(&first).await, "there is a later one");
    assert!(!is_over(&password).await && !is_over(&second).await);
    soon();
    let ada = press(people, &second, &browser_of(&ada)).await.unwrap();
    assert!(is_over(&password).await, "it went to another address");
    let (password, third) = (operators(NEW).await, ask(people, &ada, OLD).await);
    soon();
    let input = LinkInput { password: PASSWORD.to_owned(), ..LinkInput::default() };
    let ada = people.use_link(&password, input, &somewhere()).await.unwrap();
    assert!(is_over(&third).await, "whoever asked for it may have had the old password");
    let fourth = ask(people, &ada, OLD).await;
    bench.clock.advance(Duration::from_hours(24));
    assert!(is_over(&fourth).await);
}

/// A store whose process ends before one of its next writes.
struct Ending {
    store: Arc<dyn Store>,
    left: Arc<AtomicUsize>,
}

#[async_trait]
impl StoreLayer for Ending {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn write(&self, ops: Vec<Op>) -> trapline_store::Result<()> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_err() { Err(PortError::Timeout) } else { self.store.write(ops).await }
    }
}

/// A process that makes so many more writes.
async fn ending(bench: &Bench, writes: usize) -> Arc<App> {
    let (mut ports, left) = (bench.ports.clone(), Arc::new(AtomicUsize::new(usize::MAX)));
    ports.store = Arc::new(LayeredStore(Ending { store: ports.store, left: left.clone() }));
    let app = bench.process_over(ports).await;
    left.store(writes, Ordering::SeqCst);
    app
}

#[tokio::test]
async fn wherever_a_process_ends_the_address_is_one_persons_and_the_person_has_one() {
    let mut moved = Vec::new();
    for writes in 0..12 {
        let bench = Bench::new().await;
        let people = bench.app.people();
        let ada = signed_up(people, OLD).await.unwrap();
        let token = ask(people, &ada, NEW).await;
        let ended = ending(&bench, writes).await;
        let is_done = press(ended.people(), &token, &browser_of(&ada)).await.is_ok();
        let has_moved = signs_in(people, NEW).await;
        assert_ne!(has_moved, signs_in(people, OLD).await, "after {writes}");
        assert!(has_moved || !is_done, "after {writes}");
        moved.push(has_moved);
        if has_moved {
            signed_up(people, OLD).await.unwrap();
            assert!(signed_up(people, NEW).await.is_err(), "after {writes}");
        } else {
            // Ada asks again, whatever was left there.
            let ada = people.sign_in(OLD, PASSWORD, &somewhere()).await.unwrap();
            let token = ask(people, &ada, NEW).await;
            press(people, &token, &browser_of(&ada)).await.unwrap();
            assert!(signs_in(people, NEW).await, "after {writes}");
        }
    }
    assert!(moved.is_sorted() && !moved[0] && moved[11], "{moved:?}");
}

#[tokio::test]
async fn a_claim_holds_as_long_as_its_person_is_about_to_get_the_address() {
    let bench = Bench::new().await;
    let people = bench.app.people();
    let ada = signed_up(people, OLD).await.unwrap();
    let id = ada.signed_in.person();
    ask(people, &ada, NEW).await;
    let claim = PersonByEmail { email: NEW.to_owned(), person: id };
    bench.ports.store.write(vec![Op::put(&claim, None, When::Absent).unwrap()]).await.unwrap();
    assert_eq!(issue(signed_up(people, NEW).await), pair("email", "taken"));
    assert!(!signs_in(people, NEW).await, "it is not hers yet");
    // She wants another one instead.
    ask(people, &ada, "third@example.org").await;
    signed_up(people, NEW).await.unwrap();
    assert!(signs_in(people, OLD).await && signs_in(people, NEW).await);
    let row = load::<Person>(&*bench.ports.store, &Person::row(id)).await.unwrap().unwrap().0;
    assert_eq!((row.email.as_str(), row.next_email.as_deref()), (OLD, Some("third@example.org")));
}

#[tokio::test]
async fn where_mail_is_sent_an_answer_tells_nothing_and_mails_are_few() {
    let bench = Bench::with_relay().await;
    let people = bench.app.people();
    let session = {
        let input =
            LinkInput { email: OLD.to_owned(), password: PASSWORD.to_owned(), ..<_>::default() };
        let token = bench.owners_link.split_once("?token=").unwrap().1;
        people.use_link(token, input, &somewhere()).await.unwrap()
    };
    for (email, limited) in [(NEW, 0), ("b@example.org", 0), ("c@example.org", 0), (NEW, 1)] {
        let asked = people.ask_new_address(&session.signed_in, email, PASSWORD, &somewhere()).await;
        match asked {
            Ok(link) => assert_eq!((link, limited), (None, 0), "{email}"),
            Err(Error::TooMany { .. }) => assert_eq!(limited, 1, "{email}"),
            Err(error) => panic!("{error:?}"),
        }
    }
}
