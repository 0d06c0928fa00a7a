//! Who is signed in, and logouts.

use data_encoding::BASE64;
use serde_json::json;
use trapline_tests::{Answer, shared};

use super::{
    AuthnRequest, Form, Rp, SP, ask, attribute,
    messages::{deflated, logout_request},
    newest, provider,
};

const SLO: &str = "https://sp.example/slo";

impl Rp {
    /// A GET as the browser of somebody with this cookie makes it.
    async fn with_cookie(&self, path: &str, cookie: &str, query: &[(&str, &str)]) -> Answer {
        let request = self.rest().request("GET", &self.path(path)).header("cookie", cookie);
        Answer::to(request.query(query)).await
    }

    async fn post_saml(&self, path: &str, xml: &str) -> Answer {
        let message = BASE64.encode(xml.as_bytes());
        self.form(path, &[("SAMLRequest", &message), ("RelayState", "a state")]).await
    }

    /// Chooses the only user on the page that waits at this address.
    async fn choose_at(&self, waiting: &Answer) -> Answer {
        let location = waiting.header("location");
        let rid = location.split_once("rid=").unwrap().1.to_owned();
        let page = self.rest().get(location).await.expect(200).text().to_owned();
        assert!(page.contains("Choose a test user") && page.contains(SP), "{page}");
        self.form("login", &[("rid", &rid), ("user", self.user["id"].as_str().unwrap())]).await
    }
}

fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn somebody_chooses_and_stays_signed_in() {
    let rp = Rp::asking(&shared()).await;
    // Nobody configured the address, and the page on which somebody chooses says it.
    let waiting = ask(&rp, &AuthnRequest::new(), &[("RelayState", "a state")]).await.expect(303);
    let answer = rp.choose_at(&waiting).await.expect(200);
    let form = Form::of(&answer);
    assert!(form.is_sent && form.fields["RelayState"] == "a state", "{answer}");
    let cookie = cookie(&answer);
    let message = deflated(&AuthnRequest::new().xml());
    let query = [("SAMLRequest", message.as_str())];
    let again = Form::of(&rp.with_cookie("saml/sso", &cookie, &query).await.expect(200));
    let index = |form: &Form| attribute(&form.response(), "SessionIndex");
    assert_eq!(index(&form), index(&again));
    let forced = deflated(&AuthnRequest::with(" ForceAuthn=\"true\"", "").xml());
    let query = [("SAMLRequest", forced.as_str())];
    rp.with_cookie("saml/sso", &cookie, &query).await.expect(303);
    // By the POST binding, whose requests come without the cookie.
    let waiting = rp.post_saml("saml/sso", &AuthnRequest::new().xml()).await.expect(303);
    let form = Form::of(&rp.choose_at(&waiting).await.expect(200));
    assert_eq!(form.fields["RelayState"], "a state");
}

#[tokio::test]
async fn denial_and_hints_and_the_teams_door() {
    let rp = provider(&shared()).await;
    rp.set(json!({ "autoLoginUserId": null })).await;
    let waiting = ask(&rp, &AuthnRequest::new(), &[]).await.expect(303);
    let rid = waiting.header("location").split_once("rid=").unwrap().1.to_owned();
    let denied = rp.form("login", &[("rid", &rid), ("deny", "1")]).await.expect(200);
    assert!(Form::of(&denied).response().contains("status:AuthnFailed"), "{denied}");
    rp.set(json!({ "autoLoginUserId": rp.user["id"] })).await;
    let other = json!({ "email": "bob@example.com", "name": "Bob" });
    let users = format!("{}/users", super::path_of(&rp.idp));
    rp.keyed().post(&users, other).await.expect(201);
    let subject = "<saml:Subject><saml:NameID>bob@example.com</saml:NameID></saml:Subject>";
    let hinted = ask(&rp, &AuthnRequest::with("", subject), &[]).await.expect(200);
    assert!(Form::of(&hinted).response().contains(">bob@example.com</saml:NameID>"));
    let by_name = [("login_hint", "fault:missing_email;bob@example.com")];
    let hinted = Form::of(&ask(&rp, &AuthnRequest::new(), &by_name).await.expect(200)).response();
    assert!(hinted.contains(">Bob<") && !hinted.contains("Name=\"email\""), "{hinted}");
    rp.set(json!({ "requireTeamSession": true })).await;
    let page = ask(&rp, &AuthnRequest::new(), &[]).await.expect(403).text().to_owned();
    assert!(page.contains("requireTeamSession"), "{page}");
}

#[tokio::test]
async fn logouts_of_either_side() {
    let rp = provider(&shared()).await;
    let signed_in = ask(&rp, &AuthnRequest::new(), &[]).await.expect(200);
    let cookie = cookie(&signed_in);
    let index = attribute(&Form::of(&signed_in).response(), "SessionIndex");
    let request = deflated(&logout_request("ada@example.com", &index));
    let query = [("SAMLRequest", request.as_str()), ("RelayState", "a state")];
    let told = rp.with_cookie("saml/slo", &cookie, &query).await.expect(200);
    assert!(told.text().contains("samlSloUrl") && told.header("set-cookie").contains("Max-Age=0"));

    rp.set(json!({ "samlSloUrl": SLO })).await;
    let told = rp.with_cookie("saml/slo", &cookie, &query).await.expect(303);
    let location = told.header("location");
    assert!(location.starts_with(&format!("{SLO}?SAMLResponse=")), "{location}");
    assert!(location.contains("&RelayState=a+state&SigAlg=") && location.contains("&Signature="));
    assert!(told.header("set-cookie").contains("Max-Age=0"), "{told}");
    let entry = newest(&rp).await;
    assert_eq!((&entry["kind"], &entry["ok"]), (&json!("saml_logout"), &json!(true)), "{entry}");
    assert!(entry["summary"].as_str().unwrap().ends_with("signed somebody out."), "{entry}");
    assert!(entry["response"]["xml"].as_str().unwrap().contains("status:Success"), "{entry}");

    // The form of another site comes without the cookie, and ends the session all the same.
    let form = rp.post_saml("saml/slo", &logout_request("eve", "none")).await.expect(200);
    assert!(form.header("set-cookie").contains("Max-Age=0"), "{form}");
    let form = Form::of(&form);
    assert_eq!((form.action.as_str(), form.fields["RelayState"].as_str()), (SLO, "a state"));
    assert!(form.response().contains("InResponseTo=\"_leaving\""), "{}", form.response());

    let begun = rp.with_cookie("saml/slo", &cookie, &[]).await.expect(303);
    assert!(begun.header("location").starts_with(&format!("{SLO}?SAMLRequest=")), "{begun}");
    assert!(newest(&rp).await["response"]["xml"].as_str().unwrap().contains(&index));
    // Without a sign-in by SAML nobody is told.
    rp.rest().get(&rp.path("saml/slo")).await.expect(200);
    let elsewhere = logout_request("ada", "1").replace(SP, "https://evil.example");
    rp.post_saml("saml/slo", &elsewhere).await.expect(400);
    assert_eq!(newest(&rp).await["error"]["code"], "wrong_issuer");
}

#[tokio::test]
async fn faults_wait_for_one_protocol_only() {
    let rp = provider(&shared()).await;
    let path = format!("{}/faults", super::path_of(&rp.idp));
    let fault = json!({ "scenario": "wrong_audience", "protocol": "saml" });
    let made = rp.keyed().post(&path, fault).await.expect(201).json();
    assert_eq!(made["protocol"], "saml");
    rp.tokens().await;
    let signed_in =
        async || Form::of(&ask(&rp, &AuthnRequest::new(), &[]).await.expect(200)).response();
    assert!(signed_in().await.contains(">wrong-audience<"));
    assert!(signed_in().await.contains(&format!("<saml:Audience>{SP}<")));
    let wrong = json!({ "scenario": "alg_none", "protocol": "saml" });
    assert_eq!(rp.keyed().post(&path, wrong).await.error(400).issues(), ["protocol"]);
    // One of the other protocol waits for a sign-in of that one.
    rp.keyed().post(&path, json!({ "scenario": "wrong_nonce" })).await.expect(201);
    assert!(signed_in().await.contains("_asked"));
    assert_eq!(rp.keyed().get(&path).await.expect(200).json().as_array().unwrap().len(), 1);
}
