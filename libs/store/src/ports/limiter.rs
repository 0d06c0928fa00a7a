//! Rate limits.

use std::time::Duration;

use async_trait::async_trait;

use super::Result;

/// An allowance: `burst` at once, all of it regained over `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Units that may be taken at once; at least 1.
    pub burst: u32,
    /// The time in which `burst` units are regained.
    pub per: Duration,
}

/// Whether a unit was there to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateDecision {
    /// Taken.
    Allowed {
        /// Units left.
        remaining: u32,
    },
    /// Not taken.
    Limited {
        /// When the next unit is there.
        retry_after: Duration,
    },
}

/// Counts what each key took (GCRA, the generic cell rate algorithm).
#[async_trait]
pub trait Limiter: Send + Sync {
    /// Takes one unit from the key's allowance.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn take(&self, key: &str, rate: Rate) -> Result<RateDecision>;
}
