//! Voice calls: dialled, answered and ended step by step, with the app told of each.

use serde_json::{Value, json};

use super::{
    lists, numbers,
    wire::{VERSION, account, new_id, refused},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    dates::rfc2822,
    failure::{CallFailure, Halt},
    flow::{Flow, FlowStep, StepActor},
};

/// The only number that Twilio's own test credentials may call from.
const TEST_NUMBER: &str = "+15005550006";
/// Numbers, ours and not Twilio's, with how calls to them end.
const OUTCOMES: [(&str, &str); 3] =
    [("+15005550012", "busy"), ("+15005550013", "no-answer"), ("+15005550014", "failed")];
/// What an app can be told of, with the names of the events.
const PROGRESS: [(&str, &str); 4] = [
    ("initiated", "call.initiated"),
    ("ringing", "call.ringing"),
    ("answered", "call.answered"),
    ("completed", "call.completed"),
];

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let to = context.text("To");
    let to = to.ok_or_else(|| refused("21201", "To", "No 'To' number is specified"))?;
    let from = context.text("From");
    let from = from.ok_or_else(|| refused("21213", "From", "A 'From' phone number is required"))?;
    if !["Url", "Twiml", "ApplicationSid"].iter().any(|name| context.text(name).is_some()) {
        return Err(refused("21205", "Url", "Url parameter is required."));
    }
    if context.mock.settings.strict && from != TEST_NUMBER {
        let message = "The 'From' phone number is not yet verified for your account";
        return Err(refused("21210", "From", message));
    }
    if let Some(decline) =
        context.declined(&[&format!("call-to:{to}"), &format!("call-from:{from}")])
    {
        return Err(CallFailure::Declined(decline, Value::Null).into());
    }
    let wanted = wanted_events(context)?;
    let callback = context.text("StatusCallback");
    let call = made(context, &from, &to, ("outbound-api", "queued"), callback.as_deref(), &wanted);
    Ok(MockReply::json(201, &call.object))
}

/// What the app wants to be told of; its end where it does not say.
fn wanted_events(context: &CallContext<'_>) -> Result<Vec<String>, Halt> {
    let given: Vec<String> = match context.field("StatusCallbackEvent") {
        Some(Value::String(one)) => one.split_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(all)) => {
            all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
        }
        _ => vec!["completed".to_owned()],
    };
    let is_known = |event: &String| PROGRESS.iter().any(|(name, _)| name == event);
    if given.iter().all(is_known) {
        return Ok(given);
    }
    let message = "StatusCallbackEvent must be among initiated, ringing, answered and completed";
    Err(refused("21626", "StatusCallbackEvent", message))
}

fn made(
    context: &mut CallContext<'_>,
    from: &str,
    to: &str,
    (direction, status): (&str, &str),
    callback: Option<&str>,
    wanted: &[String],
) -> StoredObject {
    let (id, account) = (new_id(context, "CA"), account(context));
    let uri = format!("/{VERSION}/Accounts/{account}/Calls/{id}");
    let now = rfc2822(context.now);
    let object = json!({
        "account_sid": account, "annotation": null, "answered_by": null, "api_version": VERSION,
        "caller_name": null, "date_created": now, "date_updated": now, "direction": direction,
        "duration": null, "end_time": null, "forwarded_from": null, "from": from,
        "from_formatted": from, "group_sid": null, "parent_call_sid": null,
        "phone_number_sid": null, "price": null, "price_unit": "USD", "queue_time": "0",
        "sid": id, "start_time": null, "status": status,
        "subresource_uris": {
            "events": format!("{uri}/Events.json"),
            "notifications": format!("{uri}/Notifications.json"),
            "recordings": format!("{uri}/Recordings.json"),
        },
        "to": to, "to_formatted": to, "trunk_sid": null, "uri": format!("{uri}.json"),
    });
    let mut call = context.create("calls", &id, object);
    let outcome = OUTCOMES.iter().find(|(number, _)| *number == to).map(|(_, outcome)| *outcome);
    call.hidden =
        json!({"callback": callback, "events": wanted, "outcome": outcome, "sequence": 0});
    context.put(call)
}

/// From the queue to the end.
pub(super) const FLOW: Flow = Flow {
    kind: "calls",
    steps: &[
        FlowStep { from: "queued", to: "ringing", by: StepActor::Time },
        FlowStep { from: "queued", to: "failed", by: StepActor::Test },
        FlowStep { from: "queued", to: "canceled", by: StepActor::Test },
        FlowStep { from: "ringing", to: "in-progress", by: StepActor::Time },
        FlowStep { from: "ringing", to: "busy", by: StepActor::Test },
        FlowStep { from: "ringing", to: "no-answer", by: StepActor::Test },
        FlowStep { from: "ringing", to: "failed", by: StepActor::Test },
        FlowStep { from: "ringing", to: "canceled", by: StepActor::Test },
        FlowStep { from: "in-progress", to: "completed", by: StepActor::Time },
    ],
    take: |context, call, to| {
        let to = by_number(&call, to);
        Ok(moved(context, call, to))
    },
    page: None,
};

/// Where a step leads that the number called has another end for.
fn by_number(call: &StoredObject, to: &'static str) -> &'static str {
    let outcome = call.hidden["outcome"].as_str();
    let outcome = OUTCOMES.iter().map(|(_, state)| *state).find(|state| outcome == Some(*state));
    match (to, outcome) {
        ("ringing", Some("failed")) => "failed",
        ("in-progress", Some(outcome)) => outcome,
        _ => to,
    }
}

fn moved(context: &mut CallContext<'_>, call: StoredObject, to: &'static str) -> StoredObject {
    let now = rfc2822(context.now);
    let was_queued = call.state.as_deref() == Some("queued");
    let mut fields = json!({"status": to, "date_updated": now});
    let mut call = call;
    match to {
        "ringing" => {}
        "in-progress" => {
            fields["start_time"] = json!(now);
            call.hidden["answered"] = json!(context.seconds());
        }
        _ => {
            let answered = call.hidden["answered"].as_i64();
            let seconds = answered.map_or(0, |since| (context.seconds() - since).max(0));
            fields["duration"] = json!(seconds.to_string());
            fields["end_time"] = json!(now);
        }
    }
    let mut call = context.change(call, fields);
    if was_queued && to != "canceled" {
        call = tell(context, call, "initiated");
    }
    let event = match to {
        "ringing" => "ringing",
        "in-progress" => "answered",
        _ => "completed",
    };
    tell(context, call, event)
}

/// Tells the app at the call's own address of what it asked for, or else at the mock's of everything.
fn tell(context: &mut CallContext<'_>, call: StoredObject, progress: &'static str) -> StoredObject {
    let callback = call.hidden["callback"].as_str().map(str::to_owned);
    let wanted =
        call.hidden["events"].as_array().is_some_and(|all| all.iter().any(|it| it == progress));
    let name = PROGRESS.iter().find(|(name, _)| *name == progress).map(|(_, event)| *event);
    let Some(name) = name.filter(|_| wanted || callback.is_none()) else { return call };
    let mut call = call;
    let sequence = call.hidden["sequence"].as_u64().unwrap_or(0);
    call.hidden["sequence"] = json!(sequence + 1);
    let call = context.put(call);
    let text = |name: &str| call.object[name].as_str().unwrap_or_default();
    // The word of the first event is no status of a call.
    let status = if progress == "initiated" { progress } else { text("status") };
    let (sequence, now) = (sequence.to_string(), rfc2822(context.now));
    let mut fields = vec![
        ("AccountSid", text("account_sid")),
        ("ApiVersion", VERSION),
        ("CallSid", text("sid")),
        ("CallStatus", status),
        ("CallbackSource", "call-progress-events"),
        ("Called", text("to")),
        ("Caller", text("from")),
        ("Direction", text("direction")),
        ("From", text("from")),
        ("SequenceNumber", &sequence),
        ("Timestamp", &now),
        ("To", text("to")),
    ];
    // A minute that has begun is a minute.
    let seconds: u64 = text("duration").parse().unwrap_or(0);
    let minutes = seconds.div_ceil(60).to_string();
    if progress == "completed" {
        fields.insert(2, ("CallDuration", text("duration")));
        fields.insert(8, ("Duration", &minutes));
    }
    context.emit_form(name, &call.id, callback, &fields);
    call
}

/// Somebody calls a number of the app's, which is asked what to do at the number's own address.
pub(super) fn inbound(
    context: &mut CallContext<'_>,
    _: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let (from, to) = (context.need("From")?, context.need("To")?);
    let number = numbers::of(context, &to)?;
    let url = |name: &str| {
        let url = number.as_ref().and_then(|it| it.object[name].as_str());
        url.filter(|url| !url.is_empty()).map(str::to_owned)
    };
    let (voice, callback) = (url("voice_url"), url("status_callback"));
    let wanted = ["completed".to_owned()];
    let call = made(context, &from, &to, ("inbound", "ringing"), callback.as_deref(), &wanted);
    let text = |name: &str| call.object[name].as_str().unwrap_or_default();
    let fields = [
        ("AccountSid", text("account_sid")),
        ("ApiVersion", VERSION),
        ("CallSid", text("sid")),
        ("CallStatus", "ringing"),
        ("Called", &to),
        ("Caller", &from),
        ("Direction", "inbound"),
        ("From", &from),
        ("To", &to),
    ];
    context.emit_form("call.inbound", &call.id, voice, &fields);
    Ok(call)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let call = context.of_path("calls")?;
    Ok(MockReply::ok(&call.object))
}

/// Hangs up, or takes back what nobody has answered; another address for instructions changes nothing.
pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let call = context.of_path("calls")?;
    let (state, wanted) = (call.state.clone().unwrap_or_default(), context.text("Status"));
    let is_open = matches!(state.as_str(), "queued" | "ringing");
    let call = match (wanted.as_deref(), state.as_str()) {
        (Some("canceled"), _) if is_open => moved(context, call, "canceled"),
        (Some("completed"), _) if is_open || state == "in-progress" => {
            moved(context, call, "completed")
        }
        (None, "in-progress") => call,
        (None | Some("canceled" | "completed"), _) => {
            let message = format!("Call is not in-progress. Its status is {state}.");
            return Err(refused("21220", "Status", &message));
        }
        (Some(_), _) => {
            let message = "Status must be canceled or completed";
            return Err(refused("21220", "Status", message));
        }
    };
    Ok(MockReply::ok(&call.object))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let call = context.of_path("calls")?;
    if matches!(call.state.as_deref(), Some("queued" | "ringing" | "in-progress")) {
        let message = "A call that has not ended cannot be deleted";
        return Err(refused("20009", "Sid", message));
    }
    context.remove(&call);
    Ok(MockReply::empty(204))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let fields = [("to", "To"), ("from", "From"), ("status", "Status")];
    let calls = lists::of_fields(context, "calls", &fields)?;
    lists::page(context, calls, ("Calls", "calls"))
}
