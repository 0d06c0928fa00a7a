//! Passwords: which are accepted, and their hashes (Argon2id, RFC 9106), which are made on two threads of
//! their own, so that sign-ins leave the other processors to the rest of the service.

use std::{net::IpAddr, time::Duration};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use moka::{ops::compute::Op, sync::Cache};

use super::origin::PasswordOrigin;
use crate::{Error, Result, cpu::WorkQueue, metrics};

/// Hashes that are made at the same time; each takes 19 MiB of memory meanwhile.
const THREADS: usize = 2;
/// Sign-ins that may wait for a thread; of more, the one whose address failed most is [`Error::TooMany`].
const QUEUE_CAPACITY: usize = 128;
/// How long one waits for a thread.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
/// When a sign-in may be tried again that found no thread.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Addresses whose wrong passwords are remembered; beyond them the least recently used is forgotten.
const CACHE_CAPACITY: u64 = 100_000;
/// How long an address has to be without a wrong password until those before are forgotten.
const FAILURES_KEPT_FOR: Duration = Duration::from_hours(1);
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

/// Makes and checks hashes of passwords. People go first at addresses where they signed in before, then
/// addresses that failed less: whoever guesses, from however many addresses, keeps nobody else waiting.
pub(super) struct Passwords {
    threads: WorkQueue,
    /// Wrong and refused passwords of an address lately.
    failures: Cache<IpAddr, u32>,
}

impl Passwords {
    pub(super) fn new() -> Result<Self> {
        let failures = Cache::builder().max_capacity(CACHE_CAPACITY);
        Ok(Self {
            threads: WorkQueue::new(THREADS, QUEUE_CAPACITY, QUEUE_TIMEOUT)?,
            failures: failures.time_to_live(FAILURES_KEPT_FOR).build(),
        })
    }

    /// The hash of a password, as a PHC string with a salt of its own, for a password that comes from there.
    pub(super) async fn hash(&self, password: &str, origin: PasswordOrigin) -> Result<String> {
        let password = password.to_owned();
        self.run(origin, move || {
            let hash = Argon2::default().hash_password(password.as_bytes());
            hash.map(|hash: PasswordHash| hash.to_string()).map_err(|_| Error::Crypto)
        })
        .await?
    }

    /// Whether the password, which comes from there, has this hash; without a hash it is false after
    /// the same time.
    pub(super) async fn verify(
        &self,
        password: &str,
        hash: Option<&str>,
        origin: PasswordOrigin,
    ) -> Result<bool> {
        let (password, is_there) = (password.to_owned(), hash.is_some());
        let hash = hash.unwrap_or(DUMMY_HASH).to_owned();
        let verified = self.run(origin, move || {
            let hash = PasswordHash::new(&hash).map_err(|_| Error::Crypto)?;
            let verified = Argon2::default().verify_password(password.as_bytes(), &hash);
            Ok::<_, Error>(verified.is_ok() && is_there)
        });
        let is_right = verified.await??;
        if !is_right {
            self.fail(origin);
        }
        Ok(is_right)
    }

    fn fail(&self, origin: PasswordOrigin) {
        let Some(address) = origin.address else { return };
        self.failures.entry(address).and_compute_with(|known| {
            Op::Put(known.map_or(1, |known| known.into_value().saturating_add(1)))
        });
    }

    async fn run<T: Send + 'static>(
        &self,
        origin: PasswordOrigin,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let done = self.threads.run(self.rank(origin), work).await;
        done.map_err(|error| match error {
            Error::Unavailable => {
                self.fail(origin);
                metrics::auth_failed("limited");
                Error::TooMany { retry_after: RETRY_AFTER }
            }
            error => error,
        })
    }

    fn rank(&self, origin: PasswordOrigin) -> u32 {
        if origin.is_known {
            return 0;
        }
        let failures = origin.address.and_then(|address| self.failures.get(&address));
        failures.unwrap_or(0).saturating_add(1)
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

    use futures_util::future::{join, join_all};

    use super::*;

    #[tokio::test]
    async fn a_hash_knows_its_password_only() {
        let passwords = Passwords::new().unwrap();
        let hash = passwords.hash("correct horse", PasswordOrigin::default()).await.unwrap();
        assert!(!is_outdated(&hash), "{hash}");
        assert!(is_outdated(&hash.replace("m=19456", "m=4096")));
        assert!(
            passwords
                .verify("correct horse", Some(&hash), PasswordOrigin::default())
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .verify("correct horsf", Some(&hash), PasswordOrigin::default())
                .await
                .unwrap()
        );
        assert!(!passwords.verify("correct horse", None, PasswordOrigin::default()).await.unwrap());
        assert!(
            passwords
                .verify("correct horse", Some("damaged"), PasswordOrigin::default())
                .await
                .is_err()
        );
        assert_ne!(
            hash,
            passwords.hash("correct horse", PasswordOrigin::default()).await.unwrap(),
            "each has its own salt"
        );
    }

    #[tokio::test]
    async fn whoever_guesses_from_many_addresses_keeps_nobody_waiting() {
        let passwords = Passwords::new().unwrap();
        let hash = passwords.hash("correct horse", PasswordOrigin::default()).await.unwrap();
        let at =
            |address: [u8; 4]| PasswordOrigin { address: Some(address.into()), is_known: false };
        let guess = |last| passwords.verify("wrong horse", Some(&hash), at([192, 0, 2, last]));
        let flood = join_all((0..=u8::MAX).map(guess));
        let person = async {
            // The line is full by then, and nobody in it has failed yet.
            let origin = PasswordOrigin { is_known: true, ..at([198, 51, 100, 1]) };
            passwords.verify("correct horse", Some(&hash), origin).await
        };
        let (flood, person) = join(flood, person).await;
        assert!(person.unwrap());
        let refused = flood.iter().filter(|one| matches!(one, Err(Error::TooMany { .. }))).count();
        assert!(refused > usize::from(u8::MAX) - THREADS - QUEUE_CAPACITY, "{refused}");
        // Whoever came anew is after those whose place is known, and before all who guessed.
        let ranks = [at([198, 51, 100, 2]), at([192, 0, 2, 0])].map(|one| passwords.rank(one));
        assert_eq!(ranks, [1, 2]);
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
