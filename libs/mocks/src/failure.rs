//! Why a call has no good answer, before a provider says it in its own words.

use serde_json::Value;

use crate::Decline;

/// What went wrong. Each provider has one function that makes an answer of it.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// The credentials are not the mock's.
    Unauthorized,
    /// There is no object with this id.
    NotFound {
        /// The kind as the provider says it.
        kind: &'static str,
        /// The id that was asked for.
        id: String,
        /// The field or parameter that had it.
        field: &'static str,
    },
    /// The provider has no such path.
    NoRoute,
    /// A field is missing or wrong.
    Invalid {
        /// Which one.
        field: String,
        /// A word for the kind of mistake: `missing`, or the provider's own.
        code: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The call is declined, and with which details.
    Declined(&'static Decline, Value),
    /// The key of a call was used for another one.
    KeyReused {
        /// The key.
        key: String,
    },
    /// The body or what would be kept is too large.
    TooLarge,
    /// Too many calls; seconds until the next may come.
    RateLimited {
        /// Seconds.
        after: u64,
    },
    /// The provider itself fails.
    Server,
    /// The provider is away.
    Unavailable,
}

impl CallFailure {
    pub(crate) fn missing(field: &str) -> Self {
        let message = format!("Missing required param: {field}.");
        Self::Invalid { field: field.to_owned(), code: "missing", message }
    }

    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid { field: field.to_owned(), code: "invalid", message: message.into() }
    }
}

/// Why a handler ended before it had an answer.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The answer is a failure; what was written by then is kept only for a decline.
    Failed(CallFailure),
    /// Rows have to be read first.
    Load,
}

impl From<CallFailure> for Halt {
    fn from(failure: CallFailure) -> Self {
        Self::Failed(failure)
    }
}
