//! Checks, and the reports that they are made of.

use serde_json::{Value, json};

use super::{
    applicants,
    wire::{BASE, dense, of_owner, page, tell},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    flow::{Flow, FlowStep, StepActor},
    pdf,
};

const NAMES: [&str; 21] = [
    "document",
    "document_video",
    "document_video_with_address_information",
    "document_with_address_information",
    "document_with_driving_licence_information",
    "document_with_driver_verification",
    "facial_similarity_photo",
    "facial_similarity_photo_fully_auto",
    "facial_similarity_video",
    "facial_similarity_motion",
    "known_faces",
    "identity_enhanced",
    "watchlist_aml",
    "watchlist_enhanced",
    "watchlist_standard",
    "watchlist_peps_only",
    "watchlist_sanctions_only",
    "proof_of_address",
    "us_driving_licence",
    "device_intelligence",
    "india_pan",
];
pub(super) const FLOW: Flow = Flow {
    kind: "checks",
    steps: &[
        FlowStep { from: "awaiting_applicant", to: "in_progress", by: StepActor::Test },
        FlowStep { from: "in_progress", to: "complete", by: StepActor::Time },
        FlowStep { from: "in_progress", to: "paused", by: StepActor::Test },
        FlowStep { from: "in_progress", to: "withdrawn", by: StepActor::Test },
        FlowStep { from: "paused", to: "in_progress", by: StepActor::Test },
        FlowStep { from: "complete", to: "reopened", by: StepActor::Test },
        FlowStep { from: "reopened", to: "complete", by: StepActor::Time },
    ],
    take,
    page: None,
};
/// Reports of one check.
const MAX_REPORTS: usize = 10;
const SUB_RESULTS: [&str; 4] = ["clear", "rejected", "suspected", "caution"];

/// Names of reports in a field of the call.
fn names(context: &CallContext<'_>, field: &str) -> Result<Vec<String>, Halt> {
    let Some(given) = context.field(field).and_then(Value::as_array) else { return Ok(Vec::new()) };
    let texts: Vec<_> = given.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let known = texts.iter().all(|name| NAMES.contains(&name.as_str()));
    if !known || texts.len() != given.len() || texts.len() > MAX_REPORTS {
        let message = format!("must have at most {MAX_REPORTS} of {}", NAMES.join(", "));
        return Err(CallFailure::invalid(field, message).into());
    }
    Ok(texts)
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let applicant = applicants::of_call(context)?;
    let (names, consider) = (names(context, "report_names")?, names(context, "consider")?);
    if names.is_empty() {
        return Err(CallFailure::missing("report_names").into());
    }
    let sub_result = context.text("sub_result");
    if sub_result.as_ref().is_some_and(|given| !SUB_RESULTS.contains(&given.as_str())) {
        let message = format!("must be one of {}", SUB_RESULTS.join(", "));
        return Err(CallFailure::invalid("sub_result", message).into());
    }
    let waits = context.flag("applicant_provides_data");
    let check = begun(context, &applicant, waits);
    let last_name = applicant.object["last_name"].as_str().unwrap_or_default();
    let decline = context.declined(&[last_name]).map(|decline| decline.code);
    let check = with_reports(context, check, &names, |name| {
        let is_clear = decline.is_none() && !consider.iter().any(|other| other == name);
        (if is_clear { "clear" } else { "consider" }, sub_result.clone())
    });
    let end = if matches!(decline, Some("abandoned" | "error")) { "withdrawn" } else { "complete" };
    let mut check = check;
    check.hidden = json!({"end": end});
    let check = context.put(check);
    tell(context, "check.started", &check.id, "in_progress");
    let is_later = context.field("asynchronous").is_none() || context.flag("asynchronous");
    let check = if is_later || waits { check } else { take(context, check, "complete")? };
    Ok(MockReply::json(201, &check.object))
}

fn begun(context: &mut CallContext<'_>, applicant: &StoredObject, waits: bool) -> StoredObject {
    let id = context.uuid();
    let mut object = context.given(&["tags", "redirect_uri", "privacy_notices_read_consent_given"]);
    let form = waits.then(|| context.url(&format!("{BASE}/forms/{id}")));
    for (field, value) in [
        ("id", json!(id)),
        ("applicant_id", json!(applicant.id)),
        ("applicant_provides_data", json!(waits)),
        ("created_at", json!(context.now.to_string())),
        ("href", json!(format!("{BASE}/checks/{id}"))),
        ("status", json!(if waits { "awaiting_applicant" } else { "in_progress" })),
        ("form_uri", json!(form)),
        ("results_uri", json!(context.url(&format!("/dashboard/checks/{id}")))),
        ("sandbox", json!(true)),
        ("version", json!("3.6")),
        ("paused", json!(false)),
    ] {
        object[field] = value;
    }
    context.create("checks", &id, dense(object))
}

/// Makes the reports of a check, which know how they will end.
fn with_reports(
    context: &mut CallContext<'_>,
    check: StoredObject,
    names: &[String],
    end: impl Fn(&str) -> (&'static str, Option<String>),
) -> StoredObject {
    let mut ids = Vec::new();
    for name in names {
        let id = context.uuid();
        let object = json!({
            "id": id, "name": name, "check_id": check.id, "status": "awaiting_data",
            "created_at": context.now.to_string(), "href": format!("{BASE}/reports/{id}"),
        });
        let mut report = context.create("reports", &id, object);
        let (result, sub_result) = end(name);
        report.hidden = json!({"result": result, "sub_result": sub_result});
        context.put(report);
        ids.push(id);
    }
    context.change(check, json!({"report_ids": ids}))
}

fn reports(context: &mut CallContext<'_>, check: &StoredObject) -> Result<Vec<StoredObject>, Halt> {
    let ids = check.object["report_ids"].as_array().cloned().unwrap_or_default();
    let ids = ids.iter().filter_map(Value::as_str);
    let (mut found, mut missing) = (Vec::new(), None);
    // Asks for all at once, where none is loaded yet.
    for id in ids {
        match context.get("reports", id, "id") {
            Ok(report) => found.push(report),
            Err(halt) => missing = Some(halt),
        }
    }
    missing.map_or(Ok(found), Err)
}

/// Ends a check with the results of its reports.
fn completed(context: &mut CallContext<'_>, check: StoredObject) -> Result<StoredObject, Halt> {
    let mut is_clear = true;
    for report in reports(context, &check)? {
        let result = report.hidden["result"].as_str().unwrap_or("clear").to_owned();
        is_clear &= result == "clear";
        let mut fields =
            json!({"status": "complete", "result": result, "breakdown": {}, "properties": {}});
        if report.object["name"].as_str().is_some_and(|name| name.starts_with("document")) {
            let usual = if result == "clear" { "clear" } else { "suspected" };
            fields["sub_result"] = json!(report.hidden["sub_result"].as_str().unwrap_or(usual));
        }
        let report = context.change(report, fields);
        tell(context, "report.completed", &report.id, "complete");
    }
    let result = if is_clear { "clear" } else { "consider" };
    let check = context.change(check, json!({"status": "complete", "result": result}));
    tell(context, "check.completed", &check.id, "complete");
    Ok(check)
}

fn withdrawn(context: &mut CallContext<'_>, check: StoredObject) -> Result<StoredObject, Halt> {
    for report in reports(context, &check)? {
        let report = context.change(report, json!({"status": "withdrawn"}));
        tell(context, "report.withdrawn", &report.id, "withdrawn");
    }
    let check = context.change(check, json!({"status": "withdrawn"}));
    tell(context, "check.withdrawn", &check.id, "withdrawn");
    Ok(check)
}

/// Takes a check to a state, and tells of it. A check that completes may be one that is withdrawn instead.
fn take(
    context: &mut CallContext<'_>,
    check: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    match to {
        "complete" if check.hidden["end"] == "withdrawn" => withdrawn(context, check),
        "complete" => completed(context, check),
        "withdrawn" => withdrawn(context, check),
        _ => {
            let event = match (check.state.as_deref(), to) {
                (Some("awaiting_applicant"), _) => Some("check.form_completed"),
                (_, "reopened") => Some("check.reopened"),
                _ => None,
            };
            let check = context.change(check, json!({"status": to, "paused": to == "paused"}));
            if let Some(event) = event {
                tell(context, event, &check.id, to);
            }
            Ok(check)
        }
    }
}

/// Goes on with a check that is paused, or that waits for its applicant as if the form had been filled in.
pub(super) fn resume(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let check = context.of_path("checks")?;
    if !check
        .state
        .as_deref()
        .is_some_and(|state| ["awaiting_applicant", "paused"].contains(&state))
    {
        return Err(CallFailure::invalid("check_id", "the check does not wait").into());
    }
    take(context, check, "in_progress")?;
    Ok(MockReply::empty(204))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let check = context.of_path("checks")?;
    Ok(MockReply::ok(&check.object))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let checks = of_owner(context, "checks", "applicant_id", "applicants")?;
    page(context, "checks", checks)
}

pub(super) fn download(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let check = context.of_path("checks")?;
    let text = |name: &str| check.object[name].as_str().unwrap_or_default().to_owned();
    Ok(pdf::reply(&[&format!("Check {}", check.id), &text("status"), &text("result")]))
}

pub(super) fn get_report(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let report = context.of_path("reports")?;
    Ok(MockReply::ok(&report.object))
}

pub(super) fn list_reports(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let reports = of_owner(context, "reports", "check_id", "checks")?;
    page(context, "reports", reports)
}
