//! What the web console has of identity providers and of mocks of APIs, called as an application calls them.

use serde_json::{Value, json};
use trapline_tests::Deployment;

use super::{checked, walk};
use crate::tools::{node, run};

/// What the browser saw in this area.
async fn visit(area: &str) -> Value {
    let server = Deployment::alone(&[]);
    walk(&server, "providers", &[area, &server.here(server.owners_link())]).await
}

/// The same of what comes from outside, where the browser is sent to an application, too.
async fn visit_outside(area: &str) -> Value {
    let server = Deployment::alone(&[]);
    let mut browser = node("node/outside.cjs");
    browser.arg(area).arg(server.here(server.owners_link()));
    checked(&run(browser).await)
}

#[tokio::test]
async fn an_identity_provider_is_made_used_read_and_deleted() {
    let report = visit("idps").await;
    assert!(report["refused"].as_str().unwrap().contains("absolute"), "{report:#}");
    // From the sidebar to the client's settings in one's own configuration: three clicks, and one for each value.
    assert_eq!(report["cost"], json!([6, 0]));
    assert_eq!((&report["hidden"], &report["early"]), (&json!(true), &json!(true)));
    assert_eq!(report["token"], 200);
    // The tokens are decoded, and what is wrong with one of them can be read there.
    assert!(report["decoded"].as_str().unwrap().contains("wrong-audience"), "{report:#}");
    assert_eq!(report["flow"], 2);
    assert!(report["hint"].as_str().unwrap().contains("is not registered"), "{report:#}");
    assert!(report["url"].as_str().unwrap().contains("refused=true"), "{report:#}");
    assert_eq!(report["settings"], json!([60, 1, true]));
    assert_eq!(report["kept"], json!([]));
}

#[tokio::test]
async fn a_mock_is_made_called_worsened_read_and_deleted() {
    let report = visit("mocks").await;
    // From the sidebar to address and key in one's own configuration: four clicks, and one for each value.
    assert_eq!((&report["cost"], &report["found"]), (&json!([6, 0]), &json!(0)));
    let base = "/mock/";
    assert!(report["snippet"].as_str().unwrap().contains(base), "{report:#}");
    assert!(report["python"].as_str().unwrap().contains("stripe.StripeClient"), "{report:#}");
    assert_eq!(
        (&report["hidden"], &report["failed"], &report["ofObject"]),
        (&json!(true), &json!(1), &json!(1))
    );
    assert!(report["curl"].as_str().unwrap().starts_with("curl -X POST http"), "{report:#}");
    assert!(report["url"].as_str().unwrap().contains("object=cus_"), "{report:#}");
    assert_eq!(report["signatures"], 2);
    // What was not touched is not set.
    let next = json!([{ "fault": "unavailable", "path": "/v1/customers" }]);
    assert_eq!(report["saved"], json!([next, 5, true, "generic_decline", 0]));
    assert_eq!(report["declined"], json!([503, 200, 402, 200]));
    assert_eq!((&report["old"], &report["kept"]), (&json!(401), &json!([])));
}

/// By SAML: what the application and the provider are told of each other, a sign-in, and what is left of it.
#[tokio::test]
async fn an_application_is_set_up_for_saml_and_somebody_signs_in() {
    let report = visit_outside("saml").await;
    assert_eq!(report["certificate"], true, "{report:#}");
    assert!(report["refused"].as_str().unwrap().contains("http"), "{report:#}");
    assert_eq!(report["missing"], json!([]));
    let saved = json!(["https://app.example/metadata", "unspecified", "response", null]);
    assert_eq!(report["saved"], saved);
    assert_eq!(report["answer"], json!([1, true, true]));
}

#[tokio::test]
async fn an_object_of_a_mock_is_moved_and_something_comes_from_outside() {
    let report = visit_outside("steps").await;
    assert_eq!(report["ways"], json!(["Move to complete", "Move to expired"]));
    assert_eq!((&report["state"], &report["about"]), (&json!("complete"), &json!(true)));
    assert_eq!(report["early"], true);
    assert!(report["refused"].as_str().unwrap().contains("no such object"), "{report:#}");
    // What came is shown, whatever kind was looked at.
    assert_eq!((&report["kind"], &report["filter"]), (&json!("disputes"), &json!("")));
}
