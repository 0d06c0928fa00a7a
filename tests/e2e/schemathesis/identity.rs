//! Mock identity providers' own endpoints. All other tests ask them with slugs that nobody has; here a provider is
//! there, and everybody comes who may come: callers of the API, who are nobody to it, its client, and its user.

use data_encoding::BASE64;
use serde_json::{Value, json};
use trapline_tests::{Answer, Deployment};

use super::{Effort, NO_LIMITS, fuzz_as};

const CALLBACK: &str = "https://app.example/callback";
/// The API itself is left out, and applications are the provider's own.
const SETTINGS: &str = r#"
[[operations]]
include-path-regex = "^/api/"
enabled = false
"#;

/// A provider that signs somebody in without asking, by either protocol.
async fn provider(deployment: &Deployment) -> Value {
    let rest = deployment.rest();
    let new = json!({ "name": "Fuzzed", "redirectUris": [CALLBACK] });
    let made = rest.post("/api/idps", new).await.expect(201).json();
    let path = format!("/api/idps/{}", made["id"].as_str().unwrap());
    let user = json!({ "email": "ada@example.com", "name": "Ada" });
    let user = rest.post(&format!("{path}/users"), user).await.expect(201).json();
    let change = json!({
        "autoLoginUserId": user["id"], "samlAcsUrl": CALLBACK, "samlSpEntityId": "https://app.example",
        "samlSloUrl": "https://app.example/slo", "postLogoutRedirectUris": ["https://app.example/"]
    });
    rest.patch(&path, change).await.expect(200).json()
}

/// An access token of the user.
async fn access_token(deployment: &Deployment, idp: &Value) -> String {
    let rest = deployment.anonymous();
    let text = |name: &str| idp[name].as_str().unwrap();
    let path = |name: &str| format!("/idp/{}/{name}", text("slug"));
    let query = [
        ("client_id", text("clientId")),
        ("redirect_uri", CALLBACK),
        ("response_type", "code"),
        ("scope", "openid email profile"),
    ];
    let back = Answer::to(rest.request("GET", &path("authorize")).query(&query)).await.expect(303);
    let back = reqwest::Url::parse(back.header("location")).unwrap();
    let (_, code) = back.query_pairs().find(|(name, _)| name == "code").unwrap();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", CALLBACK),
        ("client_id", text("clientId")),
        ("client_secret", text("clientSecret")),
    ];
    let tokens = Answer::to(rest.request("POST", &path("token")).form(&form)).await.expect(200);
    tokens.json()["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn at_a_provider_that_is_there() {
    let deployment = Deployment::with(&NO_LIMITS);
    let idp = provider(&deployment).await;
    let text = |name: &str| idp[name].as_str().unwrap();
    let settings = format!(
        r#"{SETTINGS}
[[operations]]
include-tag = "Identity provider protocol"
parameters = {{ "path.slug" = "{}" }}
[[operations]]
include-operation-id = "authorize"
parameters = {{ "query.client_id" = "{}", "query.redirect_uri" = "{CALLBACK}" }}
"#,
        text("slug"),
        text("clientId")
    );
    let bearer = |token: String| Some(format!("Bearer {token}"));
    let client = format!("{}:{}", text("clientId"), text("clientSecret"));
    let callers = [
        None,
        bearer(deployment.team().key().to_owned()),
        bearer(deployment.team().read_key()),
        bearer(deployment.team().expired_key()),
        bearer(access_token(&deployment, &idp).await),
        Some(format!("Basic {}", BASE64.encode(client.as_bytes()))),
    ];
    for caller in callers {
        fuzz_as(&deployment, caller.as_deref(), Effort::Brief, &settings).await;
    }
}
