//! Random numbers and ids from a seed that the caller gives, so that a call which is run again comes to the same.

use std::cell::Cell;

use aws_lc_rs::digest::{SHA256, digest};
use trapline_model::Time;

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HEX: &[u8] = b"0123456789abcdef";
/// Letters of base62 that hold milliseconds until the year 8888.
const TIME_LETTERS: usize = 8;
/// Hexadecimal digits that hold milliseconds as long as those of a `UUIDv7` do.
const TIME_DIGITS: usize = 12;

/// A source of random numbers, the same for the same seed.
#[derive(Debug)]
pub struct Chance {
    seed: [u8; 32],
    taken: Cell<u64>,
}

impl Chance {
    /// From 32 random bytes.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self { seed, taken: Cell::new(0) }
    }

    /// The source that a text names, for what is the same whenever it is made.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::new(hash(text.as_bytes()))
    }

    /// The source of the call with this number, for a seed of the user's.
    pub(crate) fn repeatable(seed: u64, call: u64) -> Self {
        let text = [seed.to_be_bytes(), call.to_be_bytes()].concat();
        Self::new(hash(&text))
    }

    fn next(&self) -> [u8; 32] {
        self.taken.set(self.taken.get() + 1);
        hash(&[self.seed.as_slice(), &self.taken.get().to_be_bytes()].concat())
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn share(&self) -> f64 {
        let bytes = self.next();
        f64::from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            / (f64::from(u32::MAX) + 1.0)
    }

    /// Letters of an alphabet of at most 64, each as likely as any other.
    pub(crate) fn letters(&self, count: usize, alphabet: &[u8]) -> String {
        let fair = 256 - 256 % alphabet.len();
        let mut text = String::with_capacity(count);
        while text.len() < count {
            for byte in self.next().into_iter().map(usize::from).filter(|byte| *byte < fair) {
                if text.len() < count {
                    text.push(char::from(alphabet[byte % alphabet.len()]));
                }
            }
        }
        text
    }

    pub(crate) fn base62(&self, count: usize) -> String {
        self.letters(count, BASE62)
    }

    pub(crate) fn hex(&self, count: usize) -> String {
        self.letters(count, HEX)
    }

    /// A prefix, the time, and random letters: `count` letters of base62 in all, whose order is that of time.
    pub(crate) fn id(&self, prefix: &str, count: usize, now: Time) -> String {
        let time = in_alphabet(now, BASE62, TIME_LETTERS);
        format!("{prefix}{time}{}", self.base62(count.saturating_sub(TIME_LETTERS)))
    }

    /// A UUID with the time in it (RFC 9562, version 7).
    pub(crate) fn uuid(&self, now: Time) -> String {
        let hex = self.hex_id("", 30, now);
        let variant = self.letters(1, b"89ab");
        format!(
            "{}-{}-7{}-{variant}{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..15],
            &hex[15..18],
            &hex[18..]
        )
    }

    /// The same in lower-case hexadecimal digits.
    pub(crate) fn hex_id(&self, prefix: &str, count: usize, now: Time) -> String {
        let time = in_alphabet(now, HEX, TIME_DIGITS);
        format!("{prefix}{time}{}", self.hex(count.saturating_sub(TIME_DIGITS)))
    }
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

fn in_alphabet(time: Time, alphabet: &[u8], letters: usize) -> String {
    let mut left = usize::try_from(time.millis()).unwrap_or(0);
    let mut text = vec![alphabet[0]; letters];
    for letter in text.iter_mut().rev() {
        *letter = alphabet[left % alphabet.len()];
        left /= alphabet.len();
    }
    text.into_iter().map(char::from).collect()
}
