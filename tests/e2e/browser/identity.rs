//! Mock identity providers as browsers see them: the page on which somebody chooses a test user, and an
//! application that signs people in from within the browser.

use serde_json::{Value, json};
use trapline_tests::{Rest, shared};

use super::checked;
use crate::tools::{node, run, source, tool};

/// What leaves a mark in the page where it runs.
const RUN: &str = "document.documentElement.dataset.ran=1";

async fn provider(rest: &Rest, name: &str, uri: &str) -> (Value, String) {
    let new = json!({ "name": name, "redirectUris": [uri] });
    let idp = rest.post("/api/idps", new).await.expect(201).json();
    let path = format!("/api/idps/{}", idp["id"].as_str().unwrap());
    (idp, path)
}

fn texts(idp: &Value) -> [&str; 2] {
    ["issuer", "clientId"].map(|name| idp[name].as_str().unwrap())
}

#[tokio::test]
async fn a_user_is_chosen_without_a_script_or_a_mouse_and_no_markup_runs() {
    let server = shared();
    let rest = server.rest();
    let image = format!("\"><img src=x onerror=\"{RUN}\">");
    let (idp, path) = provider(&rest, &image, "http://127.0.0.1/callback").await;
    let users = format!("{path}/users");
    for number in 0..24 {
        let user = json!({
            "email": format!("\"<script>{RUN}</script>\"{number}@example.com"),
            "name": format!("</button></form></title><svg onload='{RUN}'>{number}"),
            "groups": [format!("<script>{RUN}</script>"), image, "a-long-name-".repeat(20)],
            "claims": { "<b>": image }
        });
        rest.post(&users, user).await.expect(201);
    }
    let grace = json!({ "email": "grace@example.com", "name": "Grace" });
    rest.post(&users, grace).await.expect(201);
    let mut browser = node("node/picker.cjs");
    browser.args(texts(&idp));
    let report = checked(&run(browser).await);
    assert_eq!(report["fits"], json!([true, true]), "{report:#}");
    assert_eq!((&report["passwords"], &report["found"]), (&json!(0), &json!(1)), "{report:#}");
    assert_eq!(report["ended"]["state"], "by keyboard", "{report:#}");
    assert!(report["ended"]["code"].is_string(), "{report:#}");
    assert_eq!(report["focused"], "grace@example.com");
    assert_eq!(report["denied"], "access_denied");
    assert_eq!((&report["ran"], &report["elements"]), (&json!([]), &json!(0)), "{report:#}");
    assert_eq!((&report["pages"], &report["state"]), (&json!(50), &json!(true)));
}

#[tokio::test]
async fn an_application_in_the_browser_signs_in_renews_and_signs_out() {
    let server = shared();
    let rest = server.rest();
    let home = "http://127.0.0.1/";
    let (idp, path) = provider(&rest, "Single-page", home).await;
    let user = json!({ "email": "ada@example.com", "name": "Ada" });
    let user = rest.post(&format!("{path}/users"), user).await.expect(201).json();
    let change = json!({
        "clientType": "public", "autoLoginUserId": user["id"],
        "redirectUris": [home, format!("{home}?silent")],
        "postLogoutRedirectUris": [format!("{home}?bye")]
    });
    rest.patch(&path, change).await.expect(200);
    let library = tool("oidc/node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js");
    let mut browser = node("node/spa.cjs");
    browser.args(texts(&idp)).arg(library).arg(source("oidc/signin.html"));
    let report = checked(&run(browser).await);
    assert_eq!(report["signedIn"], "Ada, ada@example.com", "{report:#}");
    assert_eq!(report["renewed"], "renewed for Ada", "{report:#}");
    assert_eq!(report["refreshed"], "refreshed for Ada", "{report:#}");
    assert_eq!(report["signedOut"], "signed out", "{report:#}");
    for (fault, said) in report["faults"].as_object().unwrap() {
        assert!(said.as_str().unwrap().starts_with("refused"), "{fault}: {said}");
    }
    let page = std::fs::read_to_string(source("oidc/signin.html")).unwrap();
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/idp.md");
    let shown = std::fs::read_to_string(docs).unwrap().contains(&page);
    assert!(shown, "docs/idp.md does not show signin.html as it is");
}
