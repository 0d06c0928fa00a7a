//! The pictures of the web console in the documentation.

use std::{env, fs, path::Path};

use trapline_tests::Deployment;

use super::walk;
use crate::{
    people::SIGN_UP,
    tools::{node, run},
};

/// Bytes of a picture at most: all of them are in the repository.
const MOST: u64 = 150_000;

/// Each screen has its pictures; `UPDATE_PICTURES=1` takes them.
#[tokio::test]
async fn every_screen_has_its_pictures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images");
    if env::var_os("UPDATE_PICTURES").is_some() {
        let server = Deployment::alone(&SIGN_UP);
        let link = server.here(server.owners_link());
        walk(&server, "pictures", &[folder.to_str().unwrap(), &link]).await;
    }
    let names: Vec<String> = serde_json::from_str(&run(node("node/pictures.cjs")).await).unwrap();
    for name in &names {
        let picture = fs::metadata(folder.join(format!("{name}.png")));
        let bytes = picture.unwrap_or_else(|_| panic!("no picture of {name}: `make screenshots`"));
        assert!(bytes.len() <= MOST, "{name} has {} bytes", bytes.len());
    }
    let there = fs::read_dir(&folder).unwrap().count();
    assert_eq!(there, names.len(), "{} has pictures of nothing", folder.display());
}
