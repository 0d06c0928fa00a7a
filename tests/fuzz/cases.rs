//! What mutations of messages begin with.

use std::{fs, path::Path};

/// The MIME cases, in the order of their names.
#[expect(clippy::expect_used, reason = "without its seeds, a run says nothing")]
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mime-cases");
    let files = fs::read_dir(folder).expect("the MIME cases can be listed");
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a MIME case can be read")).collect()
}
