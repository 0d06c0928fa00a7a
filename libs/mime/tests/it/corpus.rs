//! The files of `tests/mime-cases`.

use std::fs;
use std::path::PathBuf;

use data_encoding::BASE64;
use serde::Deserialize;

/// What a person says that a message holds; see the folder's README.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) subject: String,
    #[serde(default)]
    pub(crate) frm: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) html: Option<String>,
    pub(crate) att: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) alt: Vec<(String, String)>,
    /// The message in base64, where it is in no file of its own.
    #[serde(default)]
    raw: Option<String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/mime-cases")
}

/// The cases with their messages.
pub(crate) fn cases() -> Vec<(Case, Vec<u8>)> {
    let cases = fs::read(folder().join("cases.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_slice(&cases).unwrap();
    let raw = |case: &Case| fs::read(folder().join(format!("{}.eml", case.id))).unwrap();
    cases.into_iter().map(|case| (raw(&case), case)).map(|(raw, case)| (case, raw)).collect()
}

/// The variations that `vary.py` makes, with their messages.
pub(crate) fn variations() -> Vec<(Case, Vec<u8>)> {
    let cases = fs::read(folder().join("variations.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_slice(&cases).unwrap();
    let raw = |case: &Case| BASE64.decode(case.raw.as_ref().unwrap().as_bytes()).unwrap();
    cases.into_iter().map(|case| (raw(&case), case)).map(|(raw, case)| (case, raw)).collect()
}
