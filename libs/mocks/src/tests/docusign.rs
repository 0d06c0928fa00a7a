//! `DocuSign` as its SDKs use it.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde_json::{Value, json};

use super::World;
use crate::{MockAction, Signing, page, sign};

fn path(world: &World, rest: &str) -> String {
    format!("/restapi/v2.1/accounts/{}{rest}", world.credentials["accountId"])
}

fn ask(world: &mut World, method: &str, rest: &str, body: &Value) -> (u16, Value) {
    let path = path(world, rest);
    world.ask_json(method, &path, body)
}

fn get(world: &mut World, rest: &str) -> Value {
    let (status, found) = ask(world, "GET", rest, &Value::Null);
    assert_eq!(status, 200, "{rest}: {found}");
    found
}

fn definition(emails: &[(&str, u32)]) -> Value {
    let signers = emails.iter().enumerate().map(|(place, (email, order))| {
        json!({"email": email, "name": "Ada", "recipientId": place + 1, "routingOrder": order,
            "clientUserId": "7", "tabs": {"signHereTabs": [{"pageNumber": 1}]}})
    });
    json!({
        "emailSubject": "Please sign", "status": "sent",
        "documents": [{"documentId": 1, "name": "Contract", "documentBase64": BASE64.encode(b"%PDF")}],
        "recipients": {"signers": signers.collect::<Vec<_>>()},
    })
}

/// An envelope that was sent, and its id.
fn sent(world: &mut World, emails: &[(&str, u32)]) -> String {
    let (status, made) = ask(world, "POST", "/envelopes", &definition(emails));
    assert_eq!((status, &made["status"]), (201, &json!("sent")), "{made}");
    made["envelopeId"].as_str().unwrap().to_owned()
}

fn status_of(world: &mut World, id: &str) -> String {
    get(world, &format!("/envelopes/{id}"))["status"].as_str().unwrap().to_owned()
}

fn decide(world: &mut World, id: &str, to: &str) {
    world.act(MockAction::Decide { kind: "envelopes", id, to }).unwrap();
}

#[test]
fn an_envelope_is_signed_in_the_order_of_its_signers() {
    let mut world = World::of("docusign");
    let id = sent(&mut world, &[("ada@app.test", 1), ("bob@app.test", 2)]);
    assert_eq!(world.events(), ["envelope-created", "envelope-sent", "recipient-sent"]);
    let signers = |world: &mut World| -> Vec<Value> {
        let all = get(world, &format!("/envelopes/{id}/recipients"));
        all["signers"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect()
    };
    assert_eq!(signers(&mut world), ["sent", "created"]);
    decide(&mut world, &id, "completed");
    assert_eq!(world.events(), ["recipient-delivered", "recipient-completed", "recipient-sent"]);
    assert_eq!(
        (signers(&mut world), status_of(&mut world, &id)),
        (vec![json!("completed"), json!("sent")], "sent".to_owned())
    );
    decide(&mut world, &id, "completed");
    let last =
        ["recipient-delivered", "recipient-completed", "envelope-delivered", "envelope-completed"];
    assert_eq!(world.events(), last);
    let body: Value = serde_json::from_str(&world.sent()[3].body).unwrap();
    let summary = &body["data"]["envelopeSummary"];
    assert_eq!((&summary["status"], &summary["envelopeId"]), (&json!("completed"), &json!(id)));
    assert!(summary["recipients"]["signers"][0].get("tabs").is_none());
    let documents = get(&mut world, &format!("/envelopes/{id}/documents"));
    assert_eq!(documents["envelopeDocuments"].as_array().unwrap().len(), 2);
    for document in ["1", "combined", "certificate"] {
        let call = world.request(
            "GET",
            &path(&world, &format!("/envelopes/{id}/documents/{document}")),
            "",
        );
        assert!(world.call(&call).reply.body.starts_with("%PDF"));
    }
    let (status, error) =
        ask(&mut world, "GET", &format!("/envelopes/{id}/documents/9"), &Value::Null);
    assert_eq!((status, &error["errorCode"]), (404, &json!("DOCUMENT_DOES_NOT_EXIST")));
    let history = get(&mut world, &format!("/envelopes/{id}/audit_events"));
    assert!(history["auditEvents"].as_array().unwrap().len() >= 5);
    let (status, error) = ask(
        &mut world,
        "PUT",
        &format!("/envelopes/{id}"),
        &json!({"status": "voided", "voidedReason": "x"}),
    );
    assert_eq!((status, &error["errorCode"]), (400, &json!("ENVELOPE_CANNOT_VOID_INVALID_STATE")));
}

#[test]
fn a_signer_has_a_page_that_leads_back() {
    let mut world = World::of("docusign");
    let id = sent(&mut world, &[("ada@app.test", 1)]);
    let view = json!({"returnUrl": "https://app.test/done?a=1#x", "email": "ada@app.test", "userName": "Ada",
        "clientUserId": "7", "authenticationMethod": "none"});
    let rest = format!("/envelopes/{id}/views/recipient");
    let (status, shown) = ask(&mut world, "POST", &rest, &view);
    assert_eq!(status, 201);
    assert!(shown["url"].as_str().unwrap().contains(&format!("/_/envelopes/{id}?k=")));
    let seen = page(world.provider, &world.objects("envelopes")[0]).unwrap();
    assert_eq!(seen.buttons, [("completed", "Finish"), ("declined", "Decline")]);
    assert_eq!(seen.cancel.as_deref(), Some("https://app.test/done?a=1&event=cancel#x"));
    for (field, value) in
        [("email", "bob@app.test"), ("userName", "Bob"), ("returnUrl", "javascript:alert(1)")]
    {
        let mut wrong = view.clone();
        wrong[field] = json!(value);
        assert_eq!(ask(&mut world, "POST", &rest, &wrong).0, 400, "{field}");
    }
    decide(&mut world, &id, "declined");
    let seen = page(world.provider, &world.objects("envelopes")[0]).unwrap();
    assert_eq!(seen.back.as_deref(), Some("https://app.test/done?a=1&event=decline#x"));
    assert_eq!(status_of(&mut world, &id), "declined");
    assert_eq!(ask(&mut world, "POST", &rest, &view).1["errorCode"], "ENVELOPE_INVALID_STATUS");
}

#[test]
fn every_outcome_comes_by_its_address_and_by_the_setting() {
    for decline in World::of("docusign").provider.declines {
        let email = format!("{}@app.test", decline.triggers[0]);
        let mut by_address = World::of("docusign");
        let named = sent(&mut by_address, &[(&email, 1)]);
        let mut by_setting = World::with("docusign", json!({"decline": decline.code}));
        let other = sent(&mut by_setting, &[("ada@app.test", 1)]);
        for (world, id) in [(&mut by_address, named), (&mut by_setting, other)] {
            let wanted = if decline.code == "autoresponded" { "sent" } else { decline.code };
            assert_eq!(status_of(world, &id), wanted);
        }
    }
}

#[test]
fn a_timed_envelope_signs_by_itself() {
    let mut world = World::with("docusign", json!({"pace": "timed"}));
    let id = sent(&mut world, &[("ada@app.test", 1), ("bob@app.test", 1)]);
    world.go_on();
    assert_eq!(status_of(&mut world, &id), "completed");
    let mut world = World::with("docusign", json!({"pace": "instant"}));
    let id = sent(&mut world, &[("ada@app.test", 1), ("bob@app.test", 2)]);
    assert_eq!(status_of(&mut world, &id), "completed");
}

#[test]
fn a_draft_is_sent_later_and_made_void() {
    let mut world = World::of("docusign");
    let mut draft = definition(&[("ada@app.test", 1)]);
    draft["status"] = json!("created");
    let (_, made) = ask(&mut world, "POST", "/envelopes", &draft);
    let rest = format!("/envelopes/{}", made["envelopeId"].as_str().unwrap());
    assert_eq!(world.events(), ["envelope-created"]);
    assert_eq!(
        ask(&mut world, "PUT", &rest, &json!({"emailSubject": "Now", "status": "sent"})).0,
        200
    );
    assert_eq!(get(&mut world, &rest)["emailSubject"], "Now");
    assert_eq!(ask(&mut world, "PUT", &format!("{rest}?resend_envelope=true"), &json!({})).0, 200);
    assert_eq!(world.events(), ["envelope-resent"]);
    assert_eq!(ask(&mut world, "PUT", &rest, &json!({"status": "voided"})).0, 400);
    let void = json!({"status": "voided", "voidedReason": "a mistake"});
    assert_eq!(ask(&mut world, "PUT", &rest, &void).0, 200);
    assert_eq!(world.events(), ["envelope-voided"]);
    let bin = json!({"envelopeIds": [made["envelopeId"]]});
    assert_eq!(ask(&mut world, "PUT", "/folders/recyclebin", &bin).0, 200);
    assert_eq!(world.events(), ["envelope-deleted"]);
    let mut broken = definition(&[("ada@app.test", 1)]);
    broken["documents"] = json!([]);
    assert_eq!(
        ask(&mut world, "POST", "/envelopes", &broken).1["errorCode"],
        "ENVELOPE_IS_INCOMPLETE"
    );
    broken["documents"] = json!([{"documentBase64": "?"}]);
    assert_eq!(
        ask(&mut world, "POST", "/envelopes", &broken).1["errorCode"],
        "UNABLE_TO_LOAD_DOCUMENT"
    );
    let (status, error) = ask(&mut world, "POST", "/envelopes", &definition(&[("nobody", 1)]));
    assert_eq!((status, &error["errorCode"]), (400, &json!("INVALID_EMAIL_ADDRESS_FOR_RECIPIENT")));
}

#[test]
fn an_envelope_is_made_of_a_template_or_of_several_parts() {
    let mut world = World::of("docusign");
    let template = json!({
        "name": "Contract", "emailSubject": "Sign this",
        "documents": [{"documentId": "1", "name": "Terms", "documentBase64": BASE64.encode(b"%PDF")}],
        "recipients": {"signers": [{"roleName": "buyer", "recipientId": "1"}]},
    });
    let (status, made) = ask(&mut world, "POST", "/templates", &template);
    assert_eq!(status, 201, "{made}");
    assert_eq!(get(&mut world, "/templates")["totalSetSize"], "1");
    let new = json!({"templateId": made["templateId"], "status": "sent",
        "templateRoles": [{"roleName": "buyer", "email": "ada@app.test", "name": "Ada"}]});
    let (status, envelope) = ask(&mut world, "POST", "/envelopes", &new);
    assert_eq!(status, 201, "{envelope}");
    let rest = format!(
        "/envelopes/{}?include=recipients,documents",
        envelope["envelopeId"].as_str().unwrap()
    );
    let shown = get(&mut world, &rest);
    assert_eq!(shown["recipients"]["signers"][0]["email"], "ada@app.test");
    assert_eq!(shown["envelopeDocuments"][0]["name"], "Terms");
    let mut parts = definition(&[("ada@app.test", 1)]);
    parts["documents"] = json!([{"documentId": "1", "name": "Contract"}]);
    let body = format!(
        "--xx\r\nContent-Type: application/json\r\n\r\n{parts}\r\n--xx\r\nContent-Type: application/pdf\r\n\
         Content-Disposition: file; filename=\"c.pdf\"; documentid=1\r\n\r\n%PDF-\r\n--xx--"
    );
    let mut call = world.request("POST", &path(&world, "/envelopes"), &body);
    call.headers[0].1 = "multipart/form-data; boundary=xx".to_owned();
    let reply = world.call(&call).reply;
    let made: Value = serde_json::from_str(&reply.body).unwrap();
    let documents =
        get(&mut world, &format!("/envelopes/{}/documents", made["envelopeId"].as_str().unwrap()));
    assert_eq!(documents["envelopeDocuments"][0]["sizeBytes"], "5");
}

#[test]
fn lists_are_paged_to_the_end() {
    let mut world = World::of("docusign");
    for _ in 0..5 {
        sent(&mut world, &[("ada@app.test", 1)]);
    }
    let (mut next, mut seen) =
        ("/envelopes?from_date=2026-01-01&count=2&status=sent".to_owned(), Vec::new());
    loop {
        let page = get(&mut world, &next);
        seen.extend(
            page["envelopes"].as_array().unwrap().iter().map(|it| it["envelopeId"].clone()),
        );
        match page["nextUri"].as_str() {
            Some("") => break,
            Some(uri) => {
                next =
                    format!("/envelopes?{}&from_date=2026-01-01", uri.split_once('?').unwrap().1);
            }
            None => panic!("{page}"),
        }
    }
    seen.dedup();
    assert_eq!(seen.len(), 5);
    let one = format!("/envelopes?envelope_ids={}", seen[0].as_str().unwrap());
    assert_eq!(get(&mut world, &one)["resultSetSize"], "1");
    for wrong in
        ["/envelopes", "/envelopes?from_date=soon", "/envelopes?from_date=2026-01-01&count=0"]
    {
        assert_eq!(
            ask(&mut world, "GET", wrong, &Value::Null).1["errorCode"],
            "INVALID_REQUEST_PARAMETER"
        );
    }
    let (status, error) =
        world.ask_json("GET", "/restapi/v2.1/accounts/other/envelopes", &Value::Null);
    assert_eq!((status, &error["errorCode"]), (400, &json!("USER_LACKS_MEMBERSHIP")));
}

#[test]
fn events_go_to_the_envelopes_address_and_to_registered_ones() {
    let mut world = World::of("docusign");
    let new = json!({"urlToPublishTo": "https://other.test/c", "name": "Ours", "events": ["envelope-sent"]});
    let (status, made) = ask(&mut world, "POST", "/connect", &new);
    assert_eq!(status, 201, "{made}");
    let mut envelope = definition(&[("ada@app.test", 1)]);
    envelope["eventNotification"] = json!({"url": "https://own.test/e",
        "envelopeEvents": [{"envelopeEventStatusCode": "Sent"}]});
    ask(&mut world, "POST", "/envelopes", &envelope);
    let to = |url: &str| -> Vec<String> {
        world.sent().iter().filter(|it| it.url == url).map(|it| it.event.clone()).collect()
    };
    assert_eq!(to("https://other.test/c"), ["envelope-sent"]);
    assert_eq!(to("https://own.test/e"), ["envelope-sent"]);
    assert_eq!(to("http://app.test/hooks").len(), 3);
    let change = json!({"connectId": made["connectId"], "events": ["recipient-sent"]});
    assert_eq!(ask(&mut world, "PUT", "/connect", &change).0, 200);
    let rest = format!("/connect/{}", made["connectId"].as_str().unwrap());
    assert_eq!(get(&mut world, &rest)["configurations"][0]["events"], json!(["recipient-sent"]));
    assert_eq!(ask(&mut world, "DELETE", &rest, &Value::Null).0, 200);
    assert_eq!(get(&mut world, "/connect")["totalRecords"], "0");
    let wrong = json!({"urlToPublishTo": "ftp://other.test"});
    assert_eq!(ask(&mut world, "POST", "/connect", &wrong).0, 400);
}

#[test]
fn what_comes_from_outside_is_told() {
    let mut world = World::of("docusign");
    let id = sent(&mut world, &[("ada@app.test", 1)]);
    for event in ["recipient-authenticationfailed", "envelope-resent", "recipient-autoresponded"] {
        let data = json!({});
        world.act(MockAction::Trigger { event, object: Some(&id), data: &data }).unwrap();
        assert_eq!(world.events(), [event]);
    }
    for to in ["delivered", "voided"] {
        world.act(MockAction::Move { object: &id, to: Some(to) }).unwrap();
        assert_eq!(status_of(&mut world, &id), to);
    }
}

#[test]
fn tokens_are_given_to_the_integration_key() {
    let mut world = World::of("docusign");
    let (key, secret) =
        (world.credentials["integrationKey"].clone(), world.credentials["clientSecret"].clone());
    let assertion = |issuer: &str| {
        let claims =
            BASE64URL_NOPAD.encode(json!({"iss": issuer, "sub": "someone"}).to_string().as_bytes());
        format!("e30.{claims}.sig")
    };
    let jwt = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
    let basic = Some(format!("Basic {}", BASE64.encode(format!("{key}:{secret}").as_bytes())));
    let cases = [
        (None, format!("grant_type={jwt}&assertion={}", assertion(&key)), 200),
        (None, format!("grant_type={jwt}&assertion={}", assertion("other")), 401),
        (None, format!("grant_type={jwt}&assertion=x"), 401),
        (basic.clone(), "grant_type=authorization_code&code=abc".to_owned(), 200),
        (basic.clone(), "grant_type=refresh_token&refresh_token=abc".to_owned(), 200),
        (basic.clone(), "grant_type=authorization_code".to_owned(), 400),
        (basic, "code=abc".to_owned(), 400),
        (None, format!("grant_type=client_credentials&client_id={key}&client_secret=x"), 401),
    ];
    for (authorization, form, wanted) in cases {
        let mut call = world.request("POST", "/oauth/token", &form);
        call.headers.truncate(1);
        call.headers.extend(authorization.map(|value| ("authorization".to_owned(), value)));
        let reply = world.call(&call).reply;
        assert_eq!(reply.status, wanted, "{form}: {}", reply.body);
        assert_eq!(reply.body.contains(&world.credentials["accessToken"]), wanted == 200);
    }
    let info = world.ask_json("GET", "/oauth/userinfo", &Value::Null).1;
    assert_eq!(info["accounts"][0]["base_uri"], "http://mocks.test/mock/0123456789abcd");
}

#[test]
fn the_connect_key_before_signs_beside_the_new_one() {
    let world = World::of("docusign");
    let scheme = &world.provider.hooks.scheme;
    let signing = |before| Signing {
        secret: "new",
        before,
        at: trapline_model::Time::from_millis(0),
        id: "",
        url: "",
        body: b"{}",
    };
    let (one, two) = (sign(scheme, &signing(None)), sign(scheme, &signing(Some("old"))));
    assert_eq!((one.len(), two.len()), (2, 3));
    assert_eq!(one[0], two[0]);
    assert!(two[2].0 == "x-docusign-signature-2" && two[2].1 != two[0].1);
}
