//! `kill -9` amid sign-ins: what was answered is known afterwards, and nothing is good twice.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};
use trapline_tests::{Answer, Deployment, eventually, is_cluster, proofs_are_full};

use super::rp::{CALLBACK, Rp, VERIFIER, told};

const APPLICATIONS: usize = 6;
/// Sign-ins in a round before the crash comes.
const AT_LEAST: usize = 10;

/// What an application was answered.
#[derive(Debug, Clone)]
struct Sign {
    code: String,
    tokens: Value,
    /// After a refresh: what came before these.
    refreshed: Option<String>,
    /// A request was under way when the server went.
    is_open: bool,
}

type Signs = Arc<Mutex<Vec<Sign>>>;

fn refresh_token(tokens: &Value) -> String {
    tokens["refresh_token"].as_str().unwrap().to_owned()
}

/// Signs in again and again until the server is gone.
async fn load(rp: Arc<Rp>, signs: Signs) {
    let form = |code: &str| {
        [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    loop {
        let asked = rp.rest().request("GET", &rp.path("authorize")).query(&rp.query(&[]));
        let Some(answer) = Answer::attempt(asked).await else { return };
        let code = told(&answer.expect(303))["code"].clone();
        let (id, secret) = rp.secret();
        let token = || rp.rest().request("POST", &rp.path("token")).basic_auth(id, Some(secret));
        let Some(answer) = Answer::attempt(token().form(&form(&code))).await else { return };
        let tokens = answer.expect(200).json();
        let sign = Sign { code, tokens, refreshed: None, is_open: true };
        let place = {
            let mut signs = signs.lock().unwrap();
            signs.push(sign);
            signs.len() - 1
        };
        let old = refresh_token(&signs.lock().unwrap()[place].tokens);
        let form = [("grant_type", "refresh_token"), ("refresh_token", old.as_str())];
        let Some(answer) = Answer::attempt(token().form(&form)).await else { return };
        let tokens = answer.expect(200).json();
        let mut signs = signs.lock().unwrap();
        signs[place] =
            Sign { tokens, refreshed: Some(old), is_open: false, ..signs[place].clone() };
    }
}

/// Each answered token is known, each generation follows once, and no code is good again.
async fn check(rp: &Rp, signs: &[Sign]) {
    for sign in signs {
        rp.userinfo(&sign.tokens).await.expect(200);
        if !sign.is_open {
            let next = rp.refresh(&refresh_token(&sign.tokens)).await.expect(200).json();
            rp.userinfo(&next).await.expect(200);
            let old = sign.refreshed.as_ref().unwrap();
            assert_eq!(rp.refresh(old).await.error(400).json()["error"], "invalid_grant");
            rp.userinfo(&next).await.error(401);
        }
        assert_eq!(rp.redeem(&sign.code).await.error(400).json()["error"], "invalid_grant");
        rp.userinfo(&sign.tokens).await.error(401);
    }
    for entry in rp.log().await {
        let is_whole = ["id", "at", "kind", "summary"].iter().all(|name| entry[name].is_string());
        assert!(is_whole && entry["ok"].is_boolean(), "{entry}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_ins_survive_crashes() {
    sign_in_amid_crashes(Deployment::kill, Deployment::restart).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_ins_survive_crashes_of_one_process_of_the_api() {
    // Where there is one process, that is all of them.
    if is_cluster() {
        sign_in_amid_crashes(|server| server.kill_one("api"), |server| server.start_one("api"))
            .await;
    }
}

async fn sign_in_amid_crashes(kill: fn(&mut Deployment), start: fn(&mut Deployment)) {
    let crashes = if proofs_are_full() { 20 } else { 5 };
    // The issuer is the same after a restart.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    let flags = ["--base-url", "http://sandbox.example"];
    let flags = if is_cluster() { flags } else { ["--http", &free] };
    let mut server = Deployment::with(&flags);
    let mut rp = Rp::new(&server).await;
    // Without a grace each token is good once.
    rp.set(json!({ "refreshReuseGrace": 0 })).await;
    for round in 0..crashes {
        let (signs, shared) = (Signs::default(), Arc::new(rp));
        let mut applications = JoinSet::new();
        for _ in 0..APPLICATIONS {
            applications.spawn(load(shared.clone(), signs.clone()));
        }
        eventually("sign-ins", async || (signs.lock().unwrap().len() >= AT_LEAST).then_some(()))
            .await;
        // Another moment in each round.
        tokio::time::sleep(Duration::from_millis(round * 7 % 60)).await;
        kill(&mut server);
        applications.join_all().await;
        start(&mut server);
        rp = Arc::into_inner(shared).unwrap().again(&server);
        let signs = signs.lock().unwrap().clone();
        check(&rp, &signs).await;
    }
}
