//! What is refused, with the code of its standard.

use serde_json::json;
use trapline_tests::{Answer, shared_under_one_name};

use super::rp::{CALLBACK, Rp};

/// Nothing that an attacker could have changed decides where a browser goes.
#[tokio::test]
async fn what_must_never_redirect_is_a_page() {
    let rp = Rp::new(&shared_under_one_name()).await;
    for (name, value) in [
        ("redirect_uri", "https://evil.example/"),
        ("redirect_uri", "https://app.example/callback/"),
        ("redirect_uri", "https://app.example/callback?x"),
        ("redirect_uri", "https://app.example@evil.example/callback"),
        ("redirect_uri", "javascript:alert(1)"),
        ("redirect_uri", ""),
        ("client_id", "another"),
        ("client_id", ""),
    ] {
        let answer = rp.authorize(&[(name, value)]).await.expect(400);
        assert!(answer.header("location").is_empty(), "{answer}");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(answer.text().contains("redirectUris"), "{answer}");
    }
    let answer = rp.authorize(&[("redirect_uri", "https://a.example/\"><script>x</script>")]).await;
    assert!(!answer.expect(400).text().contains("<script>x"), "markup of a request is in a page");
    let hint = rp.log().await[1]["error"]["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("is missing") || hint.contains("differs"), "{hint}");
    rp.set(json!({ "redirectUris": [] })).await;
    assert!(rp.authorize(&[]).await.expect(400).text().contains("is empty"));
}

#[tokio::test]
async fn other_mistakes_are_told_to_the_application() {
    let rp = Rp::new(&shared_under_one_name()).await;
    for (name, value, code) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "invalid_request"),
        ("response_mode", "pigeon", "invalid_request"),
        ("scope", "open\"id", "invalid_scope"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("prompt", "none login", "invalid_request"),
        ("prompt", "dance", "invalid_request"),
        ("max_age", "-1", "invalid_request"),
        ("max_age", "soon", "invalid_request"),
        ("claims", "{", "invalid_request"),
        ("claims", r#"{"id_token":{"sub":{"value":"somebody else"}}}"#, "login_required"),
        ("id_token_hint", "e30.e30.e30", "invalid_request"),
        ("resource", "relative", "invalid_target"),
        ("request", "e30", "request_not_supported"),
        ("request_uri", "https://app.example/r", "request_uri_not_supported"),
        ("registration", "{}", "registration_not_supported"),
    ] {
        let told = rp.told(&[(name, value)]).await;
        assert_eq!(told["error"], code, "{name}={value}: {told:?}");
        assert_eq!((told["state"].as_str(), &json!(told["iss"])), ("a state", &rp.idp["issuer"]));
        assert!(!told.contains_key("code"), "{name}={value}");
    }
    // What is not known is nobody's mistake.
    assert!(
        rp.told(&[("ui_locales", "de"), ("display", "popup"), ("x", "y")])
            .await
            .contains_key("code")
    );
}

#[tokio::test]
async fn a_code_is_bound_to_what_it_was_asked_for_with() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let code = rp.code().await;
    let verifier = "another-verifier-of-some-forty-three-letters-x";
    let good = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", CALLBACK),
        ("code_verifier", verifier),
    ];
    let ask = async |changes: &[(&str, &str)]| {
        let mut form: Vec<_> = good.to_vec();
        form.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        form.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
        rp.token(&form).await
    };
    for (changes, code) in [
        (vec![], "invalid_grant"),
        (vec![("code_verifier", "")], "invalid_grant"),
        (vec![("redirect_uri", "https://app.example/")], "invalid_grant"),
        (vec![("redirect_uri", "")], "invalid_grant"),
        (vec![("code", "unknown")], "invalid_grant"),
        (vec![("code", "")], "invalid_request"),
        (vec![("grant_type", "")], "invalid_request"),
        (vec![("grant_type", "password")], "unsupported_grant_type"),
        (vec![("client_secret", "twice")], "invalid_request"),
    ] {
        assert_eq!(ask(&changes).await.error(400).json()["error"], code, "{changes:?}");
    }
    // None of these used it up.
    rp.redeem(&code).await.expect(200);
    // A verifier without a challenge is a downgrade.
    let plain =
        rp.told(&[("code_challenge", ""), ("code_challenge_method", "")]).await["code"].clone();
    assert_eq!(rp.redeem(&plain).await.error(400).json()["error"], "invalid_grant");
    let form =
        [("grant_type", "authorization_code"), ("code", &*plain), ("redirect_uri", CALLBACK)];
    rp.token(&form).await.expect(200);
}

#[tokio::test]
async fn clients_show_who_they_are_as_their_type_says() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let (id, secret) = rp.secret();
    let code = || rp.code();
    let verifier = "a-verifier-of-some-forty-three-letters-or-more";
    let redeem = async |more: &[(&str, &str)]| {
        let code = code().await;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", CALLBACK),
            ("code_verifier", verifier),
        ];
        form.extend(more);
        rp.form("token", &form).await.status
    };
    assert_eq!(redeem(&[("client_id", id)]).await, 200);
    assert_eq!(redeem(&[("client_id", id), ("client_secret", secret)]).await, 200);
    assert_eq!(redeem(&[("client_id", id), ("client_secret", "wrong-secret-of-it")]).await, 401);
    assert_eq!(redeem(&[("client_id", "another")]).await, 401);
    assert_eq!(redeem(&[]).await, 401);
    rp.set(json!({ "clientType": "confidential" })).await;
    assert_eq!(redeem(&[("client_id", id)]).await, 401);
    rp.set(json!({ "clientType": "public" })).await;
    assert_eq!(redeem(&[("client_id", id)]).await, 200);
    let told = rp.told(&[("code_challenge", ""), ("code_challenge_method", "")]).await;
    assert_eq!(told["error"], "invalid_request");
    let form = [("grant_type", "client_credentials")];
    assert_eq!(rp.token(&form).await.error(400).json()["error"], "unauthorized_client");
    rp.set(json!({ "clientType": "any" })).await;
    let form = [("grant_type", "client_credentials"), ("scope", "openid")];
    assert_eq!(rp.token(&form).await.error(400).json()["error"], "invalid_scope");
    // Not a form.
    let path = rp.path("token");
    let answer = Answer::to(rp.rest().request("POST", &path).json(&json!({}))).await;
    assert_eq!(answer.error(400).json()["error"], "invalid_request");
}

#[tokio::test]
async fn userinfo_takes_a_token_of_a_person() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let none = rp.rest().get(&rp.path("userinfo")).await.expect(401);
    assert_eq!(none.header("www-authenticate"), "Bearer");
    let own = rp.token(&[("grant_type", "client_credentials")]).await.expect(200).json();
    assert_eq!(rp.userinfo(&own).await.error(403).json()["error"], "insufficient_scope");
    let tokens = rp.tokens().await;
    let token = tokens["access_token"].as_str().unwrap();
    let info = rp.form("userinfo", &[("access_token", token)]).await.expect(200);
    assert_eq!(info.header("access-control-allow-origin"), "*");
    let path = rp.path("userinfo");
    let twice =
        rp.rest().request("POST", &path).bearer_auth(token).form(&[("access_token", token)]);
    assert_eq!(Answer::to(twice).await.error(400).json()["error"], "invalid_request");
    // An ID token is none.
    let id = json!({ "access_token": tokens["id_token"] });
    assert_eq!(rp.userinfo(&id).await.error(401).json()["error"], "invalid_token");
}
