//! Every fault: its name, what is wrong, and the rule by which a client must refuse it.

use serde::{Deserialize, Serialize};

macro_rules! scenarios {
    ($($scenario:ident = $name:literal $(($min:literal ..= $max:literal))?, $summary:literal, $rule:literal;)+) => {
        /// What a provider does wrong when it is asked to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum FaultScenario {
            $(#[doc = $summary] #[serde(rename = $name)] $scenario,)+
        }

        impl FaultScenario {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$scenario),+];

            const NAMES: &[&str] = &[$($name),+];
            const SUMMARIES: &[&str] = &[$($summary),+];
            const RULES: &[&str] = &[$($rule),+];
            const BOUNDS: &[&[(i64, i64)]] = &[$(&[$(($min, $max))?]),+];

            /// Its name in the API.
            #[must_use]
            pub fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }

            /// What is wrong.
            #[must_use]
            pub fn summary(self) -> &'static str {
                Self::SUMMARIES[self as usize]
            }

            /// Why a client must refuse it.
            #[must_use]
            pub fn rule(self) -> &'static str {
                Self::RULES[self as usize]
            }

            /// The least and the greatest value; `None` for a fault without one.
            #[must_use]
            pub fn bounds(self) -> Option<(i64, i64)> {
                Self::BOUNDS[self as usize].first().copied()
            }
        }
    };
}

scenarios! {
    AccessDenied = "access_denied", "The redirect carries this error.", "RFC 6749, section 4.1.2.1";
    LoginRequired = "login_required", "The redirect carries this error.", "OpenID Connect Core, section 3.1.2.6";
    ServerError = "server_error", "The redirect carries this error.", "RFC 6749, section 4.1.2.1";
    TemporarilyUnavailable = "temporarily_unavailable", "The redirect carries this error.", "RFC 6749, section 4.1.2.1";
    StateMismatch = "state_mismatch", "Another state comes back.", "RFC 6749, section 10.12";
    IssMismatch = "iss_mismatch", "The redirect names another issuer.", "RFC 9207, section 2.4";
    Expired = "expired", "The ID token was made two hours ago and expired one hour ago.", "OpenID Connect Core, section 3.1.3.7";
    NotYetValid = "not_yet_valid", "The ID token is of an hour from now.", "RFC 7519, section 4.1.5";
    ClockSkew = "clock_skew" (-86_400 ..= 86_400), "All times of the ID token are moved by so many seconds.", "OpenID Connect Core, section 3.1.3.7";
    WrongIssuer = "wrong_issuer", "The ID token is of another issuer.", "OpenID Connect Core, section 3.1.3.7";
    WrongAudience = "wrong_audience", "The ID token is for another client.", "OpenID Connect Core, section 3.1.3.7";
    WrongAzp = "wrong_azp", "The ID token is for two clients, and was given to the other one.", "OpenID Connect Core, section 3.1.3.7";
    WrongNonce = "wrong_nonce", "The ID token has another nonce.", "OpenID Connect Core, section 3.1.3.7";
    MissingNonce = "missing_nonce", "The ID token has no nonce.", "OpenID Connect Core, section 3.1.3.7";
    MissingEmail = "missing_email", "No mail address is in tokens and user info.", "The application: a clear message, and no half-made account";
    BadSignature = "bad_signature", "A bit of the ID token's signature is flipped.", "RFC 7515, section 5.2";
    WrongKey = "wrong_key", "The ID token is signed by a key that is published nowhere, under the name of the active one.", "RFC 7515, section 5.2";
    UnknownKid = "unknown_kid", "The same, under a name that the key set lacks.", "RFC 7515, section 4.1.4";
    AlgNone = "alg_none", "The ID token says that it is unsigned, and is.", "RFC 8725, section 3.1";
    AlgHs256 = "alg_hs256", "The ID token is signed by HMAC with the public key.", "RFC 8725, section 2.1";
    IdTokenMissing = "id_token_missing", "The token answer has no ID token.", "OpenID Connect Core, section 3.1.3.3";
    Token500 = "token_500", "The token endpoint answers 500.", "The application: a clear message";
    TokenMalformed = "token_malformed", "The token endpoint answers half a JSON document.", "RFC 6749, section 5.1";
    RefreshRefused = "refresh_refused", "The next refresh is refused.", "RFC 6749, section 5.2: a new sign-in is asked for";
    UserinfoSubMismatch = "userinfo_sub_mismatch", "User info is about somebody else.", "OpenID Connect Core, section 5.3.2";
    Jwks500 = "jwks_500", "The key set answers 500.", "No sign-in without keys";
    StaleKeys = "stale_keys", "The key set has no key that signs now.", "RFC 7515, section 5.2";
    Discovery500 = "discovery_500", "The discovery document answers 500.", "OpenID Connect Discovery, section 4.2";
    DiscoveryWrongIssuer = "discovery_wrong_issuer", "The discovery document is of another issuer.", "OpenID Connect Discovery, section 4.3";
    RotateNow = "rotate_now", "The keys rotate between code and tokens, so that the ID token has a key that nobody has seen.", "Nobody refuses it: clients fetch the keys again, and accept (OpenID Connect Core, section 10.1.1)";
    Slow = "slow" (1 ..= 25), "The token endpoint answers so many seconds late.", "The application: its own time limit";
}

impl FaultScenario {
    /// The fault of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scenario| scenario.name() == name)
    }

    /// Whether it belongs to a sign-in; the others are of documents that no sign-in is known for.
    #[must_use]
    pub fn is_of_sign_in(self) -> bool {
        !matches!(
            self,
            Self::Jwks500 | Self::StaleKeys | Self::Discovery500 | Self::DiscoveryWrongIssuer
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_a_name_of_its_own() {
        for scenario in FaultScenario::ALL {
            assert_eq!(FaultScenario::named(scenario.name()), Some(*scenario));
        }
        assert_eq!(FaultScenario::named("none"), None);
        assert_eq!(FaultScenario::Slow.bounds(), Some((1, 25)));
    }
}
