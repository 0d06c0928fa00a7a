//! What is said on the standard streams. Nobody may be there to read it, and their disk may be full:
//! that costs the text, and nothing else.

use std::io::{self, Write};

/// Writes to the standard output.
pub(crate) fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a line to the standard error.
pub(crate) fn complain(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}
