//! Why somebody does not come in by single sign-on, in words for whoever reads them.

use std::fmt;

/// Why a provider was of no help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderFailure {
    /// It was not reached; a word that says how.
    Unreachable(&'static str),
    /// What it answers is not what a provider answers, or it takes another issuer's name.
    NotAProvider,
    /// It refuses this service: an error code of RFC 6749, section 5.2.
    Refused(String),
    /// Its ID token does not hold; a word that says why.
    BadToken(&'static str),
}

/// Why somebody does not come in by single sign-on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SsoProblem {
    /// No team has people of this mail domain sign in elsewhere.
    NoTeam,
    /// The sign-in was not begun in this browser, or too long ago.
    NotBegun,
    /// The provider sent the browser back without a code: an error code of RFC 6749, section 4.1.2.1.
    Denied(String),
    /// The provider was of no help.
    Provider(ProviderFailure),
    /// The provider does not say that the mail address is the person's own.
    UnverifiedEmail,
    /// The mail address is of a domain that is not verified as the team's.
    OtherDomain,
    /// There is an account with this address, which nobody has confirmed.
    UnconfirmedAccount,
    /// Somebody was in the team and is no more.
    NotAMember,
}

impl fmt::Display for ProviderFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(how) => write!(f, "the identity provider was not reached ({how})"),
            Self::NotAProvider => f.write_str(
                "what is at the issuer's address is no OpenID Connect provider of that name",
            ),
            Self::Refused(code) => {
                write!(f, "the identity provider refuses what it is asked for ({code})")
            }
            Self::BadToken(why) => {
                write!(f, "the identity provider's ID token does not hold ({why})")
            }
        }
    }
}

impl fmt::Display for SsoProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTeam => f.write_str("no team here has a single sign-on for this address"),
            Self::NotBegun => f.write_str(
                "this sign-in was not begun in this browser, or more than 10 minutes ago",
            ),
            Self::Denied(code) => {
                write!(f, "the identity provider did not sign you in ({code})")
            }
            Self::Provider(failure) => failure.fmt(f),
            Self::UnverifiedEmail => {
                f.write_str("the identity provider does not say that your mail address is verified")
            }
            Self::OtherDomain => {
                f.write_str("your mail address is of a domain that is not verified for this team")
            }
            Self::UnconfirmedAccount => f.write_str(
                "there is an account with your mail address that was never confirmed: reset its \
                 password, or ask whoever runs this server for a link",
            ),
            Self::NotAMember => {
                f.write_str("you are no longer in this team: ask one of its admins to invite you")
            }
        }
    }
}
