//! Sign-ins without a browser, each step at another process.

use futures_util::future::join_all;
use serde_json::{Value, json};
use trapline_tests::{Answer, shared_under_one_name};

use super::{
    path_of,
    rp::{CALLBACK, Rp, claims, mark, told},
};

#[tokio::test]
async fn a_sign_in_gives_tokens_that_say_who_it_is() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let told = rp.told(&[]).await;
    assert_eq!((told["state"].as_str(), &json!(told["iss"])), ("a state", &rp.idp["issuer"]));
    let tokens = rp.redeem(&told["code"]).await.expect(200);
    assert_eq!(tokens.header("cache-control"), "no-store");
    let tokens = tokens.json();
    let id = claims(&tokens["id_token"]);
    for (name, value) in [
        ("iss", &rp.idp["issuer"]),
        ("aud", &rp.idp["clientId"]),
        ("sub", &rp.user["subject"]),
        ("nonce", &json!("a nonce")),
        ("email", &json!("ada@example.com")),
        ("groups", &json!(["ops"])),
        ("plan", &json!("pro")),
    ] {
        assert_eq!(&id[name], value, "{name}");
    }
    let access = claims(&tokens["access_token"]);
    assert_eq!((&access["plan"], &access["email"]), (&json!("pro"), &Value::Null));
    let info = rp.userinfo(&tokens).await.expect(200).json();
    assert_eq!((&info["sub"], &info["name"]), (&id["sub"], &json!("Ada")));
    // The user as it is now.
    let user = format!("{}/users/{}", path_of(&rp.idp), rp.user["id"].as_str().unwrap());
    rp.keyed().patch(&user, json!({ "name": "Countess" })).await.expect(200);
    assert_eq!(rp.userinfo(&tokens).await.expect(200).json()["name"], "Countess");
    rp.keyed().delete(&user).await.expect(204);
    rp.userinfo(&tokens).await.error(401);
}

/// Whoever reads the log sees all but what opens something.
#[tokio::test]
async fn the_log_tells_of_each_step_and_holds_no_secret() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let code = rp.code().await;
    let tokens = rp.redeem(&code).await.expect(200).json();
    rp.redeem(&code).await.error(400);
    let log = rp.log().await;
    let kinds: Vec<_> = log.iter().map(|it| (it["kind"].as_str().unwrap(), &it["ok"])).collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(kinds, [("token", &no), ("token", &yes), ("authorize", &yes)]);
    assert_eq!(log[1]["flow"], log[2]["flow"]);
    assert_eq!(log[0]["error"]["code"], "invalid_grant");
    assert_eq!(log[1]["response"]["id_token"]["claims"]["sub"], rp.user["subject"]);
    let text = json!(log).to_string();
    let signature =
        |name: &str| tokens[name].as_str().unwrap().rsplit('.').next().unwrap().to_owned();
    let secrets = [
        code.clone(),
        rp.secret().1.to_owned(),
        tokens["refresh_token"].as_str().unwrap().to_owned(),
        signature("id_token"),
        signature("access_token"),
    ];
    for secret in secrets {
        assert!(!text.contains(&secret), "{secret} is in {text}");
    }
    // One value is told from another.
    assert!(text.contains(&mark(&code)), "{text}");
}

#[tokio::test]
async fn a_code_works_once_and_its_reuse_ends_what_it_led_to() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let code = rp.code().await;
    let tokens = rp.redeem(&code).await.expect(200).json();
    rp.userinfo(&tokens).await.expect(200);
    let again = rp.redeem(&code).await.error(400).json();
    assert_eq!(again["error"], "invalid_grant");
    rp.userinfo(&tokens).await.error(401);
    let refresh = tokens["refresh_token"].as_str().unwrap();
    assert_eq!(rp.refresh(refresh).await.error(400).json()["error"], "invalid_grant");
}

#[tokio::test]
async fn of_many_that_redeem_a_code_at_once_one_does() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let code = rp.code().await;
    let answers = join_all((0..40).map(|_| rp.redeem(&code))).await;
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    let good = statuses.iter().filter(|status| **status == 200).count();
    assert_eq!(good, 1, "{statuses:?}");
}

#[tokio::test]
async fn refresh_tokens_rotate_and_their_reuse_ends_the_sign_in() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let first = rp.tokens().await;
    let text = |tokens: &Value| tokens["refresh_token"].as_str().unwrap().to_owned();
    let second = rp.refresh(&text(&first)).await.expect(200).json();
    assert_ne!(text(&first), text(&second));
    let (before, after) = (claims(&first["id_token"]), claims(&second["id_token"]));
    for name in ["iss", "sub", "aud", "auth_time", "azp", "sid"] {
        assert_eq!(before[name], after[name], "{name}");
    }
    assert!(after["nonce"].is_null(), "{after}");
    // A lost answer is no theft: within the grace the successor is the same.
    let repeated = rp.refresh(&text(&first)).await.expect(200).json();
    assert_eq!(text(&repeated), text(&second));
    rp.set(json!({ "refreshReuseGrace": 0 })).await;
    let third = rp.refresh(&text(&second)).await.expect(200).json();
    assert_eq!(rp.refresh(&text(&second)).await.error(400).json()["error"], "invalid_grant");
    assert_eq!(rp.refresh(&text(&third)).await.error(400).json()["error"], "invalid_grant");
    rp.userinfo(&third).await.error(401);
}

#[tokio::test]
async fn random_text_ends_no_sign_in() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let tokens = rp.tokens().await;
    let refresh = tokens["refresh_token"].as_str().unwrap();
    for wrong in [&refresh[1..], &refresh[..refresh.len() - 1], "x", &format!("{refresh}.0")] {
        rp.refresh(wrong).await.error(400);
    }
    rp.refresh(refresh).await.expect(200);
}

#[tokio::test]
async fn a_revoked_token_is_worth_nothing_anywhere() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let (id, secret) = rp.secret();
    let tokens = rp.tokens().await;
    let access = tokens["access_token"].as_str().unwrap();
    let with = |token: &str| -> Vec<(String, String)> {
        let all = [("token", token), ("client_id", id), ("client_secret", secret)];
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    };
    let ask = async |name: &str, token: &str| {
        let path = rp.path(name);
        Answer::to(rp.rest().request("POST", &path).form(&with(token))).await.expect(200)
    };
    let shown = ask("introspect", access).await.json();
    assert_eq!((&shown["active"], &shown["username"]), (&json!(true), &json!("ada@example.com")));
    ask("revoke", tokens["refresh_token"].as_str().unwrap()).await;
    assert_eq!(ask("introspect", access).await.json(), json!({ "active": false }));
    rp.userinfo(&tokens).await.error(401);
    ask("revoke", "none of ours").await;

    // A token of the client itself.
    let form = [("grant_type", "client_credentials"), ("scope", "orders:read")];
    let own = rp.token(&form).await.expect(200).json();
    assert!(own["refresh_token"].is_null() && own["id_token"].is_null(), "{own}");
    let own = own["access_token"].as_str().unwrap();
    assert_eq!(ask("introspect", own).await.json()["scope"], "orders:read");
    ask("revoke", own).await;
    assert_eq!(ask("introspect", own).await.json(), json!({ "active": false }));
}

/// A token, code or hint of one provider is worth nothing at another, of the same team too.
#[tokio::test]
async fn what_one_provider_gave_is_nothing_at_another() {
    let server = shared_under_one_name();
    let (one, other) = (Rp::new(&server).await, Rp::new(&server).await);
    let tokens = one.tokens().await;
    other.userinfo(&tokens).await.error(401);
    other.redeem(&one.code().await).await.error(400);
    other.refresh(tokens["refresh_token"].as_str().unwrap()).await.error(400);
    let hint = tokens["id_token"].as_str().unwrap();
    assert_eq!(other.told(&[("id_token_hint", hint)]).await["error"], "invalid_request");
}

#[tokio::test]
async fn keys_rotate_and_what_old_ones_signed_stays_good() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let tokens = rp.tokens().await;
    let rotate = format!("{}/rotate", path_of(&rp.idp));
    let rotated = rp.keyed().post(&rotate, json!({ "what": "keys" })).await.expect(200).json();
    let keys = rp.rest().get(&rp.path("jwks")).await.expect(200).json();
    let kids: Vec<_> = keys["keys"].as_array().unwrap().iter().map(|key| &key["kid"]).collect();
    assert_eq!(kids, [&rotated["signingKey"]["kid"], &rp.idp["signingKey"]["kid"]]);
    assert!(!keys.to_string().contains("\"d\""), "{keys}");
    rp.userinfo(&tokens).await.expect(200);
    rp.userinfo(&rp.tokens().await).await.expect(200);
    rp.keyed().post(&rotate, json!({ "what": "secret" })).await.expect(200);
    let answer = rp.redeem(&rp.code().await).await.error(401);
    assert_eq!(answer.json()["error"], "invalid_client");
    assert_eq!(answer.header("www-authenticate"), "Basic realm=\"token\"");
}

#[tokio::test]
async fn a_deleted_provider_is_not_there_for_anybody() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let tokens = rp.tokens().await;
    rp.keyed().delete(&path_of(&rp.idp)).await.expect(204);
    rp.userinfo(&tokens).await.error(404);
    rp.authorize(&[]).await.error(404);
    rp.rest().get(&rp.path("jwks")).await.error(404);
}

#[tokio::test]
async fn answers_come_by_query_fragment_or_form() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let answer = rp.authorize(&[("response_mode", "fragment")]).await.expect(303);
    assert!(answer.header("location").starts_with(&format!("{CALLBACK}#")), "{answer}");
    assert!(told(&answer).contains_key("code"));
    let page =
        rp.authorize(&[("response_mode", "form_post"), ("state", "<b>\"'&")]).await.expect(200);
    let text = page.text();
    assert!(text.contains(&format!("action=\"{CALLBACK}\"")), "{text}");
    assert!(!text.contains("<b>") && text.contains("&lt;b&gt;"), "{text}");
    assert!(!page.header("content-security-policy").contains("form-action"), "{page}");
}
