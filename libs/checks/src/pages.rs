//! Lists in docs/ that are written from tables of this package: `UPDATE_DOCS=1 cargo test -p trapline-checks`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{env, fs, path::Path, sync::Mutex};

/// A page has more than one list, and tests run side by side.
static WRITING: Mutex<()> = Mutex::new(());

/// The page has that list between its marks.
pub(crate) fn holds(page: &str, name: &str, list: &str) {
    let _writing = WRITING.lock().unwrap();
    let (start, end) =
        (format!("<!-- The {name}. -->\n"), format!("<!-- The end of the {name}. -->"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(&start).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    let wanted = format!("{before}{start}{list}{end}{after}");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, wanted).unwrap();
    } else {
        assert!(text == wanted, "run UPDATE_DOCS=1 cargo test -p trapline-checks");
    }
}
