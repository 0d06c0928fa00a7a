//! SASL exchanges (RFC 4954): PLAIN (RFC 4616), LOGIN and CRAM-MD5 (RFC 2195).

use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER_PERMISSIVE};

use crate::{Login, Reject};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SaslMechanism {
    Plain,
    Login,
    CramMd5,
}

/// What the server waits for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SaslExchange {
    Plain,
    Username,
    Password { username: String },
    CramMd5 { challenge: String },
}

/// What follows from a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SaslStep {
    /// Send a challenge, and wait for the next response.
    Prompt(SaslExchange),
    /// The credentials are complete.
    Complete(Login),
}

const CANCELLED: Reject = Reject::fixed(501, (5, 7, 0), "authentication cancelled");
const NOT_BASE64: Reject = Reject::fixed(501, (5, 5, 2), "cannot decode the response as base64");
const MALFORMED: Reject = Reject::fixed(501, (5, 5, 2), "malformed authentication response");

impl SaslExchange {
    /// The challenge, in base64.
    pub(super) fn prompt(&self) -> String {
        match self {
            Self::Plain => String::new(),
            Self::Username => BASE64.encode(b"Username:"),
            Self::Password { .. } => BASE64.encode(b"Password:"),
            Self::CramMd5 { challenge } => BASE64.encode(challenge.as_bytes()),
        }
    }

    /// Takes a response line without its line end.
    pub(super) fn respond(self, response: &str) -> Result<SaslStep, Reject> {
        if response == "*" {
            return Err(CANCELLED);
        }
        let response = decode(response)?;
        match self {
            Self::Plain => plain(&response).map(SaslStep::Complete).ok_or(MALFORMED),
            Self::Username => Ok(SaslStep::Prompt(Self::Password { username: response })),
            Self::Password { username } => {
                Ok(SaslStep::Complete(Login::Plain { username, password: response }))
            }
            Self::CramMd5 { challenge } => {
                cram_md5(challenge, &response).map(SaslStep::Complete).ok_or(MALFORMED)
            }
        }
    }
}

/// Padding may be missing, and `=` alone is the empty response (RFC 4954, section 4).
fn decode(response: &str) -> Result<String, Reject> {
    let octets = BASE64_NOPAD.decode(response.trim_end_matches('=').as_bytes());
    String::from_utf8(octets.map_err(|_| NOT_BASE64)?).map_err(|_| MALFORMED)
}

/// `authzid NUL authcid NUL password`. To act for somebody else isn't supported, and some clients
/// repeat the user name there, so the authorization identity is ignored.
fn plain(response: &str) -> Option<Login> {
    let (_authzid, rest) = response.split_once('\0')?;
    let (username, password) = rest.split_once('\0')?;
    Some(Login::Plain { username: username.to_owned(), password: password.to_owned() })
}

/// `username SP digest`; the user name may hold blanks.
fn cram_md5(challenge: String, response: &str) -> Option<Login> {
    let (username, digest) = response.rsplit_once(' ')?;
    let digest = HEXLOWER_PERMISSIVE.decode(digest.as_bytes()).ok()?.try_into().ok()?;
    Some(Login::CramMd5 { username: username.to_owned(), challenge, digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respond(exchange: SaslExchange, response: &str) -> Result<SaslStep, Reject> {
        exchange.respond(&BASE64.encode(response.as_bytes()))
    }

    fn login(username: &str, password: &str) -> Login {
        Login::Plain { username: username.to_owned(), password: password.to_owned() }
    }

    #[test]
    fn plain_takes_the_authentication_identity() {
        for response in ["\0ada\0secret", "ada\0ada\0secret"] {
            let turn = respond(SaslExchange::Plain, response);
            assert_eq!(turn, Ok(SaslStep::Complete(login("ada", "secret"))), "{response:?}");
        }
        for response in ["", "ada", "ada\0secret"] {
            assert_eq!(respond(SaslExchange::Plain, response), Err(MALFORMED), "{response:?}");
        }
    }

    #[test]
    fn padding_is_optional() {
        for (response, expected) in [("AGEAYg==", "b"), ("AGEAYg", "b"), ("AGEA", "")] {
            let turn = SaslExchange::Plain.respond(response);
            assert_eq!(turn, Ok(SaslStep::Complete(login("a", expected))), "{response}");
        }
        assert_eq!(SaslExchange::Plain.respond("§"), Err(NOT_BASE64));
        assert_eq!(SaslExchange::Username.respond("/w=="), Err(MALFORMED), "not UTF-8");
    }

    #[test]
    fn login_asks_twice() {
        let Ok(SaslStep::Prompt(password)) = respond(SaslExchange::Username, "ada") else {
            panic!("no prompt for the password")
        };
        assert_eq!(password.prompt(), "UGFzc3dvcmQ6");
        assert_eq!(respond(password, "secret"), Ok(SaslStep::Complete(login("ada", "secret"))));
    }

    #[test]
    fn cram_md5_splits_at_the_last_blank() {
        let exchange = || SaslExchange::CramMd5 { challenge: "<1@x>".to_owned() };
        let turn = respond(exchange(), "Ada L 000102030405060708090A0b0c0d0e0f");
        let digest = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        let (username, challenge) = ("Ada L".to_owned(), "<1@x>".to_owned());
        assert_eq!(turn, Ok(SaslStep::Complete(Login::CramMd5 { username, challenge, digest })));
        for response in ["", "ada", "ada 00", "ada xyz"] {
            assert_eq!(respond(exchange(), response), Err(MALFORMED), "{response:?}");
        }
    }

    #[test]
    fn a_star_cancels_anything() {
        for exchange in [SaslExchange::Plain, SaslExchange::Username] {
            assert_eq!(exchange.respond("*"), Err(CANCELLED));
        }
    }

    #[test]
    fn passwords_are_not_printed() {
        assert_eq!(format!("{:?}", login("ada", "secret")), r#"Plain { username: "ada", .. }"#);
    }
}
