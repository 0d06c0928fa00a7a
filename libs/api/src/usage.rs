//! What the team uses, and what its plan allows.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use trapline_app::{App, Plan, PlanLimit, UsageReport};
use trapline_model::Time;

use crate::{auth::Reader, error::Result};

/// What a team uses.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Usage)]
pub(crate) struct UsageBody {
    /// The team's plan.
    plan: PlanName,
    /// What the plan allows; null is no limit.
    limits: PlanLimits,
    /// What the team uses of it.
    used: Used,
    /// When the month began (UTC) whose messages are counted.
    since: Time,
    /// When the next month begins, and messages are counted from zero.
    resets_at: Time,
    /// What the plan includes.
    #[schema(example = json!(["webhooks"]))]
    features: Vec<&'static str>,
    /// Where a larger plan is to be had, if the operator says so.
    #[schema(example = json!(null))]
    upgrade_url: Option<String>,
}

/// A plan.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PlanName {
    /// A stable word for programs.
    #[schema(example = "team")]
    id: String,
    /// For people.
    #[schema(example = "Team")]
    name: String,
}

/// What a plan allows; null is no limit.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanLimits {
    /// Inboxes at the same time.
    #[schema(example = 500)]
    inboxes: Option<u64>,
    /// Messages stored in a calendar month (UTC), one for each inbox that a mail goes to.
    #[schema(example = 100_000)]
    messages_per_month: Option<u64>,
    /// Messages that one inbox keeps: the most that its `maxMessages` may be.
    #[schema(example = 1000)]
    messages_per_inbox: Option<u64>,
    /// Bytes of one message.
    #[schema(example = 15_728_640)]
    message_bytes: Option<u64>,
    /// Days after which a message is removed.
    #[schema(example = 30)]
    retention_days: Option<u64>,
    /// People in the team.
    #[schema(example = 25)]
    members: Option<u64>,
}

/// What a team uses.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Used {
    /// Inboxes that are there.
    #[schema(example = 12)]
    inboxes: u64,
    /// People in the team.
    #[schema(example = 3)]
    members: u64,
    /// Messages stored this month, also those that are gone again; exact after a second.
    #[schema(example = 4711)]
    messages_per_month: u64,
}

impl PlanLimits {
    fn of(plan: &Plan) -> Self {
        Self {
            inboxes: plan.most(PlanLimit::Inboxes),
            messages_per_month: plan.most(PlanLimit::MessagesPerMonth),
            messages_per_inbox: plan.most(PlanLimit::MessagesPerInbox),
            message_bytes: plan.most(PlanLimit::MessageBytes),
            retention_days: plan.most(PlanLimit::RetentionDays),
            members: plan.most(PlanLimit::Members),
        }
    }
}

/// Get the team's usage
///
/// What the team's plan allows, and what the team uses of it.
#[utoipa::path(
    get,
    path = "/api/team/usage",
    operation_id = "getUsage",
    tag = "Team",
    responses((status = 200, description = "What is used and allowed.", body = UsageBody))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
) -> Result<Json<UsageBody>> {
    let report = app.usage().report(&by).await?;
    let UsageReport { plan, inboxes, members, messages, since, resets_at } = report;
    Ok(Json(UsageBody {
        limits: PlanLimits::of(&plan),
        used: Used { inboxes, members, messages_per_month: messages },
        since,
        resets_at,
        features: plan.feature_names(),
        upgrade_url: app.plans().upgrade_url().map(str::to_owned),
        plan: PlanName { id: plan.id.clone(), name: plan.name.clone() },
    }))
}
