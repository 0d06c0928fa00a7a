//! Providers are made, changed, rotated and removed; every process knows at once.

use serde_json::{Value, json};
use trapline_tests::{Deployment, Rest, shared, shared_under_one_name};

use super::{path_of, provider};

const CALLBACK: &str = "https://app.example/callback";

/// A client of each process.
fn clients(server: &Deployment) -> (Rest, Rest) {
    let keyed = |api: &String| Rest::new(api, Some(server.team().key()));
    (keyed(server.api().first().unwrap()), keyed(server.api().last().unwrap()))
}

#[tokio::test]
async fn a_provider_is_made_changed_and_removed() {
    let server = shared_under_one_name();
    let (rest, other) = clients(&server);
    let made = provider(&rest, CALLBACK).await;
    let slug = made["slug"].as_str().unwrap();
    assert!(slug.len() == 14 && slug.bytes().all(|it| it.is_ascii_hexdigit()), "{made}");
    let issuer = made["issuer"].as_str().unwrap();
    assert!(issuer.ends_with(&format!("/idp/{slug}")), "{made}");
    assert_eq!(made["endpoints"]["token"], format!("{issuer}/token"));
    assert_eq!((&made["clientId"], &made["tokenTtl"]), (&made["id"], &json!(3_600)));
    assert_eq!(made["clientSecret"].as_str().unwrap().len(), 43);
    let certificate = made["signingKey"]["certificate"].as_str().unwrap();
    assert!(certificate.starts_with("-----BEGIN CERTIFICATE-----"), "{made}");

    let change = json!({
        "name": "Renamed", "tokenTtl": 60, "samlNameIdFormat": "persistent",
        "postLogoutRedirectUris": ["https://app.example/"], "requireTeamSession": true,
        "samlAcsUrl": "https://app.example/acs"
    });
    let changed = rest.patch(&path_of(&made), change).await.expect(200).json();
    let format = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
    assert_eq!(changed["samlNameIdFormat"], format);
    assert_eq!(other.get(&path_of(&made)).await.expect(200).json(), changed);
    let cleared = json!({ "samlAcsUrl": null, "samlNameIdFormat": null });
    let cleared = other.patch(&path_of(&made), cleared).await.expect(200).json();
    assert!(cleared["samlAcsUrl"].is_null(), "{cleared}");
    let list = rest.get("/api/idps").await.expect(200).json();
    assert!(list.as_array().unwrap().contains(&cleared), "{list}");

    other.delete(&path_of(&made)).await.expect(204);
    rest.get(&path_of(&made)).await.error(404);
    rest.delete(&path_of(&made)).await.error(404);
    // Nobody inherits an app that still points at it.
    let again = json!({ "name": "Again", "slug": slug });
    let taken = rest.post("/api/idps", again).await.error(400);
    assert_eq!(
        (taken.issues(), taken.json()["issues"][0]["code"].clone()),
        (vec!["slug".to_owned()], json!("taken"))
    );
}

#[tokio::test]
async fn what_a_pipeline_has_fixed_can_be_given() {
    let server = shared();
    let rest = server.rest();
    let slug = format!("fixed-{}", rest.inbox().await.id);
    let new = json!({
        "name": "Fixed", "slug": slug, "clientId": "app", "clientSecret": "a-secret-of-the-app"
    });
    let made = rest.post("/api/idps", new.clone()).await.expect(201).json();
    assert_eq!((&made["clientId"], &made["clientSecret"]), (&json!("app"), &new["clientSecret"]));
    assert_eq!(rest.post("/api/idps", new).await.error(400).issues(), ["slug"]);
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once() {
    let server = shared();
    let rest = server.rest();
    let wrong =
        json!({ "name": "x", "redirectUris": [CALLBACK, "javascript:alert(1)", "/relative"] });
    let issues = rest.post("/api/idps", wrong).await.error(400).issues();
    assert_eq!(issues, ["redirectUris[1]", "redirectUris[2]"]);
    let made = provider(&rest, CALLBACK).await;
    let wrong = json!({
        "redirectUris": ["data:,x"], "samlAcsUrl": "ftp://app.example/",
        "samlNameIdFormat": "kerberos", "autoLoginUserId": made["id"]
    });
    let issues = rest.patch(&path_of(&made), wrong).await.error(400).issues();
    assert_eq!(issues, ["redirectUris[0]", "samlAcsUrl", "samlNameIdFormat", "autoLoginUserId"]);
    let wrong = json!({ "tokenTtl": 0, "refreshReuseGrace": 61, "color": "red" });
    let issues = rest.patch(&path_of(&made), wrong).await.error(400).issues();
    assert_eq!(issues, ["tokenTtl", "refreshReuseGrace", "color"]);
    assert_eq!(rest.get(&path_of(&made)).await.expect(200).json(), made);
}

#[tokio::test]
async fn keys_rotate_with_an_overlap_and_the_secret_without() {
    let server = shared();
    let (rest, other) = clients(&server);
    let made = provider(&rest, CALLBACK).await;
    let rotate = format!("{}/rotate", path_of(&made));
    let rotated = rest.post(&rotate, json!({ "what": "secret" })).await.expect(200).json();
    assert_ne!(rotated["clientSecret"], made["clientSecret"]);
    assert_eq!(rotated["signingKey"], made["signingKey"]);

    let es256 = json!({ "signingAlg": "ES256" });
    let es256 = rest.patch(&path_of(&made), es256).await.expect(200).json();
    assert_eq!(
        (&es256["signingKey"]["alg"], &es256["signingKey"]["certificate"]),
        (&json!("ES256"), &Value::Null)
    );
    assert_eq!(es256["previousKeys"], json!([made["signingKey"]]));
    let rotated = other.post(&rotate, json!({ "what": "keys" })).await.expect(200).json();
    assert_ne!(rotated["signingKey"]["kid"], es256["signingKey"]["kid"]);
    // The new RSA key, which SAML signs with, and the old ones of both kinds.
    assert_eq!(rotated["previousKeys"].as_array().unwrap().len(), 3, "{rotated}");
    rest.post(&rotate, json!({ "what": "everything" })).await.error(400);

    let events = other.get(&format!("{}/events", path_of(&made))).await.expect(200).json();
    let kinds: Vec<_> = events.as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["rotate", "rotate"]);
    let text = events.to_string();
    assert!(!text.contains(rotated["clientSecret"].as_str().unwrap()), "{text}");
}

#[tokio::test]
async fn the_log_is_read_in_pages_and_cleared() {
    let server = shared();
    let (rest, other) = clients(&server);
    let made = provider(&rest, CALLBACK).await;
    let log = format!("{}/events", path_of(&made));
    for _ in 0..4 {
        let rotate = format!("{}/rotate", path_of(&made));
        rest.post(&rotate, json!({ "what": "secret" })).await.expect(200);
    }
    let all = other.get(&log).await.expect(200).json();
    let id = |place: usize| all[place]["id"].as_str().unwrap().to_owned();
    let ids = async |query: &[(&str, &str)]| {
        let found = rest.query(&log, query).await.expect(200).json();
        let found =
            found.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
        found.collect::<Vec<_>>()
    };
    assert_eq!(ids(&[("limit", "2")]).await, [id(0), id(1)]);
    assert_eq!(ids(&[("before", &id(1))]).await, [id(2), id(3)]);
    assert_eq!(ids(&[("after", &id(2))]).await, [id(0), id(1)]);
    assert_eq!(ids(&[("after", "2020-01-01T00:00:00Z")]).await.len(), 4);
    assert_eq!(ids(&[("after", "2100-01-01T00:00:00Z")]).await.len(), 0);
    rest.query(&log, &[("after", "yesterday")]).await.error(400);
    rest.query(&log, &[("limit", "201")]).await.error(400);
    other.delete(&log).await.expect(204);
    assert_eq!(rest.get(&log).await.expect(200).json(), json!([]));
}

#[tokio::test]
async fn a_key_that_may_only_read_sees_no_secret() {
    let server = shared();
    let rest = server.rest();
    let made = provider(&rest, CALLBACK).await;
    let reader = server.reader();
    let shown = reader.get(&path_of(&made)).await.expect(200);
    assert!(shown.json()["clientSecret"].is_null(), "{shown}");
    assert!(!shown.text().contains("PRIVATE"), "{shown}");
    reader.patch(&path_of(&made), json!({ "name": "x" })).await.error(403);
}
