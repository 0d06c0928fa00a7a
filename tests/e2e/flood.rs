//! A flood of wrong passwords, from many addresses, against one account and beside it against many.

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
/// Of each kind of guess; more than the 128 that may wait for a hash.
const ADDRESSES: u32 = 200;
/// Tries of an address in a minute, as the default of `--sign-in-rate` is.
const RATE: u32 = 20;
/// Sign-ins of the person meanwhile; five a minute are free.
const SIGN_INS: usize = 4;

/// How many guesses there are.
struct Form {
    at_account: usize,
    at_many: usize,
    /// Between two of one address at the account.
    pause: Duration,
}

const FULL: Form = Form { at_account: 100_000, at_many: 5_000, pause: Duration::ZERO };
/// Guesses at the account are seldom: at full speed they leave the cores to no other test.
const SHORT: Form = Form { at_account: 2_000, at_many: 1_000, pause: Duration::from_millis(500) };

/// Guesses by their answer's status.
type Answered = BTreeMap<u16, usize>;

/// Guesses of one kind, from addresses of their own.
struct Guesses {
    answered: watch::Receiver<Answered>,
    running: JoinSet<()>,
}

impl Guesses {
    /// `network` is the second number of their addresses.
    fn start(clients: &[Rest], network: u8, account: fn(u64) -> String, pause: Duration) -> Self {
        let (sender, answered) = watch::channel(Answered::new());
        let mut running = JoinSet::new();
        for (number, rest) in (0..ADDRESSES).zip(clients.iter().cycle()) {
            let address = Ipv4Addr::from(u32::from(Ipv4Addr::new(127, network, 0, 1)) + number);
            let guesses = guess(rest.at(IpAddr::V4(address)), account, pause, sender.clone());
            running.spawn(guesses);
        }
        Self { answered, running }
    }

    async fn reach(&mut self, count: usize) {
        let reached = |answered: &Answered| answered.values().sum::<usize>() >= count;
        self.answered.wait_for(reached).await.unwrap();
    }

    /// Checks what was answered within so many minutes.
    fn check(mut self, minutes: f64) {
        if let Some(ended) = self.running.try_join_next() {
            ended.unwrap();
        }
        let answered = self.answered.borrow().clone();
        assert!(answered.keys().all(|status| [401, 429].contains(status)), "{answered:?}");
        // What costs is a hash: there is one for each 401.
        let hashed = f64::from(u32::try_from(answered[&401]).unwrap());
        assert!(hashed <= f64::from(ADDRESSES * RATE) * (minutes + 1.0), "{answered:?}");
        assert!(answered[&429] > 0, "{answered:?}");
    }
}

async fn guess(
    rest: Rest,
    account: fn(u64) -> String,
    pause: Duration,
    answered: watch::Sender<Answered>,
) {
    for number in 0.. {
        let password = format!("wrong password {number}");
        let body = json!({ "email": account(number), "password": password });
        let answer = rest.post("/api/auth/sign-in", body).await;
        if answer.status == 429 {
            assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0, "{answer}");
        }
        answered.send_modify(|answered| *answered.entry(answer.status).or_default() += 1);
        tokio::time::sleep(pause).await;
    }
}

#[tokio::test]
async fn a_flood_of_wrong_passwords_keeps_nobody_out() {
    let form = if proofs_are_full() { FULL } else { SHORT };
    let server = Deployment::alone(&[]);
    let clients = clients(&server);
    Person::by_link(&clients[0], server.owners_link(), Some(EMAIL), PASSWORD).await;
    let began = Instant::now();
    let mut at_account = Guesses::start(&clients, 1, |_| EMAIL.to_owned(), form.pause);
    let others = |number| format!("guessed-{number}@example.com");
    let mut at_many = Guesses::start(&clients, 2, others, Duration::ZERO);
    for (number, rest) in (1..=SIGN_INS).zip(clients.iter().cycle()) {
        at_account.reach(form.at_account * number / SIGN_INS).await;
        at_many.reach(form.at_many * number / SIGN_INS).await;
        // At another address, while the flood goes on.
        Person::sign_in(rest, EMAIL, PASSWORD).await;
    }
    let minutes = began.elapsed().div_duration_f64(Duration::from_mins(1)).ceil();
    at_account.check(minutes);
    at_many.check(minutes);
}
