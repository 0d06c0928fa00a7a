//! Whatever opens something is in no log line, no metric and no entry of the activity log.

use serde_json::{Value, json};
use trapline_tests::{Answer, Deployment, Rest};

use super::{
    path_of,
    rp::{CALLBACK, Rp, VERIFIER},
};

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What makes a token one: its last part, without which nobody takes it.
fn signature(token: &Value) -> String {
    text(token).rsplit('.').next().unwrap().to_owned()
}

#[tokio::test]
async fn no_secret_code_or_token_is_anywhere() {
    let flags = ["--log", "debug,rustls=error", "--metrics-token", "metrics"];
    let server = Deployment::with(&flags);
    let rp = Rp::new(&server).await.at_issuer();
    let (id, secret) = rp.secret();
    let mut secrets = vec![secret.to_owned(), VERIFIER.to_owned(), "a-wrong-secret".to_owned()];
    let code = rp.code().await;
    let tokens = rp.redeem(&code).await.expect(200).json();
    rp.userinfo(&tokens).await.expect(200);
    let next = rp.refresh(&text(&tokens["refresh_token"])).await.expect(200).json();
    for tokens in [&tokens, &next] {
        secrets.extend(["id_token", "access_token"].map(|name| signature(&tokens[name])));
        secrets.push(text(&tokens["refresh_token"]));
    }
    // What is refused is told of most, and in each place that a secret can come in.
    for form in [
        vec![("client_secret", "a-wrong-secret"), ("code", &*code)],
        vec![("client_secret", secret), ("code", &*code), ("code_verifier", VERIFIER)],
        vec![("client_secret", secret), ("code", &*code), ("redirect_uri", CALLBACK)],
    ] {
        let common = [("grant_type", "authorization_code"), ("client_id", id)];
        let form: Vec<_> = common.into_iter().chain(form).collect();
        rp.form("token", &form).await;
    }
    let path = rp.path("token");
    let wrong = rp.rest().request("POST", &path).basic_auth(id, Some("a-wrong-secret"));
    Answer::to(wrong.form(&[("grant_type", "client_credentials")])).await.error(401);
    for name in ["introspect", "revoke"] {
        for token in [&tokens["access_token"], &tokens["refresh_token"], &tokens["id_token"]] {
            let token = text(token);
            let form = [("client_id", id), ("client_secret", secret), ("token", &token)];
            rp.form(name, &form).await.expect(200);
        }
    }
    let (hint, altered) = (text(&tokens["id_token"]), format!("{}x", text(&tokens["id_token"])));
    rp.authorize(&[("id_token_hint", &hint)]).await;
    rp.authorize(&[("id_token_hint", &altered)]).await;
    rp.authorize(&[("redirect_uri", "https://elsewhere.example/"), ("id_token_hint", &hint)]).await;
    rp.rest().query(&rp.path("end_session"), &[("id_token_hint", &altered)]).await;
    rp.userinfo(&json!({ "access_token": altered })).await.error(401);
    rp.form("userinfo", &[("access_token", &altered)]).await.error(401);
    rp.keyed().post(&format!("{}/rotate", path_of(&rp.idp)), json!({ "what": "secret" })).await;
    secrets.push(code);

    let log = rp.log().await;
    assert!(log.len() > 15, "{log:?}");
    let mut places = vec![("the activity log", json!(log).to_string()), ("the log", server.log())];
    for address in server.api() {
        let metrics = Rest::new(&address, Some("metrics")).get("/api/metrics").await.expect(200);
        places.push(("metrics", metrics.text().to_owned()));
    }
    assert!(places.iter().any(|(_, found)| found.contains("trapline_idp_signature_seconds")));
    let slug = text(&rp.idp["slug"]);
    for (place, found) in &places {
        assert!(*place != "metrics" || !found.contains(&slug), "the slug is in {found}");
        for secret in &secrets {
            assert!(!found.contains(secret), "{secret} is in {place}: {found}");
        }
    }
}
