//! Texts on the standard output and error. Nobody may be there to read them, or their disk may be full:
//! the text is lost then, and nothing else.

use std::io::{self, Write};

/// Writes to the standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes what may be no text in UTF-8 to the standard output.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a line to the standard error.
pub(crate) fn print_error(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}
