//! A flood of wrong passwords, from many addresses and against one account and many.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::{sync::watch, task::JoinSet};
use trapline_tests::{Deployment, Person, Rest, proofs_are_full};

use crate::people::{PASSWORD, clients};

const EMAIL: &str = "ada@example.com";
/// More than the 128 that may wait for a hash.
const ADDRESSES: u32 = 200;
/// Tries of an address in a minute, as the default of `--sign-in-rate` is.
const RATE: u32 = 20;
/// Sign-ins of the person meanwhile; five a minute are free.
const SIGN_INS: usize = 4;

/// Tries by their answer's status.
type Answered = BTreeMap<u16, usize>;

/// Guesses on, every other time for the account, and else for one of many.
async fn guess(rest: Rest, answered: watch::Sender<Answered>) {
    for number in 0_u64.. {
        let many = format!("guessed-{number}@example.com");
        let email = if number % 2 == 0 { EMAIL } else { &many };
        let body = json!({ "email": email, "password": format!("wrong password {number}") });
        let answer = rest.post("/api/auth/sign-in", body).await;
        if answer.status == 429 {
            assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0, "{answer}");
        }
        answered.send_modify(|answered| *answered.entry(answer.status).or_default() += 1);
    }
}

#[tokio::test]
async fn a_flood_of_wrong_passwords_keeps_nobody_out() {
    let tries = if proofs_are_full() { 100_000 } else { 2_000 };
    let server = Deployment::alone(&[]);
    let clients = clients(&server);
    Person::by_link(&clients[0], server.owners_link(), Some(EMAIL), PASSWORD).await;
    let (began, (sender, mut answered)) = (Instant::now(), watch::channel(Answered::new()));
    let mut flood = JoinSet::new();
    for (number, rest) in (0..ADDRESSES).zip(clients.iter().cycle()) {
        let address = Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 1, 0, 1)) + number);
        flood.spawn(guess(rest.at(IpAddr::V4(address)), sender.clone()));
    }
    for (number, rest) in (1..=SIGN_INS).zip(clients.iter().cycle()) {
        let part = tries * number / SIGN_INS;
        answered.wait_for(|answered| answered.values().sum::<usize>() >= part).await.unwrap();
        // At another address, while the flood goes on.
        Person::sign_in(rest, EMAIL, PASSWORD).await;
    }
    if let Some(ended) = flood.try_join_next() {
        ended.unwrap();
    }
    let minutes = began.elapsed().div_duration_f64(Duration::from_mins(1)).ceil();
    let answered = answered.borrow().clone();
    assert!(answered.keys().all(|status| [401, 429].contains(status)), "{answered:?}");
    // What costs is a hash: there is one for each 401.
    let hashed = f64::from(u32::try_from(answered[&401]).unwrap());
    assert!(hashed <= f64::from(ADDRESSES * RATE) * (minutes + 1.0), "{answered:?}");
    assert!(answered[&429] > 0, "{answered:?}");
}
