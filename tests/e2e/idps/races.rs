//! What happens at the same moment at several processes counts once.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, future::join_all, stream};
use serde_json::{Value, json};
use trapline_tests::{Answer, Deployment, shared, shared_under_one_name};

use super::{path_of, rp::Rp};

const MANY: usize = 200;

fn by_status(answers: &[Answer]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for answer in answers {
        *counts.entry(answer.status).or_default() += 1;
    }
    counts
}

fn refresh_token(tokens: &Value) -> String {
    tokens["refresh_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn of_two_hundred_that_redeem_a_code_one_does() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let code = rp.code().await;
    let answers = join_all((0..MANY).map(|_| rp.redeem(&code))).await;
    let counts = by_status(&answers);
    assert_eq!(counts.get(&200), Some(&1), "{counts:?}");
    // One that others overtook again and again is told to come again.
    assert!(counts.keys().all(|status| [200, 400, 503].contains(status)), "{counts:?}");
    // The others were reuse, so what the first one got has ended, at every process.
    let tokens = answers.iter().find(|answer| answer.status == 200).unwrap().json();
    for _ in 0..2 {
        rp.userinfo(&tokens).await.error(401);
        rp.refresh(&refresh_token(&tokens)).await.error(400);
    }
}

#[tokio::test]
async fn two_hundred_refreshes_of_a_token_have_one_successor() {
    let rp = Rp::new(&shared_under_one_name()).await;
    rp.set(json!({ "refreshReuseGrace": 60 })).await;
    let first = refresh_token(&rp.tokens().await);
    let answers = join_all((0..MANY).map(|_| rp.refresh(&first))).await;
    let good = answers.iter().filter(|answer| answer.status == 200);
    let successors: BTreeSet<_> = good.map(|answer| refresh_token(&answer.json())).collect();
    assert_eq!(successors.len(), 1, "{:?}", by_status(&answers));
    assert!(answers.iter().all(|answer| [200, 503].contains(&answer.status)));
    let second = rp.refresh(successors.first().unwrap()).await.expect(200).json();
    // Two generations ago is a theft, within the grace too, and ends the sign-in at every process.
    rp.refresh(&first).await.error(400);
    for _ in 0..2 {
        rp.userinfo(&second).await.error(401);
        rp.refresh(&refresh_token(&second)).await.error(400);
    }
}

#[tokio::test]
async fn a_token_that_comes_again_after_the_grace_ends_the_sign_in() {
    let rp = Rp::new(&shared_under_one_name()).await;
    rp.set(json!({ "refreshReuseGrace": 1 })).await;
    let first = rp.tokens().await;
    let second = rp.refresh(&refresh_token(&first)).await.expect(200).json();
    // Within it the same token follows again, for as long as it lasts.
    loop {
        let again = rp.refresh(&refresh_token(&first)).await;
        if again.status != 200 {
            assert_eq!(again.error(400).json()["error"], "invalid_grant");
            break;
        }
        assert_eq!(refresh_token(&again.json()), refresh_token(&second));
    }
    for _ in 0..2 {
        rp.userinfo(&second).await.error(401);
        rp.refresh(&refresh_token(&second)).await.error(400);
    }
}

#[tokio::test]
async fn a_fault_for_fifty_sign_ins_is_used_by_fifty_of_four_hundred() {
    let rp = Rp::new(&shared()).await;
    rp.ask_for(json!({ "scenario": "access_denied", "times": 50 })).await;
    let sign_ins = stream::iter(0..400).map(|_| rp.told(&[])).buffer_unordered(40);
    let told: Vec<_> = sign_ins.collect().await;
    let refused =
        told.iter().filter(|told| told.get("error").is_some_and(|it| it == "access_denied"));
    assert_eq!(refused.count(), 50);
    assert_eq!(told.iter().filter(|told| told.contains_key("code")).count(), 350);
    let waiting = rp.keyed().get(&format!("{}/faults", path_of(&rp.idp))).await.expect(200);
    assert_eq!(waiting.json(), json!([]));
}

#[tokio::test]
async fn ten_answers_of_a_provider_are_late_at_once() {
    let server = Deployment::start();
    let rp = Rp::new(&server).await.at_issuer();
    rp.ask_for(json!({ "scenario": "slow", "value": 8, "times": 14 })).await;
    let mut codes = Vec::new();
    for _ in 0..14 {
        codes.push(rp.code().await);
    }
    let answers = join_all(codes.iter().map(|code| rp.redeem(code))).await;
    assert_eq!(by_status(&answers), BTreeMap::from([(200, 10), (503, 4)]));
}

/// A fleet of machines that run tests is one address, so what is counted is the provider.
#[tokio::test]
async fn requests_of_a_provider_have_an_allowance() {
    let server = Deployment::with(&["--api-rate", "100"]);
    let (one, other) = (Rp::new(&server).await, Rp::new(&server).await);
    let asked = join_all((0..200).map(|_| async { one.rest().get(&one.path("jwks")).await })).await;
    let counts = by_status(&asked);
    // More come back while these are asked.
    assert!(counts[&200] >= 100 && counts.get(&429) >= Some(&1), "{counts:?}");
    let limited = asked.iter().find(|answer| answer.status == 429).unwrap();
    assert_eq!(limited.json()["error"], "temporarily_unavailable");
    assert!(limited.header("retry-after").parse::<u64>().unwrap() >= 1, "{limited}");
    other.rest().get(&other.path("jwks")).await.expect(200);
}
