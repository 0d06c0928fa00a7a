//! A fuzzer reads the API's own document and looks for answers that the document does not promise:
//! server errors, statuses, media types, headers and bodies.

mod identity;

use std::path::Path;

use tempfile::TempDir;
use tokio::process::Command;
use trapline_tests::{Deployment, Mail, deliver, proofs_are_full};

use crate::tools::{run, tool};

/// The fuzzer asks from one address, faster than a cluster lets anybody.
const NO_LIMITS: [&str; 2] = ["--address-rate", "0"];

/// How hard to look.
#[derive(Clone, Copy)]
enum Effort {
    Thorough,
    /// Where most answers are the same.
    Brief,
}

impl Effort {
    fn phases(self) -> &'static str {
        match self {
            Self::Thorough => "examples,coverage,fuzzing,stateful",
            Self::Brief if proofs_are_full() => "examples,coverage,fuzzing",
            Self::Brief => "examples,fuzzing",
        }
    }

    /// Test cases for each operation.
    fn examples(self) -> u32 {
        match (self, proofs_are_full()) {
            (Self::Thorough, true) => 10,
            (Self::Thorough, false) => 3,
            (Self::Brief, true) => 5,
            (Self::Brief, false) => 2,
        }
    }
}

/// Fuzzes as the bearer of this key.
async fn fuzz(deployment: &Deployment, key: Option<&str>, effort: Effort, settings: &str) {
    let authorization = key.map(|key| format!("Bearer {key}"));
    fuzz_as(deployment, authorization.as_deref(), effort, settings).await;
}

/// Fuzzes with this in the header `Authorization`.
async fn fuzz_as(
    deployment: &Deployment,
    authorization: Option<&str>,
    effort: Effort,
    settings: &str,
) {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("schemathesis.toml");
    std::fs::write(&config, format!("{BOUNDS}{settings}")).unwrap();
    let mut fuzzer = fuzzer(folder.path(), &config, effort);
    if let Some(authorization) = authorization {
        fuzzer.arg("--header").arg(format!("Authorization: {authorization}"));
    }
    fuzzer.arg(format!("{}/api/openapi.json", deployment.api()[0]));
    let report = run(fuzzer).await;
    // A run that tests nothing succeeds too.
    assert!(report.contains(" passed"), "{report}");
}

/// A stream has no end, and a wait takes its second and then answers 408. The document cannot say
/// that a signature's two parameters want each other, nor that a project must be there, which
/// addresses a webhook may have, nor that an inbox that was emptied may get mail again, nor that mail
/// is only forwarded where there is a relay and somebody agreed; nor which passwords
/// are too easy to guess, and how often one may try; nor which applications, tokens and SAML messages a mock
/// identity provider knows, and that user info reads no body where the token is in the header. What is wrong may
/// be too long for a URL.
const BOUNDS: &str = r#"
request-timeout = 30.0
checks.negative_data_rejection.expected-statuses = [
    400, 401, 403, 404, 405, 406, 409, 410, 414, 415, 422, 428, 429, "5xx"
]
[[operations]]
include-path = "/api/inboxes/{id}/events"
enabled = false
[[operations]]
include-path = "/api/inboxes/{id}/messages/wait"
parameters = { timeout = 1 }
generation = { max-examples = 3 }
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 408]
checks.use_after_free.enabled = false
[[operations]]
include-path = "/api/inboxes/{id}/messages"
checks.use_after_free.enabled = false
[[operations]]
include-operation-id = [
    "getMessageHtml", "getAttachment", "createInbox", "updateInbox", "createWebhook", "updateWebhook",
    "listIdpEvents", "getHtmlReport", "getSpamReport", "listMocks", "listMockObjects",
    "listMockWebhooks", "updateIdp", "updateIdpUser", "updateMock", "createIdp", "createIdpFault",
    "createIdpUser", "createMock", "rotateMock", "moveMockObject", "triggerMockEvent"
]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404]
[[operations]]
include-operation-id = [
    "setForwarding", "forwardMessage", "addForwardAddress", "showConfirmation", "confirmAddress"
]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409]
[[operations]]
include-operation-id = [
    "signIn", "showLink", "useLink", "signUp", "resetPassword", "changePassword",
    "updateMe", "changeEmail", "setUpAccount"
]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 429]
[[operations]]
include-operation-id = "getUserInfoByForm"
checks.negative_data_rejection.expected-statuses = ["2xx", 400, 401, 403, 404, 415]
[[operations]]
include-tag = "Identity provider protocol"
checks.positive_data_acceptance.expected-statuses = ["2xx", "3xx", 400, 401, 403, 404, 410]
[[operations]]
include-operation-id = ["checkLinks", "getAuthReport", "setDnsZone", "unsubscribeByOneClick"]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409, 429]
"#;

fn fuzzer(folder: &Path, config: &Path, effort: Effort) -> Command {
    let mut fuzzer = Command::new(tool("python/bin/st"));
    fuzzer
        .current_dir(folder)
        .arg("--config-file")
        .arg(config)
        .args(["--no-color", "run", "--checks", "all", "--workers", "1"])
        .args(["--phases", effort.phases(), "--max-examples", &effort.examples().to_string()])
        .arg("--generation-deterministic");
    fuzzer
}

#[tokio::test]
async fn with_a_write_key() {
    let deployment = Deployment::with(&[&NO_LIMITS[..], &["--metrics-token", "operator"]].concat());
    let settings = r#"
[[operations]]
include-operation-id = "getMetrics"
headers = { Authorization = "Bearer operator" }
"#;
    fuzz(&deployment, Some(deployment.team().key()), Effort::Thorough, settings).await;
}

/// A key that changes nothing can be sent to real resources. Waits there would take too long.
#[tokio::test]
async fn with_a_read_key() {
    let deployment = Deployment::with(&NO_LIMITS);
    let inbox = deployment.rest().inbox().await;
    let file = "Content-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\na,b\n";
    let text = "Content-Type: text/html\n\n<p>Your code is 493 021</p>";
    let mail = Mail::new("Fuzzed", "").multipart("mixed", &[text, file]);
    let message = deliver(&deployment, &inbox, &mail).await;
    let part = &deployment.rest().message(&message).await["attachments"][0]["id"];
    let settings = format!(
        r#"
[[operations]]
include-path-regex = "^/api/inboxes/[{{]id"
exclude-operation-id = "waitForMessage"
parameters = {{ "path.id" = "{}" }}
[[operations]]
include-path-regex = "^/api/messages/"
parameters = {{ "path.id" = "{message}", "path.attachmentId" = {part} }}
"#,
        inbox.id
    );
    fuzz(&deployment, Some(&deployment.team().read_key()), Effort::Brief, &settings).await;
}

#[tokio::test]
async fn with_an_expired_key() {
    let deployment = Deployment::with(&NO_LIMITS);
    fuzz(&deployment, Some(&deployment.team().expired_key()), Effort::Brief, "").await;
}

#[tokio::test]
async fn with_no_key() {
    let deployment = Deployment::with(&NO_LIMITS);
    fuzz(&deployment, None, Effort::Brief, "").await;
}
