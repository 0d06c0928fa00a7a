//! Workflow runs: begun for an applicant, and ended as the applicant's name or the settings say.

use serde_json::{Value, json};

use super::{
    applicants,
    wire::{dense, paged, tell},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    flow::{Flow, FlowStep, StepActor},
};

const STATES: [&str; 8] = [
    "processing",
    "awaiting_input",
    "awaiting_client_input",
    "approved",
    "declined",
    "review",
    "abandoned",
    "error",
];

pub(super) const FLOW: Flow = Flow {
    kind: "workflow_runs",
    steps: &[
        FlowStep { from: "awaiting_input", to: "processing", by: StepActor::Time },
        FlowStep { from: "awaiting_input", to: "abandoned", by: StepActor::Test },
        FlowStep { from: "processing", to: "approved", by: StepActor::Time },
        FlowStep { from: "processing", to: "declined", by: StepActor::Test },
        FlowStep { from: "processing", to: "review", by: StepActor::Test },
        FlowStep { from: "processing", to: "error", by: StepActor::Test },
        FlowStep { from: "review", to: "approved", by: StepActor::Test },
        FlowStep { from: "review", to: "declined", by: StepActor::Test },
    ],
    take,
    page: None,
};

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let workflow = context.need("workflow_id")?;
    let applicant = applicants::of_call(context)?;
    let last_name = applicant.object["last_name"].as_str().unwrap_or_default();
    let end = match context.declined(&[last_name]).map(|decline| decline.code) {
        None => "approved",
        Some("consider") => "review",
        Some(code) => code,
    };
    let (id, now) = (context.uuid(), context.now.to_string());
    let link = context.field("link").filter(|link| link.is_object()).cloned().map(|mut link| {
        link["url"] = json!(context.url(&format!("/studio/{id}")));
        link
    });
    let mut object = context.given(&["tags", "customer_user_id"]);
    for (field, value) in [
        ("id", json!(id)),
        ("applicant_id", json!(applicant.id)),
        ("workflow_id", json!(workflow)),
        ("workflow_version_id", json!(1)),
        ("status", json!("awaiting_input")),
        ("dashboard_url", json!(context.url(&format!("/dashboard/results/{id}")))),
        ("sdk_token", json!(format!("sdk_token.{}", context.chance.base62(64)))),
        ("link", json!(link)),
        ("created_at", json!(now)),
        ("updated_at", json!(now)),
    ] {
        object[field] = value;
    }
    let mut run = context.create("workflow_runs", &id, dense(object));
    let task = context.uuid();
    run.hidden = json!({"end": end, "task": task});
    let run = context.put(run);
    tell(context, "workflow_task.started", &task, "started");
    Ok(MockReply::json(201, &run.object))
}

/// Takes a run to a state. One that is approved may be one that ends in another way.
#[expect(clippy::unnecessary_wraps, reason = "what a flow takes")]
fn take(
    context: &mut CallContext<'_>,
    run: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    let now = context.now.to_string();
    if to == "processing" {
        let task = run.hidden["task"].as_str().unwrap_or_default().to_owned();
        let run = context.change(run, json!({"status": to, "updated_at": now}));
        tell(context, "workflow_task.completed", &task, "completed");
        return Ok(run);
    }
    let is_usual = to == "approved" && run.state.as_deref() == Some("processing");
    let planned = run.hidden["end"].as_str().filter(|_| is_usual).map(str::to_owned);
    let end = planned.unwrap_or_else(|| to.to_owned());
    let mut fields = json!({"status": end, "updated_at": now, "output": {}, "reasons": []});
    if end == "error" {
        fields["error"] = json!({"type": "task_error", "message": "a task of the workflow failed"});
    }
    let run = context.change(run, fields);
    tell(context, "workflow_run.completed", &run.id, &end);
    Ok(run)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let run = context.of_path("workflow_runs")?;
    Ok(MockReply::ok(&run.object))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut runs = context.list("workflow_runs")?;
    if let Some(status) = context.text("status") {
        let wanted: Vec<_> = status.split(',').collect();
        if !wanted.iter().all(|state| STATES.contains(state)) {
            let message = format!("must be some of {}", STATES.join(","));
            return Err(CallFailure::invalid("status", message).into());
        }
        runs.retain(|run| run.state.as_deref().is_some_and(|state| wanted.contains(&state)));
    }
    if let Some(applicant) = context.text("applicant_id") {
        runs.retain(|run| run.object["applicant_id"] == applicant.as_str());
    }
    if let Some(tags) = context.text("tags") {
        let has = |run: &StoredObject, tag: &str| {
            run.object["tags"].as_array().is_some_and(|tags| tags.contains(&json!(tag)))
        };
        runs.retain(|run| tags.split(',').all(|tag| has(run, tag)));
    }
    if context.text("sort").as_deref() == Some("asc") {
        runs.reverse();
    }
    let (shown, reply) = paged(context, runs)?;
    Ok(MockReply { body: Value::Array(shown).to_string(), ..reply })
}
