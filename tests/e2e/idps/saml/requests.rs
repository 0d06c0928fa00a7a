//! Requests that are refused, and where answers go.

use data_encoding::BASE64;
use serde_json::json;
use trapline_tests::{Answer, shared};

use super::{ACS, AuthnRequest, Form, Rp, SP, ask, newest, provider, redirect};

/// An answer that goes nowhere: a page that says what is wrong, and the same in the log.
async fn refused(rp: &Rp, answer: Answer, code: &str, words: &[&str]) {
    let answer = answer.expect(400);
    let page = answer.text();
    assert!(!page.contains("<form"), "{page}");
    let entry = newest(rp).await;
    assert_eq!((&entry["ok"], &entry["error"]["code"]), (&json!(false), &json!(code)), "{entry}");
    for word in words {
        let hint = entry["error"]["hint"].as_str().unwrap();
        assert!(
            hint.contains(word) && page.contains(&word.replace('&', "&amp;")),
            "{word}: {entry}"
        );
    }
}

#[tokio::test]
async fn a_sign_in_ends_in_a_form_for_the_service_provider() {
    let rp = provider(&shared()).await;
    let state = "a \"state\" <&'>";
    let answer = ask(&rp, &AuthnRequest::new(), &[("RelayState", state)]).await.expect(200);
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("form-action"), "{policy}");
    assert_eq!(answer.header("cache-control"), "no-store");
    let form = Form::of(&answer);
    assert_eq!((form.action.as_str(), form.is_sent), (ACS, true));
    assert_eq!(form.fields["RelayState"], state);
    let xml = form.response();
    for part in [
        " InResponseTo=\"_asked\"",
        "<saml:Audience>https://sp.example</saml:Audience>",
        ">ada@example.com</saml:NameID>",
        "Name=\"groups\"",
        "<saml:AttributeValue>pro</saml:AttributeValue>",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    // A name of the kind that the request wants; one that is unspecified is any.
    for (kind, is_mail) in
        [("1.1:nameid-format:unspecified", true), ("2.0:nameid-format:persistent", false)]
    {
        let policy = format!("<samlp:NameIDPolicy Format=\"urn:oasis:names:tc:SAML:{kind}\"/>");
        let answer = ask(&rp, &AuthnRequest::with("", &policy), &[]).await.expect(200);
        let is_named = Form::of(&answer).response().contains(">ada@example.com</saml:NameID>");
        assert_eq!(is_named, is_mail, "{kind}");
    }
    let entry = newest(&rp).await;
    assert_eq!((&entry["kind"], &entry["clientId"]), (&json!("saml_response"), &json!(SP)));
    let logged = entry["response"]["xml"].as_str().unwrap();
    assert!(logged.contains("<ds:SignatureValue>…</ds:SignatureValue>"), "{logged}");
    assert!(entry["request"]["xml"].as_str().unwrap().contains("AuthnRequest"), "{entry}");
}

#[tokio::test]
async fn requests_for_others_are_refused_and_go_nowhere() {
    let rp = provider(&shared()).await;
    let sso = rp.idp["endpoints"]["samlSso"].as_str().unwrap();
    let good = AuthnRequest::new;
    let elsewhere = "https://evil.example/acs";
    for (request, code, words) in [
        (
            AuthnRequest { destination: elsewhere.into(), ..good() },
            "wrong_destination",
            [sso, elsewhere],
        ),
        (AuthnRequest { issuer: elsewhere.into(), ..good() }, "wrong_issuer", [SP, elsewhere]),
        (AuthnRequest { issuer: String::new(), ..good() }, "wrong_issuer", ["no Issuer", "Issuer"]),
        (AuthnRequest { acs: elsewhere.into(), ..good() }, "wrong_acs", [ACS, elsewhere]),
        (AuthnRequest { acs: format!("{ACS}/"), ..good() }, "wrong_acs", [ACS, "acs/"]),
        (AuthnRequest::with("", "<!DOCTYPE a>"), "malformed_message", ["no XML", "XML"]),
    ] {
        refused(&rp, ask(&rp, &request, &[]).await, code, &words).await;
    }
    let plain = BASE64.encode(good().xml().as_bytes());
    let path = rp.path("saml/sso");
    let query = [("SAMLRequest", plain.as_str())];
    let answer = Answer::to(rp.rest().request("GET", &path).query(&query)).await;
    refused(&rp, answer, "malformed_message", &["not deflated"]).await;
    let unknown = [("mock_fault", "alg_none")];
    let answer = ask(&rp, &good(), &unknown).await;
    refused(&rp, answer, "invalid_request", &["alg_none"]).await;
    // The right ones are taken, with more behind the address too.
    let destination = format!("{sso}?mock_fault=tampered");
    let request = AuthnRequest { destination, acs: String::new(), ..good() };
    let answer = ask(&rp, &request, &[("mock_fault", "tampered")]).await.expect(200);
    assert!(Form::of(&answer).response().contains("attacker@forged.invalid"));
}

#[tokio::test]
async fn an_address_that_only_the_request_names_wants_a_click() {
    let rp = Rp::new(&shared()).await;
    let answer = ask(&rp, &AuthnRequest::new(), &[]).await.expect(200);
    let form = Form::of(&answer);
    assert_eq!((form.action.as_str(), form.is_sent), (ACS, false));
    assert!(answer.text().contains("nobody configured"), "{answer}");
    let passive = AuthnRequest::with(" IsPassive=\"true\"", "");
    rp.set(json!({ "autoLoginUserId": null })).await;
    assert!(!Form::of(&ask(&rp, &passive, &[]).await.expect(200)).is_sent);
    // A provider of people of the team alone does not know who is told that nobody is signed in.
    rp.set(json!({ "requireTeamSession": true })).await;
    assert!(!Form::of(&ask(&rp, &passive, &[]).await.expect(200)).is_sent);
    for acs in
        ["javascript:alert(1)", "data:text/html,x", "//sp.example/acs", "https://a@b/", "ftp://a/"]
    {
        let request = AuthnRequest { acs: acs.to_owned(), ..AuthnRequest::new() };
        refused(&rp, ask(&rp, &request, &[]).await, "wrong_acs", &[acs]).await;
    }
    let none = AuthnRequest { acs: String::new(), ..AuthnRequest::new() };
    refused(&rp, ask(&rp, &none, &[]).await, "wrong_acs", &["samlAcsUrl is not set"]).await;
    let path = rp.path("saml/sso");
    refused(&rp, rp.rest().get(&path).await, "wrong_issuer", &["samlSpEntityId"]).await;
}

#[tokio::test]
async fn what_cannot_be_met_is_told_by_a_signed_response() {
    let rp = provider(&shared()).await;
    let policy = "<samlp:NameIDPolicy Format=\"urn:example:x509\"/>";
    let artifact = " ProtocolBinding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact\"";
    rp.set(json!({ "autoLoginUserId": null })).await;
    for (request, top, sub) in [
        (AuthnRequest::with(artifact, ""), "Requester", "UnsupportedBinding"),
        (AuthnRequest::with("", policy), "Requester", "InvalidNameIDPolicy"),
        (AuthnRequest::with(" IsPassive=\"1\"", ""), "Responder", "NoPassive"),
    ] {
        let xml = Form::of(&ask(&rp, &request, &[]).await.expect(200)).response();
        for word in [top, sub] {
            assert!(xml.contains(&format!("status:{word}\"")), "{word}: {xml}");
        }
        assert!(xml.contains("<ds:Signature ") && !xml.contains("Assertion>"), "{xml}");
        assert_eq!(newest(&rp).await["ok"], false);
    }
}

#[tokio::test]
async fn bombs_are_refused() {
    let rp = provider(&shared()).await;
    let nested = format!("{}{}", "<a>".repeat(5_000), "</a>".repeat(5_000));
    let path = rp.path("saml/sso");
    for xml in [
        AuthnRequest::with("", &nested).xml(),
        AuthnRequest::with("", &"<a/>".repeat(20_000)).xml(),
        AuthnRequest::with("", &" ".repeat(2 << 20)).xml(),
        format!(
            "<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;\">]>{}",
            AuthnRequest::new().xml()
        ),
    ] {
        let answer = redirect(rp.rest(), &path, &xml, &[]).await;
        refused(&rp, answer, "malformed_message", &[]).await;
    }
}

#[tokio::test]
async fn metadata_and_certificate_are_of_the_key_that_signs() {
    let rp = provider(&shared()).await.at_issuer();
    let metadata = rp.rest().get(&rp.path("saml/metadata")).await.expect(200);
    assert_eq!(metadata.header("content-type"), "application/samlmetadata+xml");
    let xml = metadata.text().to_owned();
    let issuer = rp.idp["issuer"].as_str().unwrap();
    assert_eq!(rp.idp["samlMetadataUrl"], json!(format!("{issuer}/saml/metadata")));
    assert_eq!(super::attribute(&xml, "entityID"), format!("{issuer}/saml/metadata"));
    let pem = rp.rest().get(&rp.path("saml/certificate")).await.expect(200).text().to_owned();
    assert_eq!(json!(pem), rp.idp["signingKey"]["certificate"]);
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    assert!(xml.contains(&body), "{xml}");
    for name in ["metadata", "certificate", "sso", "slo"] {
        rp.rest().get(&format!("/idp/none/saml/{name}")).await.error(404);
    }
}
