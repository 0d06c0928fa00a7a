//! What checks of a message found.

use serde::{Deserialize, Serialize};

use crate::Time;

/// How an engine judges a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpamReport {
    /// Which engine it was.
    #[schema(example = "builtin")]
    pub engine: String,
    /// The version of its rules: the same version gives the same message the same score.
    #[schema(example = "builtin/1")]
    pub engine_version: String,
    /// The points of all rules that matched.
    #[schema(example = 1.3)]
    pub score: f64,
    /// The score from which on a message is spam.
    #[schema(example = 5.0)]
    pub threshold: f64,
    /// Whether the score reaches the threshold.
    pub is_spam: bool,
    /// Whether the message was so large that only a part of it was looked at.
    pub truncated: bool,
    /// When the score was computed.
    pub checked_at: Time,
    /// The rules that matched, those with the most points first.
    pub rules: Vec<MatchedRule>,
}

/// A rule that a message matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MatchedRule {
    /// The rule's name.
    #[schema(example = "HTML_ONLY")]
    pub name: String,
    /// Its points.
    #[schema(example = 0.7)]
    pub score: f64,
    /// What it looks for.
    #[schema(example = "There is an HTML part and no text part.")]
    pub description: String,
}
