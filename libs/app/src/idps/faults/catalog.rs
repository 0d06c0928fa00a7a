//! Every fault: its name, what is wrong, and the rule by which a client must refuse it.

use serde::{Deserialize, Serialize};

/// A protocol that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultProtocol {
    /// `OpenID` Connect.
    Oidc,
    /// SAML 2.0.
    Saml,
}

impl FaultProtocol {
    /// Its word in the API and in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Oidc => "oidc",
            Self::Saml => "saml",
        }
    }
}

const OIDC: &[FaultProtocol] = &[FaultProtocol::Oidc];
const SAML: &[FaultProtocol] = &[FaultProtocol::Saml];
const BOTH: &[FaultProtocol] = &[FaultProtocol::Oidc, FaultProtocol::Saml];

macro_rules! scenarios {
    ($($scenario:ident = $name:literal $(($min:literal ..= $max:literal))?, $protocols:ident, $summary:literal, $rule:literal;)+) => {
        /// What a provider does wrong when it is asked to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum FaultScenario {
            $(#[doc = $summary] #[serde(rename = $name)] $scenario,)+
        }

        impl FaultScenario {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$scenario),+];

            const NAMES: &[&str] = &[$($name),+];
            const PROTOCOLS: &[&[FaultProtocol]] = &[$($protocols),+];
            const SUMMARIES: &[&str] = &[$($summary),+];
            const RULES: &[&str] = &[$($rule),+];
            const BOUNDS: &[&[(i64, i64)]] = &[$(&[$(($min, $max))?]),+];

            /// Its name in the API.
            #[must_use]
            pub fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }

            /// The protocols in which it exists.
            #[must_use]
            pub fn protocols(self) -> &'static [FaultProtocol] {
                Self::PROTOCOLS[self as usize]
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
    AccessDenied = "access_denied", OIDC, "The redirect carries this error.", "RFC 6749, section 4.1.2.1";
    LoginRequired = "login_required", OIDC, "The redirect carries this error.", "OpenID Connect Core, section 3.1.2.6";
    ServerError = "server_error", OIDC, "The redirect carries this error.", "RFC 6749, section 4.1.2.1";
    TemporarilyUnavailable = "temporarily_unavailable", OIDC, "The redirect carries this error.", "RFC 6749, section 4.1.2.1";
    StateMismatch = "state_mismatch", OIDC, "Another state comes back.", "RFC 6749, section 10.12";
    IssMismatch = "iss_mismatch", OIDC, "The redirect names another issuer.", "RFC 9207, section 2.4";
    Expired = "expired", BOTH, "The ID token or the assertion was made two hours ago and expired one hour ago.", "OpenID Connect Core, section 3.1.3.7; saml-core, section 2.5.1.2";
    NotYetValid = "not_yet_valid", BOTH, "The ID token or the assertion is of an hour from now.", "RFC 7519, section 4.1.5; saml-core, section 2.5.1.2";
    ClockSkew = "clock_skew" (-86_400 ..= 86_400), BOTH, "All times of the ID token or the assertion are moved by so many seconds.", "OpenID Connect Core, section 3.1.3.7; saml-core, section 2.5.1.2";
    WrongIssuer = "wrong_issuer", BOTH, "The ID token, or the response and its assertion, are of another issuer.", "OpenID Connect Core, section 3.1.3.7; saml-profiles, section 4.1.4.2";
    WrongAudience = "wrong_audience", BOTH, "The ID token or the assertion is for another client.", "OpenID Connect Core, section 3.1.3.7; saml-core, section 2.5.1.4";
    WrongAzp = "wrong_azp", OIDC, "The ID token is for two clients, and was given to the other one.", "OpenID Connect Core, section 3.1.3.7";
    WrongNonce = "wrong_nonce", OIDC, "The ID token has another nonce.", "OpenID Connect Core, section 3.1.3.7";
    MissingNonce = "missing_nonce", OIDC, "The ID token has no nonce.", "OpenID Connect Core, section 3.1.3.7";
    MissingEmail = "missing_email", BOTH, "No mail address is in tokens and user info, or among the attributes.", "The application: a clear message, and no half-made account";
    BadSignature = "bad_signature", BOTH, "A bit of the signature of the ID token, or of the response and the assertion, is flipped.", "RFC 7515, section 5.2; saml-core, section 5";
    WrongKey = "wrong_key", BOTH, "What is signed is signed by a key that is published nowhere: an ID token under the name of the active one, SAML with its own certificate.", "RFC 7515, section 5.2; saml-metadata, section 2.4.1.1";
    UnknownKid = "unknown_kid", OIDC, "The same, under a name that the key set lacks.", "RFC 7515, section 4.1.4";
    AlgNone = "alg_none", OIDC, "The ID token says that it is unsigned, and is.", "RFC 8725, section 3.1";
    AlgHs256 = "alg_hs256", OIDC, "The ID token is signed by HMAC with the public key.", "RFC 8725, section 2.1";
    IdTokenMissing = "id_token_missing", OIDC, "The token answer has no ID token.", "OpenID Connect Core, section 3.1.3.3";
    Token500 = "token_500", OIDC, "The token endpoint answers 500.", "The application: a clear message";
    TokenMalformed = "token_malformed", OIDC, "The token endpoint answers half a JSON document.", "RFC 6749, section 5.1";
    RefreshRefused = "refresh_refused", OIDC, "The next refresh is refused.", "RFC 6749, section 5.2: a new sign-in is asked for";
    UserinfoSubMismatch = "userinfo_sub_mismatch", OIDC, "User info is about somebody else.", "OpenID Connect Core, section 5.3.2";
    Jwks500 = "jwks_500", OIDC, "The key set answers 500.", "No sign-in without keys";
    StaleKeys = "stale_keys", BOTH, "The key set or the metadata has no key that signs now.", "RFC 7515, section 5.2; saml-metadata, section 2.4.1.1";
    Discovery500 = "discovery_500", OIDC, "The discovery document answers 500.", "OpenID Connect Discovery, section 4.2";
    DiscoveryWrongIssuer = "discovery_wrong_issuer", OIDC, "The discovery document is of another issuer.", "OpenID Connect Discovery, section 4.3";
    RotateNow = "rotate_now", OIDC, "The keys rotate between code and tokens, so that the ID token has a key that nobody has seen.", "Nobody refuses it: clients fetch the keys again, and accept (OpenID Connect Core, section 10.1.1)";
    Slow = "slow" (1 ..= 25), BOTH, "The token endpoint or the SAML response is so many seconds late.", "The application: its own time limit";
    StatusResponder = "status_responder", SAML, "A response without an assertion says that the provider failed.", "saml-core, section 3.2.2.2";
    StatusAuthnFailed = "status_authn_failed", SAML, "The same, because nobody could be signed in.", "saml-core, section 3.2.2.2";
    NoPassive = "no_passive", SAML, "The same, because nobody may be asked.", "saml-core, section 3.2.2.2";
    WrongRecipient = "wrong_recipient", SAML, "The subject is confirmed for another address.", "saml-profiles, section 4.1.4.3";
    WrongDestination = "wrong_destination", SAML, "The response is sent to another address.", "saml-core, section 3.2.2";
    WrongInResponseTo = "wrong_in_response_to", SAML, "The response answers a request that nobody made.", "saml-profiles, section 4.1.4.3";
    Tampered = "tampered", SAML, "The name was changed after it was signed.", "saml-core, section 5";
    Unsigned = "unsigned", SAML, "Nothing is signed.", "saml-profiles, section 4.1.4.5";
    SignatureOnlyOnResponse = "signature_only_on_response", SAML, "The response is signed, and the assertion in it is not.", "Those that want signed assertions";
    SignatureWrapping = "signature_wrapping" (1 ..= 8), SAML, "A signed message is moved aside for a forged one, in the arrangement XSW1 to XSW8.", "Somorovsky et al. 2012: nobody may return the forged name";
    CommentInNameid = "comment_in_nameid", SAML, "A comment in the name hides the end of it from those who read to the first node.", "Nobody may return the name without its end";
    Sha1 = "sha1", SAML, "The digest is made with SHA-1.", "Those that reject deprecated algorithms";
    RelaystateDropped = "relaystate_dropped", SAML, "The relay state does not come back.", "saml-bindings, section 3.5.3";
    Replay = "replay", SAML, "The provider's previous response comes again.", "saml-profiles, section 4.1.4.5";
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
