//! Passwords: which are accepted, and their hashes (Argon2id, RFC 9106), which are made on two threads of
//! their own, so that sign-ins leave the other processors to the rest of the service.

use std::time::Duration;

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};

use crate::{CpuPool, Error, Result};

/// Hashes that are made at the same time; each takes 19 MiB of memory meanwhile.
const THREADS: usize = 2;
/// Sign-ins that may wait for a thread; a further one is [`Error::TooMany`].
const QUEUE_CAPACITY: usize = 128;
/// How long one waits for a thread.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
/// When a sign-in may be tried again that found no thread.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// The characters of a password: at least two more than NIST SP 800-63B, section 3.1.1.2, asks for, and
/// more at most than the 64 that it wants to be accepted.
pub(super) const LENGTH: std::ops::RangeInclusive<usize> = 10..=256;
/// The beginning of a hash with the present algorithm and parameters.
const CURRENT_PARAMETERS: &str = "$argon2id$v=19$m=19456,t=2,p=1$";
/// A hash to verify against where a person has none, so that an unknown address takes as long as a wrong
/// password. No password is known to have it.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdCBvZiBub2JvZHkgYXQgYWxs$\
                       q2u7Vw8m3cF0m6nK1hXoU5p9yR4tLJ2sD7eGbQaZ0ys";

/// The commonest passwords that are long enough, with which guesses begin.
const COMMON_PASSWORDS: [&str; 24] = [
    "1234567890",
    "12345678910",
    "0123456789",
    "0987654321",
    "1111111111",
    "0000000000",
    "123123123123",
    "1q2w3e4r5t",
    "1qaz2wsx3edc",
    "qwertyuiop",
    "qwerty1234",
    "qwerty12345",
    "qwerty123456",
    "asdfghjkl;",
    "password12",
    "password123",
    "password1234",
    "password12345",
    "passwordpassword",
    "iloveyou123",
    "letmein1234",
    "welcome123",
    "administrator",
    "changeme123",
];

/// Makes and checks hashes of passwords.
pub(super) struct Passwords(CpuPool);

impl Passwords {
    pub(super) fn new() -> Result<Self> {
        CpuPool::new(THREADS, QUEUE_CAPACITY, QUEUE_TIMEOUT).map(Self)
    }

    /// The hash of a password, as a PHC string with a salt of its own.
    pub(super) async fn hash(&self, password: &str) -> Result<String> {
        let password = password.to_owned();
        self.run(move || {
            let hash = Argon2::default().hash_password(password.as_bytes());
            hash.map(|hash: PasswordHash| hash.to_string()).map_err(|_| Error::Crypto)
        })
        .await?
    }

    /// Whether the password has this hash; without a hash it is false after the same time.
    pub(super) async fn verify(&self, password: &str, hash: Option<&str>) -> Result<bool> {
        let (password, is_there) = (password.to_owned(), hash.is_some());
        let hash = hash.unwrap_or(DUMMY_HASH).to_owned();
        self.run(move || {
            let hash = PasswordHash::new(&hash).map_err(|_| Error::Crypto)?;
            let verified = Argon2::default().verify_password(password.as_bytes(), &hash);
            Ok(verified.is_ok() && is_there)
        })
        .await?
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let retryable = |error| match error {
            Error::Unavailable => Error::TooMany { retry_after: RETRY_AFTER },
            error => error,
        };
        self.0.run(work).await.map_err(retryable)
    }
}

/// Whether a hash has other parameters than the present ones.
pub(super) fn is_outdated(hash: &str) -> bool {
    !hash.starts_with(CURRENT_PARAMETERS)
}

/// Checks a new password of whoever has this address.
pub(super) fn check_new(password: &str, email: &str) -> Result<()> {
    let folded = password.to_lowercase();
    let local = email.split('@').next().unwrap_or_default();
    let problem = if !LENGTH.contains(&password.chars().count()) {
        ("invalid_length", format!("must have {} to {} characters", LENGTH.start(), LENGTH.end()))
    } else if folded == email || folded == local {
        ("too_common", "must not be the address".to_owned())
    } else if COMMON_PASSWORDS.contains(&folded.as_str()) || is_one_letter(&folded) {
        ("too_common", "is one that everybody tries first".to_owned())
    } else {
        return Ok(());
    };
    Err(Error::invalid("password", problem.0, problem.1))
}

fn is_one_letter(text: &str) -> bool {
    let first = text.chars().next();
    text.chars().all(|letter| Some(letter) == first)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test]
    async fn a_hash_knows_its_password_only() {
        let passwords = Passwords::new().unwrap();
        let hash = passwords.hash("correct horse").await.unwrap();
        assert!(!is_outdated(&hash), "{hash}");
        assert!(is_outdated(&hash.replace("m=19456", "m=4096")));
        assert!(passwords.verify("correct horse", Some(&hash)).await.unwrap());
        assert!(!passwords.verify("correct horsf", Some(&hash)).await.unwrap());
        assert!(!passwords.verify("correct horse", None).await.unwrap());
        assert!(passwords.verify("correct horse", Some("damaged")).await.is_err());
        assert_ne!(hash, passwords.hash("correct horse").await.unwrap(), "each has its own salt");
    }

    #[test]
    fn a_new_password_is_long_and_no_first_guess() {
        let refused = |password: &str| check_new(password, "ada.lovelace@example.com").is_err();
        for bad in [
            "",
            "short",
            "Password123",
            "QWERTYUIOP",
            "aaaaaaaaaaaaa",
            "Ada.Lovelace",
            "ada.lovelace@example.com",
            &"x1".repeat(129),
        ] {
            assert!(refused(bad), "{bad}");
        }
        for good in ["correct horse", "ünïcödé ✓ 1", &"xy".repeat(128), "  spaces count  "] {
            assert!(!refused(good), "{good}");
        }
    }
}
