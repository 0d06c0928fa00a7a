//! What a use case can answer instead of its result, without a word of HTTP or SMTP.

use std::{fmt, panic::Location, sync::Arc, time::Duration};

use trapline_store::PortError;

use crate::{
    plans::{PlanFeature, PlanLimit},
    spam_engine::SpamEngineFailure,
    sso_problem::SsoProblem,
};

/// What a use case answers.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A field of the input that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The field, as the client wrote it.
    pub path: String,
    /// A stable word for programs.
    pub code: &'static str,
    /// Human-readable; wording may change between releases.
    pub message: String,
}

/// Why somebody is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unauthenticated {
    /// The request has no key.
    Missing,
    /// No key has this value.
    Unknown,
    /// The key has expired.
    Expired,
    /// The session has ended, or never was.
    SessionOver,
    /// Nobody has this address and password.
    WrongPassword,
}

/// Why somebody known may not do this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forbidden {
    /// The key may only read.
    ReadOnlyKey,
    /// The signature of a preview URL does not hold, or its time is over.
    BadSignature,
    /// A page of another site sent the request, in the name of whoever is signed in.
    CrossSite,
    /// Nobody signs in here, and the request names a host that may be anybody's.
    UnknownHost,
    /// Nobody may sign up here.
    SignUpOff,
    /// The signed-in person is in no team.
    TeamRequired,
    /// It takes a person who is signed in; a key will not do.
    PersonRequired,
    /// It takes a signed-in admin or owner of the team.
    AdminRequired,
    /// It takes the signed-in owner of the team.
    OwnerRequired,
    /// The owner stays in the team, as its owner, until it is handed over.
    OwnerStays,
    /// The person's teams want their single sign-on.
    SsoRequired,
    /// The installation's first team stays.
    FirstTeam,
}

/// Why a use case has no result.
#[derive(Debug)]
pub enum Error {
    /// The input is wrong.
    Invalid(Vec<Issue>),
    /// The caller is not known.
    Unauthenticated(Unauthenticated),
    /// The caller may not do this.
    Forbidden(Forbidden),
    /// Not there, or another team's.
    NotFound,
    /// Somebody else changed the same thing at the same moment, again and again.
    Conflict,
    /// The caller's allowance is used up.
    TooMany {
        /// When the next try can succeed.
        retry_after: Duration,
    },
    /// As many waits and event streams are open as may be.
    TooManyStreams {
        /// Whether they are the team's own, not those of all teams.
        of_team: bool,
    },
    /// It takes mail to be sent, and the service has no relay.
    OutboundDisabled,
    /// It takes others to be asked about a message, and the operator has switched that off.
    ChecksDisabled,
    /// A spam engine has no answer.
    SpamEngine {
        /// Its name.
        engine: &'static str,
        /// Why.
        failure: SpamEngineFailure,
    },
    /// The team makes inboxes faster than it may.
    TooManyInboxes {
        /// How many it may make at once, and regains in a minute.
        most: u32,
        /// When the next one can be made.
        retry_after: Duration,
    },
    /// The team's plan allows no more of something.
    QuotaExceeded {
        /// What.
        limit: PlanLimit,
        /// How much the plan allows.
        most: u64,
        /// Where a larger plan is to be had.
        upgrade_url: Option<Arc<str>>,
    },
    /// The team's plan does not include something.
    FeatureUnavailable {
        /// What.
        feature: PlanFeature,
        /// Where a larger plan is to be had.
        upgrade_url: Option<Arc<str>>,
    },
    /// Somebody does not come in by single sign-on.
    Sso(SsoProblem),
    /// Not now: the service is shutting down, or a backend does not answer.
    Unavailable,
    /// There is no room for what was to be stored; what frees room still works.
    StorageFull,
    /// A message's stored bytes are gone or not those that were written; names their segment.
    Damaged(String),
    /// Something was sealed with another master key than this process has.
    WrongMasterKey,
    /// A key was not derived, or a secret not sealed; so nothing was stored.
    Crypto,
    /// A fault of this service.
    Internal(Fault),
}

/// A fault of this service, with the line of code that met it.
#[derive(Debug)]
pub struct Fault {
    /// The backend's error.
    pub source: PortError,
    /// The line of code.
    pub at: &'static Location<'static>,
}

impl Error {
    /// An error that names one wrong field.
    pub fn invalid(path: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Issue { path: path.to_owned(), code, message: message.into() }])
    }

    /// Whether a backend did not answer or had no room, so that the same may work later.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unavailable | Self::StorageFull => true,
            Self::Internal(Fault { source, .. }) => {
                matches!(source, PortError::Unavailable(_) | PortError::Timeout)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(_) => f.write_str("invalid request"),
            Self::Unauthenticated(_) => f.write_str("not authenticated"),
            Self::Forbidden(_) => f.write_str("forbidden"),
            Self::NotFound => f.write_str("not found"),
            Self::Conflict => f.write_str("conflict"),
            Self::TooMany { .. } => f.write_str("too many requests"),
            Self::TooManyStreams { of_team: true } => {
                f.write_str("the team has too many waits and streams open")
            }
            Self::TooManyStreams { of_team: false } => {
                f.write_str("too many waits and streams are open")
            }
            Self::TooManyInboxes { .. } => f.write_str("too many new inboxes"),
            Self::QuotaExceeded { limit, most, .. } => {
                write!(f, "the plan allows no more: {limit} is {most}")
            }
            Self::FeatureUnavailable { feature, .. } => {
                write!(f, "the plan does not include {feature}")
            }
            Self::Sso(problem) => problem.fmt(f),
            Self::ChecksDisabled => f.write_str("checks may ask nobody"),
            Self::SpamEngine { engine, failure } => {
                write!(f, "{engine} has no answer: {}", failure.code())
            }
            Self::OutboundDisabled => f.write_str("no relay is configured"),
            Self::Unavailable => f.write_str("unavailable"),
            Self::StorageFull => f.write_str("the disk that holds the data is full"),
            Self::Damaged(segment) => write!(f, "segment {segment} is missing or damaged"),
            Self::WrongMasterKey => {
                f.write_str("a stored secret does not open with this secret key")
            }
            Self::Crypto => f.write_str("the cryptographic library failed"),
            Self::Internal(fault) => write!(f, "{} (at {})", fault.source, fault.at),
        }
    }
}

impl std::error::Error for Error {}

impl From<PortError> for Error {
    #[track_caller]
    fn from(source: PortError) -> Self {
        match source {
            PortError::Conflict => Self::Conflict,
            PortError::Timeout => Self::Unavailable,
            PortError::StorageFull => Self::StorageFull,
            PortError::Damaged(segment) => Self::Damaged(segment),
            source => Self::Internal(Fault { source, at: Location::caller() }),
        }
    }
}
