//! Data and weights of the HTML check that an operator gives.

use serde_json::json;
use tempfile::TempDir;
use trapline_tests::{Deployment, Mail, command, deliver};

/// The data set as its package has it: one client, of which the last listed version is not the highest, and a
/// feature that nobody knows.
const DATA: &str = r#"{ "last_update_date": "2030-01-02 03:04:05 +0000",
    "nicenames": { "family": { "gmail": "Gmail" }, "platform": { "ios": "iOS", "android": "Android" }, "category": { "html": "HTML" } },
    "data": [
        { "slug": "html-video", "title": "<video> element", "category": "html", "notes_by_num": { "1": "A note" },
          "stats": { "gmail": { "ios": { "12": "y", "10.15": "n #1" }, "android": { "1": "y" } } } },
        { "slug": "html-invented", "title": "invented", "category": "html", "notes_by_num": null,
          "stats": { "gmail": { "ios": { "1": "n" } } } } ] }"#;

fn file(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn data_and_weights_are_those_of_the_operators_files() {
    let folder = TempDir::new().unwrap();
    let data = file(&folder, "caniemail.json", DATA);
    let weights = file(&folder, "weights.json", r#"{ "gmail.ios": 3, "gmail.android": 1 }"#);
    let server = Deployment::with(&["--caniemail", &data, "--client-weights", &weights]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("html", "").html("<video></video>")).await;
    let report = rest.get(&format!("/api/messages/{id}/html-check")).await.expect(200).json();
    assert_eq!(report["dataset"]["updatedAt"], "2030-01-02");
    let scores: Vec<_> = report["clients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["id"], &it["weight"], &it["score"]))
        .collect();
    let expected = [
        (&json!("gmail.android"), &json!(1.0), &json!(100.0)),
        (&json!("gmail.ios"), &json!(3.0), &json!(80.0)),
    ];
    assert_eq!(scores, expected, "{report}");
    assert_eq!(report["score"], 85.0);
    assert_eq!(report["issues"][0]["notes"][0]["text"], "A note");
    assert!(server.log().contains("html-invented"), "{}", server.log());
}

#[test]
fn broken_files_are_refused_with_what_is_wrong() {
    let folder = TempDir::new().unwrap();
    let broken =
        file(&folder, "broken.json", &DATA.replace("\"slug\": \"html-video\"", "\"slug\": 1"));
    let unknown = file(&folder, "unknown.json", r#"{ "lotus": 1 }"#);
    let missing = folder.path().join("none.json").to_str().unwrap().to_owned();
    for (flag, path, wanted) in [
        ("--caniemail", &broken, "at line 4"),
        ("--caniemail", &missing, "cannot be read"),
        ("--client-weights", &unknown, "\"lotus\" is no client"),
    ] {
        let mut checked = command(folder.path());
        let output = checked.args(["serve", "--check-config", flag, path]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(wanted), "{said}");
    }
}
