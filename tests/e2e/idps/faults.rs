//! What a provider does wrong when it is asked to.

use std::collections::HashMap;

use data_encoding::BASE64URL_NOPAD;
use futures_util::future::join_all;
use serde_json::{Value, json};
use trapline_tests::{shared, shared_under_one_name};

use super::{
    path_of,
    rp::{Rp, claims},
};

impl Rp {
    pub(super) async fn ask_for(&self, fault: Value) -> Value {
        let path = format!("{}/faults", path_of(&self.idp));
        self.keyed().post(&path, fault).await.expect(201).json()
    }

    async fn faulty(&self, fault: &str) -> HashMap<String, String> {
        self.told(&[("mock_fault", fault)]).await
    }
}

#[tokio::test]
async fn the_catalogue_lists_each_fault_with_its_rule() {
    let rest = shared().rest();
    let all = rest.get("/api/idp-faults").await.expect(200).json();
    let all = all.as_array().unwrap();
    assert!(all.len() >= 30, "{all:?}");
    let slow = all.iter().find(|it| it["scenario"] == "slow").unwrap();
    assert_eq!(slow["value"], json!({ "min": 1, "max": 25 }));
    assert!(all.iter().all(|it| it["rule"] != "" && it["summary"] != ""));
}

#[tokio::test]
async fn redirects_say_what_was_asked_for() {
    let rp = Rp::new(&shared()).await;
    for code in ["access_denied", "login_required", "server_error", "temporarily_unavailable"] {
        assert_eq!(rp.faulty(code).await["error"], code);
    }
    assert_eq!(rp.faulty("state_mismatch").await["state"], "wrong-state");
    assert_eq!(rp.faulty("iss_mismatch").await["iss"], "https://issuer.invalid");
    let hint = "fault:wrong_nonce;ada@example.com";
    let code = rp.told(&[("login_hint", hint)]).await["code"].clone();
    let tokens = rp.redeem(&code).await.expect(200).json();
    assert_eq!(claims(&tokens["id_token"])["nonce"], "wrong-nonce");
    for unknown in ["nothing", "slow", "slow=26", "expired=1", "jwks_500"] {
        assert_eq!(rp.faulty(unknown).await["error"], "invalid_request", "{unknown}");
    }
    let log = rp.log().await;
    assert!(log.iter().any(|it| it["kind"] == "token" && it["fault"] == "wrong_nonce"), "{log:?}");
}

#[tokio::test]
async fn tokens_and_user_info_are_as_bad_as_was_asked_for() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let redeem = async |fault: &str| rp.redeem(&rp.faulty(fault).await["code"]).await;
    let unsigned = redeem("alg_none").await.expect(200).json();
    let token = unsigned["id_token"].as_str().unwrap();
    let header = BASE64URL_NOPAD.decode(token.split('.').next().unwrap().as_bytes()).unwrap();
    assert!(token.ends_with('.') && String::from_utf8(header).unwrap().contains("none"), "{token}");
    let other = redeem("userinfo_sub_mismatch").await.expect(200).json();
    assert_eq!(rp.userinfo(&other).await.expect(200).json()["sub"], "wrong-subject");
    let refused = redeem("refresh_refused").await.expect(200).json();
    let refresh = refused["refresh_token"].as_str().unwrap();
    assert_eq!(rp.refresh(refresh).await.error(400).json()["error"], "invalid_grant");
    let late = redeem("not_yet_valid").await.expect(200).json();
    let late = claims(&late["id_token"]);
    assert!(late["nbf"].as_i64() > late["auth_time"].as_i64(), "{late}");
}

#[tokio::test]
async fn faults_wait_and_are_used_as_often_as_asked_over_all_processes() {
    let rp = Rp::new(&shared()).await;
    rp.ask_for(json!({ "scenario": "access_denied", "times": 5 })).await;
    let answers = join_all((0..20).map(|_| rp.told(&[]))).await;
    let refused = answers.iter().filter(|told| told.contains_key("error")).count();
    assert_eq!(refused, 5, "{answers:?}");

    // One for this user goes before one for anybody, and one that stays comes last.
    let path = format!("{}/faults", path_of(&rp.idp));
    let stays = rp.ask_for(json!({ "scenario": "server_error", "times": null })).await;
    rp.ask_for(json!({ "scenario": "login_required" })).await;
    rp.ask_for(json!({ "scenario": "access_denied", "userId": rp.user["id"] })).await;
    for code in ["access_denied", "login_required", "server_error", "server_error"] {
        assert_eq!(rp.told(&[]).await["error"], code);
    }
    assert_eq!(rp.keyed().get(&path).await.expect(200).json(), json!([stays]));
    let one = format!("{path}/{}", stays["id"].as_str().unwrap());
    rp.keyed().delete(&one).await.expect(204);
    rp.keyed().delete(&one).await.error(404);
    assert!(rp.told(&[]).await.contains_key("code"));
    rp.ask_for(json!({ "scenario": "expired" })).await;
    rp.keyed().delete(&path).await.expect(204);
    assert_eq!(rp.keyed().get(&path).await.expect(200).json(), json!([]));
}

#[tokio::test]
async fn what_is_no_fault_is_refused() {
    let rp = Rp::new(&shared()).await;
    let path = format!("{}/faults", path_of(&rp.idp));
    for (fault, issue) in [
        (json!({ "scenario": "nothing" }), "scenario"),
        (json!({ "scenario": "slow" }), "value"),
        (json!({ "scenario": "slow", "value": 26 }), "value"),
        (json!({ "scenario": "expired", "value": 1 }), "value"),
        (json!({ "scenario": "expired", "times": 0 }), "times"),
        (json!({ "scenario": "expired", "userId": rp.idp["id"] }), "userId"),
    ] {
        assert_eq!(
            rp.keyed().post(&path, fault.clone()).await.error(400).issues(),
            [issue],
            "{fault}"
        );
    }
}
