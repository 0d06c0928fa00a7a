//! The manual pages, as those who format them read them.

use std::process::Stdio;

use tokio::process::Command;
use trapline_tests::command;

use crate::tools;

#[tokio::test]
async fn no_manual_page_has_lint() {
    let folder = tempfile::tempdir().unwrap();
    for page in [&["man"][..], &["man", "serve"], &["man", "smtp"], &["man", "key", "create"]] {
        let printed = command(folder.path()).args(page).stderr(Stdio::inherit()).output().unwrap();
        let file = folder.path().join("page.1");
        std::fs::write(&file, printed.stdout).unwrap();
        let mut mandoc = Command::new("mandoc");
        mandoc.args(["-T", "lint", "-W", "warning"]).arg(&file);
        assert_eq!(tools::run(mandoc).await, "", "{page:?}");
    }
}
