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

/// How mail clients show the HTML of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HtmlReport {
    /// From 0 to 100: the mean of the clients' scores by their weights; null when there is no HTML.
    #[schema(required, example = 87.4)]
    pub score: Option<f64>,
    /// Of the known pairs of a client and a feature that the message uses, how many percent are supported;
    /// clients count by their weights. Null when there is no HTML.
    #[schema(required, example = 91.2)]
    pub supported: Option<f64>,
    /// How many percent of them are supported in part.
    #[schema(required, example = 5.1)]
    pub partial: Option<f64>,
    /// How many percent of them are not supported.
    #[schema(required, example = 3.7)]
    pub unsupported: Option<f64>,
    /// Of all pairs, how many percent nobody tested.
    #[schema(required, example = 2.0)]
    pub unknown: Option<f64>,
    /// Whether the HTML was so long that only its first 2 MiB were looked at.
    pub truncated: bool,
    /// Where the knowledge of clients comes from.
    pub dataset: HtmlDataset,
    /// Every client, or those that were asked for.
    pub clients: Vec<ClientScore>,
    /// The features that some client with a weight lacks, those that cost most first.
    pub issues: Vec<HtmlIssue>,
}

/// A data set of what mail clients support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HtmlDataset {
    /// Its name.
    #[schema(example = "Can I email")]
    pub name: String,
    /// Where it is to be found.
    #[schema(format = "uri", example = "https://www.caniemail.com/")]
    pub url: String,
    /// Its licence (SPDX).
    #[schema(example = "MIT")]
    pub license: String,
    /// The day of its last change.
    #[schema(example = "2026-05-13")]
    pub updated_at: String,
    /// How many features it has.
    #[schema(example = 307)]
    pub features: usize,
}

/// How well a mail client shows a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ClientScore {
    /// Family and platform.
    #[schema(example = "outlook.windows")]
    pub id: String,
    /// For people.
    #[schema(example = "Outlook Windows")]
    pub name: String,
    /// The family's name.
    #[schema(example = "Outlook")]
    pub family: String,
    /// The platform's name.
    #[schema(example = "Windows")]
    pub platform: String,
    /// How much it counts in the overall score.
    #[schema(example = 1.0)]
    pub weight: f64,
    /// From 0 to 100.
    #[schema(example = 64.0)]
    pub score: f64,
    /// How many of the message's features it does not support.
    #[schema(example = 3)]
    pub unsupported: usize,
    /// How many of them it supports in part.
    #[schema(example = 1)]
    pub partial: usize,
}

/// A feature of the message that some clients lack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HtmlIssue {
    /// The feature's name in the data set.
    #[schema(example = "css-border-radius")]
    pub slug: String,
    /// For people.
    #[schema(example = "border-radius")]
    pub title: String,
    /// The data set's name of the group.
    #[schema(example = "CSS")]
    pub category: String,
    /// What it is a feature of.
    pub kind: FeatureKind,
    /// How often the message uses it.
    #[schema(example = 2)]
    pub count: usize,
    /// Where, in the `html` of the message: the first 50 places.
    pub locations: Vec<HtmlLocation>,
    /// The page that tells of it.
    #[schema(format = "uri", example = "https://www.caniemail.com/features/css-border-radius/")]
    pub url: String,
    /// What a client loses that does not support it: 0.2 content, 0.1 layout, 0.04 decoration.
    #[schema(example = 0.04)]
    pub impact: f64,
    /// How many percent of the clients of which it is known support it, by their weights.
    pub support: SupportShares,
    /// The notes that `byClient` names.
    pub notes: Vec<FeatureNote>,
    /// What each client does with it.
    pub by_client: Vec<ClientSupport>,
}

/// What a feature is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FeatureKind {
    /// Elements and attributes.
    Html,
    /// Styles.
    Css,
    /// Image formats.
    Image,
    /// Anything else.
    Other,
}

/// A place in the HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HtmlLocation {
    /// From 1.
    #[schema(minimum = 1)]
    pub line: usize,
    /// Characters from the start of the line, from 1.
    #[schema(minimum = 1)]
    pub column: usize,
}

/// Percentages of clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SupportShares {
    /// Support it.
    #[schema(example = 80.0)]
    pub yes: f64,
    /// Support it in part.
    #[schema(example = 5.0)]
    pub partial: f64,
    /// Do not support it.
    #[schema(example = 15.0)]
    pub no: f64,
}

/// A note of the data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FeatureNote {
    /// Its number among the feature's notes.
    #[schema(example = "1")]
    pub number: String,
    /// The note.
    #[schema(example = "Not supported on `<img>`.")]
    pub text: String,
}

/// What a client does with a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ClientSupport {
    /// The client's id.
    #[schema(example = "outlook.windows")]
    pub client: String,
    /// By its last tested version.
    pub support: SupportLevel,
    /// That version; null when none was tested.
    #[schema(required, example = "2019")]
    pub version: Option<String>,
    /// Numbers of notes.
    pub notes: Vec<String>,
}

/// How far a client supports a feature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SupportLevel {
    /// Supported.
    Yes,
    /// Supported in part.
    Partial,
    /// Not supported.
    No,
    /// Not tested.
    #[default]
    Unknown,
}

impl SupportLevel {
    /// Whether somebody tested it.
    #[must_use]
    pub fn is_known(self) -> bool {
        self != Self::Unknown
    }
}

/// What is to be said of unsubscribing from a message (RFC 2369, RFC 8058).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnsubscribeReport {
    /// Whether there is a List-Unsubscribe field.
    pub present: bool,
    /// Whether a mailbox provider can unsubscribe by one POST: there is an https address, and
    /// List-Unsubscribe-Post announces it.
    pub one_click: bool,
    /// Whether the message looks like one to many.
    pub bulk: bool,
    /// The addresses of the field in its order; at most 50.
    pub uris: Vec<UnsubscribeUri>,
    /// What is wrong.
    pub findings: Vec<UnsubscribeFinding>,
}

/// An address to unsubscribe at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UnsubscribeUri {
    /// As it stands in the field.
    #[schema(example = "https://example.com/unsubscribe?token=abc")]
    pub uri: String,
    /// Its scheme; `""` when it is no URI.
    #[schema(example = "https")]
    pub scheme: String,
    /// Whether it names a host or a mailbox.
    pub valid: bool,
}

/// Something that is wrong about unsubscribing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UnsubscribeFinding {
    /// A stable word: `missing`, `repeated`, `no_brackets`, `bad_uri`, `only_mailto`, `http_uri`,
    /// `post_missing`, `post_wrong`, `not_signed` or `no_link_in_body`.
    #[schema(example = "post_missing")]
    pub code: String,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// For people.
    #[schema(example = "There is no List-Unsubscribe-Post field, which announces one click.")]
    pub message: String,
    /// The section that says so.
    #[schema(example = "RFC 8058, section 3.1")]
    pub reference: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// It does not work.
    Error,
    /// It works less well than it could.
    Warning,
    /// Good to know.
    Notice,
}

/// Which checks there are, and what they are made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChecksOverview {
    /// Whether checks may ask others: link checks, and requests to unsubscribe.
    pub outgoing: bool,
    /// The spam score.
    pub spam: SpamCheckInfo,
    /// The HTML check.
    pub html: HtmlCheckInfo,
}

/// What the spam score is made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SpamCheckInfo {
    /// The score from which on a message is spam.
    #[schema(example = 5.0)]
    pub threshold: f64,
    /// The engines; the first one judges where none is named.
    pub engines: Vec<SpamEngineInfo>,
}

/// A spam engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SpamEngineInfo {
    /// By which requests name it.
    #[schema(example = "builtin")]
    pub name: String,
    /// The version of its rules, where it is known.
    #[schema(required, example = "builtin/1")]
    pub version: Option<String>,
    /// Whether it answers.
    pub available: bool,
}

/// What the HTML check is made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HtmlCheckInfo {
    /// Where the knowledge of clients comes from.
    pub dataset: HtmlDataset,
    /// The clients.
    pub clients: Vec<MailClient>,
}

/// A mail client on a platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MailClient {
    /// Family and platform.
    #[schema(example = "outlook.windows")]
    pub id: String,
    /// For people.
    #[schema(example = "Outlook Windows")]
    pub name: String,
    /// The family's name.
    #[schema(example = "Outlook")]
    pub family: String,
    /// The platform's name.
    #[schema(example = "Windows")]
    pub platform: String,
    /// How much it counts in the overall score.
    #[schema(example = 1.0)]
    pub weight: f64,
}
