//! The web console, walked through by a person with a link.

use std::{env, fs, io::Write as _, path::Path};

use serde_json::json;
use tempfile::NamedTempFile;
use tokio::process::Command;
use trapline_tests::{Answer, Deployment, shared};

use super::{Remote, hostile, walk};
use crate::tools::run;

#[tokio::test]
async fn somebody_with_a_link_sees_mail_arrive_and_copies_its_code() {
    let server = Deployment::alone(&[]);
    let page = server.anonymous().request("GET", "/").header("accept", "text/html");
    let page = Answer::to(page).await.expect(200);
    assert!(page.text().contains("<div id=\"app\">"), "built without the console: {page}");
    let remote = Remote::start(|_| String::new()).await;
    let html = hostile::page(&remote.url(), "");
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(html.as_bytes()).unwrap();
    let link = server.here(server.owners_link());
    let report = walk(&server, "console", &[&link, file.path().to_str().unwrap()]).await;
    // From the link to the settings, and from a new mail to its code on the clipboard.
    assert_eq!((&report["clicksToSettings"], &report["keysToCode"]), (&json!(1), &json!(1)));
    assert_eq!(report["code"], "481516");
    let found = report["found"].as_array().unwrap();
    assert!(found.len() == 1 && found[0].as_str().unwrap().contains("Order 2"), "{found:?}");
    assert_eq!(report["away"], 1);
    // Nothing ran and nothing left, in any tab.
    assert_eq!(report["links"], json!([]));
    assert_eq!((&report["ran"], remote.connections()), (&json!(""), 0));
    assert!(report["nodes"].as_u64().unwrap() <= 1_500, "{report:#}");
}

/// The frontend's types are made from the document that is served; `UPDATE_DOCS=1` writes them.
#[tokio::test]
async fn the_types_of_the_console_are_those_of_the_api() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../libs/console/web");
    let document = shared().anonymous().get("/api/openapi.json").await.expect(200);
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["openapi.json", "schema.d.ts"].map(|name| folder.path().join(name));
    // The address differs from server to server, and no type depends on it.
    fs::write(&from, document.text()).unwrap();
    let mut types = Command::new("node");
    types.arg("node_modules/openapi-typescript/bin/cli.js").arg(&from).arg("--output").arg(&to);
    types.current_dir(&web);
    run(types).await;
    let made = fs::read_to_string(to).unwrap();
    let kept = web.join("src/api/schema.d.ts");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&kept, &made).unwrap();
    }
    assert!(fs::read_to_string(kept).unwrap() == made, "`make api-types` writes schema.d.ts");
}
