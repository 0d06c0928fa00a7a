//! Secrets in files, as systemd credentials and mounted secrets are.

use std::{fs::File, io::Read as _};

/// The largest file of a secret, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The text in a file, without the line ends that editors leave behind it.
///
/// # Errors
///
/// Says what is wrong with the file: it cannot be read, is no text, is empty or has over 64 KiB.
pub(super) fn read(path: &str) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    let length = read.map_err(|error| format!("cannot be read: {error}"))?;
    if length as u64 > MAX_BYTES {
        return Err(format!("has more than {MAX_BYTES} bytes"));
    }
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    if text.is_empty() { Err("is empty".to_owned()) } else { Ok(text) }
}
