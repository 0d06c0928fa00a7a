//! Kinds of mail, table by table; the cases as files are in `tests/cases.rs` of this package.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agreement;
mod headers;
mod html;
mod previews;
mod previews_bounds;
mod structures;
mod texts;

use crate::{Parsed, parse};

/// Parses a message given as text with LF line ends, sent with CRLF.
fn mail(text: &str) -> Parsed {
    parse(text.replace('\n', "\r\n").as_bytes())
}

fn warnings(parsed: &Parsed) -> Vec<&str> {
    parsed.digest.warnings.iter().map(|warning| warning.code.as_str()).collect()
}
