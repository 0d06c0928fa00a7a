//! The bodies of errors, as the document of the API has them.

use serde::Serialize;
use trapline_model::NearMiss;

/// Any error without more to tell.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = ApiError, example = json!({ "error": "Not found", "code": "not_found" }))]
pub(crate) struct ErrorBody {
    /// For people.
    pub(super) error: String,
    /// A stable word for programs.
    pub(super) code: &'static str,
}

/// The request is wrong.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = InvalidRequest)]
pub(crate) struct ValidationErrorBody {
    /// For people.
    #[schema(example = "Invalid request")]
    pub(super) error: &'static str,
    /// A stable word for programs.
    #[schema(example = "invalid_request")]
    pub(super) code: &'static str,
    /// What is wrong, field by field; the first 50.
    pub(super) issues: Vec<IssueBody>,
}

/// A wrong field.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = Issue)]
pub(crate) struct IssueBody {
    /// The field or parameter, its first 100 characters; `""` for the body as a whole.
    #[schema(example = "expiresInMinutes")]
    pub(super) path: String,
    /// A stable word for programs.
    #[schema(example = "too_big")]
    pub(super) code: &'static str,
    /// For people.
    #[schema(example = "must be at most 10080")]
    pub(super) message: String,
}

/// A wait that ended without a message.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitTimeout)]
pub(crate) struct WaitTimeoutBody {
    /// For people.
    #[schema(example = "No matching message arrived in time")]
    pub(super) error: &'static str,
    /// A stable word for programs.
    #[schema(example = "wait_timeout")]
    pub(super) code: &'static str,
    /// Up to 5 messages of the last minutes that failed one filter only.
    pub(super) near_misses: Vec<NearMiss>,
}

/// A plan that does not allow something.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanLimitReached)]
pub(crate) struct PlanBody {
    /// For people.
    #[schema(example = "Your team's plan allows 10 inboxes")]
    pub(super) error: String,
    /// A stable word for programs: `quota_exceeded` or `feature_unavailable`.
    #[schema(example = "quota_exceeded")]
    pub(super) code: &'static str,
    /// The limit that was reached or the feature that is not included, as `GET /api/team/usage` names it.
    #[schema(example = "inboxes")]
    pub(super) limit: &'static str,
    /// Where a larger plan is to be had, if the operator says so.
    #[schema(example = json!(null))]
    pub(super) upgrade_url: Option<String>,
}
