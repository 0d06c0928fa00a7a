//! What the plans of the `OpenID` conformance suite look at, by the names of their modules: Basic OP, Config
//! OP and Form Post Basic OP. RP-initiated logout is with the [sessions](super::sessions).

use std::{collections::HashMap, time::Duration};

use openidconnect::{
    ClientId, IssuerUrl, Nonce,
    core::{CoreIdToken, CoreIdTokenVerifier, CoreProviderMetadata},
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use trapline_tests::{Answer, Deployment, shared};

use super::{
    path_of,
    rp::{CALLBACK, Rp, claims, told},
    sessions::cookie_of,
    stacks::rust::http,
};

/// A provider for all that change nothing of it; its user has claims of every scope.
async fn op() -> Rp {
    static PROVIDER: OnceCell<[Value; 2]> = OnceCell::const_new();
    let made = async {
        let rp = Rp::new(&shared()).await;
        let user = format!("{}/users/{}", path_of(&rp.idp), rp.user["id"].as_str().unwrap());
        let claims = json!({
            "address": { "country": "UK" }, "phone_number": "+44", "given_name": "Ada"
        });
        rp.keyed().patch(&user, json!({ "claims": claims })).await.expect(200);
        [rp.idp, rp.user]
    };
    let [idp, user] = PROVIDER.get_or_init(|| made).await.clone();
    Rp::known(&shared(), idp, user).at_issuer()
}

/// The tokens of a sign-in whose request has these parameters.
async fn sign_in(rp: &Rp, others: &[(&str, &str)]) -> Value {
    let told = rp.told(others).await;
    rp.redeem(&told["code"]).await.expect(200).json()
}

async fn info(rp: &Rp, others: &[(&str, &str)]) -> Value {
    rp.userinfo(&sign_in(rp, others).await).await.expect(200).json()
}

/// Checks what a library makes of an ID token.
async fn verify(rp: &Rp, tokens: &Value, nonce: &str) {
    let issuer = IssuerUrl::new(rp.idp["issuer"].as_str().unwrap().to_owned()).unwrap();
    let metadata = CoreProviderMetadata::discover_async(issuer.clone(), &http).await.unwrap();
    let client = ClientId::new(rp.secret().0.to_owned());
    let verifier = CoreIdTokenVerifier::new_public_client(client, issuer, metadata.jwks().clone());
    let token: CoreIdToken = tokens["id_token"].as_str().unwrap().parse().unwrap();
    token.claims(&verifier, &Nonce::new(nonce.to_owned())).unwrap();
}

#[tokio::test]
async fn oidcc_server() {
    let rp = op().await;
    let tokens = sign_in(&rp, &[]).await;
    verify(&rp, &tokens, "a nonce").await;
    assert_eq!(tokens["token_type"], "Bearer");
}

#[tokio::test]
async fn oidcc_response_type_missing() {
    assert_eq!(op().await.told(&[("response_type", "")]).await["error"], "invalid_request");
}

#[tokio::test]
async fn oidcc_idtoken_signature() {
    let rp = op().await;
    verify(&rp, &sign_in(&rp, &[("nonce", "n-0S6_WzA2Mj")]).await, "n-0S6_WzA2Mj").await;
}

#[tokio::test]
async fn oidcc_userinfo_by_get_header_and_body() {
    let rp = op().await;
    let tokens = sign_in(&rp, &[]).await;
    let by_get = rp.userinfo(&tokens).await.expect(200).json();
    let token = tokens["access_token"].as_str().unwrap();
    let path = rp.path("userinfo");
    let by_header = Answer::to(rp.rest().request("POST", &path).bearer_auth(token)).await;
    let by_body = rp.form("userinfo", &[("access_token", token)]).await;
    assert_eq!(by_get["sub"], claims(&tokens["id_token"])["sub"]);
    assert_eq!(
        [by_header.expect(200).json(), by_body.expect(200).json()],
        [by_get.clone(), by_get]
    );
}

#[tokio::test]
async fn oidcc_ensure_request_without_nonce_succeeds_for_code_flow() {
    let rp = op().await;
    assert!(claims(&sign_in(&rp, &[("nonce", "")]).await["id_token"])["nonce"].is_null());
}

#[tokio::test]
async fn oidcc_scope_profile_email_address_phone_and_all() {
    let rp = op().await;
    for (scope, there, absent) in [
        ("openid profile", vec!["name", "given_name", "preferred_username"], vec!["email"]),
        ("openid email", vec!["email", "email_verified"], vec!["name"]),
        ("openid address", vec!["address"], vec!["name", "email"]),
        ("openid phone", vec!["phone_number"], vec!["name", "email"]),
        ("openid profile email address phone", vec!["name", "email", "address"], vec![]),
    ] {
        let found = info(&rp, &[("scope", scope)]).await;
        assert!(there.iter().all(|name| !found[*name].is_null()), "{scope}: {found}");
        assert!(absent.iter().all(|name| found[*name].is_null()), "{scope}: {found}");
    }
}

/// An order of scopes, and what an authorization server must ignore (RFC 6749, section 3.1).
#[tokio::test]
async fn oidcc_requests_with_what_changes_nothing_succeed() {
    let rp = op().await;
    for others in [
        [("scope", "email openid"), ("x", "")],
        [("display", "page"), ("x", "")],
        [("display", "popup"), ("x", "")],
        [("extra", "foobar"), ("x", "y")],
        [("ui_locales", "se"), ("x", "")],
        [("claims_locales", "se"), ("x", "")],
        [("login_hint", "buffy@example.com"), ("x", "")],
    ] {
        verify(&rp, &sign_in(&rp, &others).await, "a nonce").await;
    }
}

#[tokio::test]
async fn oidcc_prompt_login_and_none() {
    let rp = Rp::asking(&shared()).await.at_issuer();
    let none = [("prompt", "none")];
    assert_eq!(rp.told(&none).await["error"], "login_required");
    let (_, rid) = rp.page(&[]).await;
    let chosen = rp.choose(&rid, rp.user["id"].as_str().unwrap()).await.expect(303);
    let first = rp.redeem(&told(&chosen)["code"]).await.expect(200).json();
    let cookie = cookie_of(&chosen);
    // The same person, of the same time.
    let again = rp.authorize_as(&cookie, &none).await.expect(303);
    let again = rp.redeem(&told(&again)["code"]).await.expect(200).json();
    let both = [claims(&first["id_token"]), claims(&again["id_token"])];
    for name in ["sub", "auth_time"] {
        assert_eq!(both[0][name], both[1][name], "{name}");
    }
    let asked = rp.authorize_as(&cookie, &[("prompt", "login")]).await.expect(303);
    assert!(asked.header("location").contains("/login?rid="), "{asked}");
    // Who is meant is said by an earlier ID token.
    let hint = first["id_token"].as_str().unwrap();
    let hinted = [("prompt", "none"), ("id_token_hint", hint)];
    let hinted = told(&rp.authorize_as(&cookie, &hinted).await.expect(303));
    assert!(hinted.contains_key("code"), "{hinted:?}");
}

#[tokio::test]
async fn oidcc_max_age() {
    let (server, clock) = Deployment::with_clock(&[]);
    let rp = Rp::asking(&server).await;
    let (_, rid) = rp.page(&[]).await;
    let chosen = rp.choose(&rid, rp.user["id"].as_str().unwrap()).await.expect(303);
    let cookie = cookie_of(&chosen);
    clock.jump(Duration::from_secs(2));
    let old = told(&rp.authorize_as(&cookie, &[("max_age", "10000")]).await.expect(303));
    let tokens = rp.redeem(&old["code"]).await.expect(200).json();
    assert!(claims(&tokens["id_token"])["auth_time"].is_i64());
    // The process looks at its clock in a moment, which a busy machine makes long.
    trapline_tests::eventually("a page to sign in again", async || {
        let asked = rp.authorize_as(&cookie, &[("max_age", "1")]).await.expect(303);
        asked.header("location").contains("/login?rid=").then_some(())
    })
    .await;
    let none = [("max_age", "1"), ("prompt", "none")];
    let none = told(&rp.authorize_as(&cookie, &none).await.expect(303));
    assert_eq!(none["error"], "login_required");
}

#[tokio::test]
async fn oidcc_ensure_request_with_acr_values_succeeds() {
    let rp = op().await;
    let tokens = sign_in(&rp, &[("acr_values", "urn:one urn:two")]).await;
    assert_eq!(claims(&tokens["id_token"])["acr"], "urn:one");
}

#[tokio::test]
async fn oidcc_codereuse_at_once_and_after_30_seconds() {
    let (server, clock) = Deployment::with_clock(&[]);
    let rp = Rp::new(&server).await;
    for wait in [0, 30] {
        let code = rp.code().await;
        let tokens = rp.redeem(&code).await.expect(200).json();
        clock.jump(Duration::from_secs(wait));
        assert_eq!(rp.redeem(&code).await.error(400).json()["error"], "invalid_grant");
        rp.userinfo(&tokens).await.error(401);
    }
}

#[tokio::test]
async fn oidcc_ensure_registered_redirect_uri() {
    let rp = op().await;
    for uri in ["https://app.example/callback2", "https://app.example/callback?foo=bar", ""] {
        let answer = rp.authorize(&[("redirect_uri", uri)]).await.expect(400);
        assert!(answer.header("location").is_empty(), "{answer}");
    }
}

#[tokio::test]
async fn oidcc_ensure_post_request_succeeds() {
    let rp = op().await;
    let path = rp.path("authorize");
    let posted = Answer::to(rp.rest().request("POST", &path).form(&rp.query(&[]))).await;
    let back = rp.rest().get(posted.expect(303).header("location")).await.expect(303);
    rp.redeem(&told(&back)["code"]).await.expect(200);
}

#[tokio::test]
async fn oidcc_server_client_secret_post_and_pkce() {
    let rp = op().await;
    let (id, secret) = rp.secret();
    for secret in [Some(secret), None] {
        let code = rp.code().await;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", &*code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", super::rp::VERIFIER),
            ("client_id", id),
        ];
        form.extend(secret.map(|secret| ("client_secret", secret)));
        verify(&rp, &rp.form("token", &form).await.expect(200).json(), "a nonce").await;
    }
}

#[tokio::test]
async fn oidcc_request_objects_are_refused() {
    let rp = op().await;
    let unsigned = "eyJhbGciOiJub25lIn0.e30.";
    let by_value = rp.told(&[("request", unsigned)]).await;
    assert_eq!(by_value["error"], "request_not_supported");
    let by_reference = rp.told(&[("request_uri", "https://app.example/request")]).await;
    assert_eq!(by_reference["error"], "request_uri_not_supported");
}

#[tokio::test]
async fn oidcc_claims_essential() {
    let rp = op().await;
    let wanted = r#"{"userinfo":{"name":{"essential":true}},"id_token":{"email":null}}"#;
    let tokens = sign_in(&rp, &[("scope", "openid"), ("claims", wanted)]).await;
    assert_eq!(rp.userinfo(&tokens).await.expect(200).json()["name"], "Ada");
    assert_eq!(claims(&tokens["id_token"])["email"], "ada@example.com");
}

#[tokio::test]
async fn oidcc_refresh_token() {
    let rp = op().await;
    let first = sign_in(&rp, &[]).await;
    let next = rp.refresh(first["refresh_token"].as_str().unwrap()).await.expect(200).json();
    let both = [claims(&first["id_token"]), claims(&next["id_token"])];
    for name in ["iss", "sub", "aud", "auth_time"] {
        assert_eq!(both[0][name], both[1][name], "{name}");
    }
    rp.userinfo(&next).await.expect(200);
    let without = sign_in(&rp, &[("scope", "openid")]).await;
    assert!(without["refresh_token"].is_null(), "{without}");
}

/// What the document says is what the endpoints do.
#[tokio::test]
async fn oidcc_discovery_endpoint_verification() {
    let rp = op().await;
    let document = rp.rest().get(&rp.path(".well-known/openid-configuration")).await.expect(200);
    let document = document.json();
    assert_eq!(document["issuer"], rp.idp["issuer"]);
    let issuer = rp.idp["issuer"].as_str().unwrap();
    for (name, path) in [
        ("authorization_endpoint", "authorize"),
        ("token_endpoint", "token"),
        ("userinfo_endpoint", "userinfo"),
        ("jwks_uri", "jwks"),
        ("introspection_endpoint", "introspect"),
        ("revocation_endpoint", "revoke"),
        ("end_session_endpoint", "end_session"),
    ] {
        assert_eq!(document[name], format!("{issuer}/{path}"));
        // There is something, whatever it says to nobody.
        let answer = rp.rest().get(&format!("{issuer}/{path}")).await;
        assert_ne!(answer.status, 404, "{name}: {answer}");
    }
    let list = |name: &str| -> Vec<String> {
        serde_json::from_value(document[name].clone()).unwrap_or_else(|_| panic!("{name}"))
    };
    for mode in list("response_modes_supported") {
        rp.redeem(&by_mode(&rp, &mode).await["code"]).await.expect(200);
    }
    for scope in list("scopes_supported") {
        let asked = format!("openid {scope}");
        assert!(rp.told(&[("scope", &asked)]).await.contains_key("code"), "{scope}");
    }
    for prompt in list("prompt_values_supported") {
        let answer = rp.authorize(&[("prompt", &prompt)]).await.expect(303);
        assert!(!answer.header("location").contains("invalid_request"), "{prompt}: {answer}");
    }
    let plain = [("code_challenge_method", "plain")];
    assert_eq!(list("code_challenge_methods_supported"), ["S256"]);
    assert_eq!(rp.told(&plain).await["error"], "invalid_request");
    assert_eq!(list("response_types_supported"), ["code"]);
    let hybrid = rp.told(&[("response_type", "code id_token")]).await;
    assert_eq!(hybrid["error"], "unsupported_response_type");
}

/// What the application is told, in whichever way.
async fn by_mode(rp: &Rp, mode: &str) -> HashMap<String, String> {
    let answer = rp.authorize(&[("response_mode", mode)]).await;
    if mode != "form_post" {
        return told(&answer.expect(303));
    }
    let page = answer.expect(200);
    let fields = page.text().split("<input type=\"hidden\" name=\"").skip(1);
    let field = |text: &str| {
        let (name, rest) = text.split_once("\" value=\"").unwrap();
        (name.to_owned(), rest.split_once('"').unwrap().0.to_owned())
    };
    fields.map(field).collect()
}

#[tokio::test]
async fn oidcc_form_post() {
    let rp = op().await;
    let sent = by_mode(&rp, "form_post").await;
    assert_eq!((sent["state"].as_str(), &json!(sent["iss"])), ("a state", &rp.idp["issuer"]));
    verify(&rp, &rp.redeem(&sent["code"]).await.expect(200).json(), "a nonce").await;
    let refused = [("response_mode", "form_post"), ("response_type", "token")];
    let page = rp.authorize(&refused).await.expect(200);
    assert!(page.text().contains("value=\"unsupported_response_type\""), "{page}");
}
