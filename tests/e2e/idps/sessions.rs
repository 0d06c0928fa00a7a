//! Who is signed in: chosen on a page, remembered by a cookie, named by the request.

use serde_json::json;
use trapline_tests::{Answer, altered, shared, shared_under_one_name};

use super::{
    path_of,
    rp::{CALLBACK, Rp, claims, told},
};

impl Rp {
    /// The same request with a cookie.
    pub(super) async fn authorize_as(&self, cookie: &str, others: &[(&str, &str)]) -> Answer {
        let path = self.path("authorize");
        let request = self.rest().request("GET", &path).query(&self.query(others));
        Answer::to(request.header("cookie", cookie)).await
    }

    /// The page that a request leads to, and its `rid`.
    pub(super) async fn page(&self, others: &[(&str, &str)]) -> (Answer, String) {
        let answer = self.authorize(others).await.expect(303);
        let location = answer.header("location");
        let rid = location.split_once("/login?rid=").unwrap_or_else(|| panic!("{answer}")).1;
        let rid = rid.to_owned();
        let page = self.rest().query(&self.path("login"), &[("rid", &rid)]).await;
        (page, rid)
    }

    pub(super) async fn choose(&self, rid: &str, user: &str) -> Answer {
        self.form("login", &[("rid", rid), ("user", user)]).await
    }
}

pub(super) fn cookie_of(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn somebody_chooses_a_user_and_stays_signed_in() {
    let rp = Rp::asking(&shared()).await;
    let (page, rid) = rp.page(&[]).await;
    let text = page.clone().expect(200).text().to_owned();
    assert!(text.contains("Do not enter real credentials") && text.contains("ada@example.com"));
    assert!(!text.contains("type=\"password\"") && !text.contains("<script"), "{text}");
    assert!(!page.header("content-security-policy").contains("form-action"), "{page}");
    let chosen = rp.choose(&rid, rp.user["id"].as_str().unwrap()).await.expect(303);
    let cookie = chosen.header("set-cookie").to_owned();
    assert!(cookie.contains("HttpOnly; SameSite=Lax") && cookie.contains("Path=/idp/"), "{cookie}");
    let tokens = rp.redeem(&told(&chosen)["code"]).await.expect(200).json();

    let cookie = cookie_of(&chosen);
    let again = rp.authorize_as(&cookie, &[("prompt", "none")]).await.expect(303);
    let same = rp.redeem(&told(&again)["code"]).await.expect(200).json();
    assert_eq!(claims(&same["id_token"])["sid"], claims(&tokens["id_token"])["sid"]);
    // Whoever is to be asked is, and the cookie of one provider is nothing at another.
    for others in [[("prompt", "login")], [("prompt", "select_account")]] {
        let asked = rp.authorize_as(&cookie, &others).await.expect(303);
        assert!(asked.header("location").contains("/login?rid="), "{asked}");
    }
    let other = Rp::asking(&shared()).await;
    let asked = other.authorize_as(&cookie, &[("prompt", "none")]).await.expect(303);
    assert_eq!(told(&asked)["error"], "login_required");
    // The log joins what belongs together.
    let log = rp.log().await;
    let login = log.iter().find(|entry| entry["kind"] == "login").unwrap();
    assert!(log.iter().any(|it| it["kind"] == "token" && it["flow"] == login["flow"]), "{log:?}");
}

#[tokio::test]
async fn somebody_denies_or_comes_too_late() {
    let rp = Rp::asking(&shared()).await;
    let (_, rid) = rp.page(&[]).await;
    let denied = rp.form("login", &[("rid", &rid), ("deny", "1")]).await.expect(303);
    assert_eq!(told(&denied)["error"], "access_denied");
    rp.choose("none", rp.user["id"].as_str().unwrap()).await.expect(410);
    rp.choose(&rid, "nobody").await.expect(400);
    let path = rp.path("login");
    let user = rp.user["id"].as_str().unwrap();
    let foreign = rp.rest().request("POST", &path).header("sec-fetch-site", "cross-site");
    Answer::to(foreign.form(&[("rid", rid.as_str()), ("user", user)])).await.expect(403);
    // Another provider's request is not there.
    let other = Rp::asking(&shared()).await;
    other.choose(&rid, user).await.expect(410);
}

#[tokio::test]
async fn a_posted_request_comes_back_by_a_get() {
    let rp = Rp::new(&shared()).await;
    let path = rp.path("authorize");
    let posted =
        Answer::to(rp.rest().request("POST", &path).form(&rp.query(&[]))).await.expect(303);
    let back = rp.rest().get(posted.header("location")).await.expect(303);
    rp.redeem(&told(&back)["code"]).await.expect(200);
}

#[tokio::test]
async fn hints_and_prompts_decide_who_is_signed_in() {
    let rp = Rp::new(&shared()).await;
    let bob = json!({ "email": "bob@example.com", "name": "Bob", "subject": "bob" });
    rp.keyed().post(&format!("{}/users", path_of(&rp.idp)), bob).await.expect(201);
    for (hint, subject) in [
        ("bob@example.com", "bob"),
        ("BOB@example.com", "bob"),
        ("bob", "bob"),
        ("nobody@example.com", rp.user["subject"].as_str().unwrap()),
    ] {
        let code = rp.told(&[("login_hint", hint)]).await["code"].clone();
        let tokens = rp.redeem(&code).await.expect(200).json();
        assert_eq!(claims(&tokens["id_token"])["sub"], subject, "{hint}");
    }
    let asked = rp.authorize(&[("prompt", "login")]).await.expect(303);
    assert!(asked.header("location").contains("/login?rid="), "{asked}");
    rp.set(json!({ "autoLoginOnPrompt": true })).await;
    assert!(rp.told(&[("prompt", "login")]).await.contains_key("code"));
    rp.set(json!({ "autoLoginUserId": null })).await;
    assert_eq!(rp.told(&[("prompt", "none")]).await["error"], "login_required");
    let hinted = rp.told(&[("prompt", "none"), ("login_hint", "bob")]).await;
    assert_eq!(hinted["error"], "login_required");
}

#[tokio::test]
async fn a_provider_for_the_team_lets_no_stranger_in() {
    let server = shared();
    // Where nobody signs in, everybody is of the first team.
    let rp = Rp::of(&server, server.client(server.second_team().key())).await;
    rp.set(json!({ "requireTeamSession": true, "autoLoginUserId": rp.user["id"] })).await;
    // A key is no session.
    let path = rp.path("authorize");
    let request = rp.keyed().request("GET", &path).query(&rp.query(&[]));
    Answer::to(request).await.expect(403);
    assert_eq!(rp.told(&[("prompt", "none")]).await["error"], "login_required");
}

#[tokio::test]
async fn a_session_ends_where_the_hint_is_good_and_only_there() {
    let rp = Rp::new(&shared_under_one_name()).await;
    let home = "https://app.example/bye?a=b";
    rp.set(json!({ "postLogoutRedirectUris": [home] })).await;
    let tokens = rp.tokens().await;
    let hint = tokens["id_token"].as_str().unwrap();
    let end = async |query: &[(&str, &str)]| rp.rest().query(&rp.path("end_session"), query).await;
    let query = [("id_token_hint", hint), ("post_logout_redirect_uri", home), ("state", "x y")];
    let ended = end(&query).await.expect(303);
    assert_eq!(ended.header("location"), format!("{home}&state=x+y"));
    assert!(ended.header("set-cookie").contains("Max-Age=0"), "{ended}");
    end(&[("id_token_hint", hint)]).await.expect(200);
    // The sign-in itself goes on.
    rp.userinfo(&tokens).await.expect(200);
    let signature = hint.rfind('.').unwrap() + 1;
    let altered = format!("{}{}", &hint[..signature], altered(&hint[signature..]));
    for wrong in [
        vec![],
        vec![("state", "x")],
        vec![("id_token_hint", "none")],
        vec![("id_token_hint", &*altered)],
        vec![("id_token_hint", hint), ("client_id", "another")],
        vec![("id_token_hint", hint), ("post_logout_redirect_uri", "https://app.example/bye")],
        vec![("id_token_hint", hint), ("post_logout_redirect_uri", CALLBACK)],
        vec![("post_logout_redirect_uri", home)],
    ] {
        let asked = end(&wrong).await.expect(400);
        assert!(
            asked.header("location").is_empty() && asked.text().contains("Sign out"),
            "{asked}"
        );
        assert!(asked.header("set-cookie").is_empty(), "{asked}");
    }
    rp.form("end_session", &[("confirmed", "1")]).await.expect(200);
}
