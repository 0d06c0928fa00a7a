//! The word that tells installations apart which share services.

/// Characters of a namespace at most.
const MAX_CHARS: usize = 32;

/// Whether every service takes a word as it is, as a keyspace, in names of streams and in keys:
/// `[a-z][a-z0-9_]*`, up to 32 long.
#[must_use]
pub fn is_namespace(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    word.len() <= MAX_CHARS
        && word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(plain)
}
