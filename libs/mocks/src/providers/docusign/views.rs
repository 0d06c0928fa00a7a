//! Signing: the page of a recipient, and what happens without a call.

use serde_json::json;

use super::{
    build::SIGNERS,
    signing,
    wire::{of_path, refused, tell},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    flow::{Flow, FlowPage, FlowStep, PageText, Simulation, StepActor, Trigger},
};

const FINISH: StepActor = StepActor::Person("Finish");
const DECLINE: StepActor = StepActor::Person("Decline");

pub(in crate::providers) static SIMULATION: Simulation = Simulation {
    provider: "docusign",
    flows: &[Flow {
        kind: "envelopes",
        steps: &[
            FlowStep { from: "created", to: "sent", by: StepActor::Test },
            FlowStep { from: "sent", to: "completed", by: FINISH },
            FlowStep { from: "sent", to: "declined", by: DECLINE },
            FlowStep { from: "sent", to: "delivered", by: StepActor::Test },
            FlowStep { from: "sent", to: "voided", by: StepActor::Test },
            FlowStep { from: "delivered", to: "completed", by: FINISH },
            FlowStep { from: "delivered", to: "declined", by: DECLINE },
            FlowStep { from: "delivered", to: "voided", by: StepActor::Test },
        ],
        take,
        page: Some(&FlowPage { show, back }),
    }],
    triggers: &[
        Trigger { event: "recipient-authenticationfailed", run: unauthenticated },
        Trigger { event: "recipient-autoresponded", run: autoresponded },
        Trigger { event: "envelope-resent", run: resent },
    ],
};

/// The address of the page on which a recipient signs.
pub(super) fn recipient(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut envelope = of_path(context, "envelopes")?;
    let url = context.need("returnUrl")?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(CallFailure::invalid("returnUrl", "must be an http or https address").into());
    }
    if !envelope.state.as_deref().is_some_and(|state| ["sent", "delivered"].contains(&state)) {
        return Err(refused("ENVELOPE_INVALID_STATUS"));
    }
    let signers = envelope.hidden["recipients"][SIGNERS].as_array().cloned().unwrap_or_default();
    let given = |name: &str| context.text(name);
    let signer = signers.iter().find(|signer| {
        let is = |field: &str, name: &str| {
            given(name).is_none_or(|wanted| signer[field].as_str() == Some(wanted.as_str()))
        };
        is("email", "email")
            && is("name", "userName")
            && is("recipientId", "recipientId")
            && is("clientUserId", "clientUserId")
    });
    let signer = signer.filter(|_| given("email").or_else(|| given("recipientId")).is_some());
    let signer = signer.ok_or_else(|| refused("UNKNOWN_ENVELOPE_RECIPIENT"))?;
    envelope.hidden["view"] = json!({"recipientId": signer["recipientId"], "returnUrl": url});
    let envelope = context.put(envelope);
    let page = context.page_url("envelopes", &envelope.id);
    Ok(MockReply::json(201, &json!({"url": page})))
}

#[expect(clippy::unnecessary_wraps, reason = "what a flow takes")]
fn take(
    context: &mut CallContext<'_>,
    envelope: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    Ok(match to {
        "sent" => signing::send(context, envelope),
        "delivered" => signing::deliver(context, envelope),
        "declined" => signing::decline(context, envelope, "Declined on the page"),
        "voided" => signing::void(context, envelope, "Made void by the test"),
        _ => signing::sign(context, envelope),
    })
}

fn show(envelope: &StoredObject) -> PageText {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let documents = envelope.hidden["documents"].as_array().into_iter().flatten();
    let names: Vec<_> = documents.map(|document| text(&document["name"])).collect();
    let signers = envelope.hidden["recipients"][SIGNERS].as_array().into_iter().flatten();
    let id = &envelope.hidden["view"]["recipientId"];
    let signer = signers.into_iter().find(|signer| signer["recipientId"] == *id);
    PageText {
        title: text(&envelope.object["emailSubject"]),
        lines: vec![
            ("Documents", names.join(", ")),
            ("Signer", signer.map(|signer| text(&signer["name"])).unwrap_or_default()),
            ("Status", text(&envelope.object["status"])),
        ],
    }
}

/// The address that the recipient's view was asked for with, and what happened there.
fn back(envelope: &StoredObject, has_decided: bool) -> Option<String> {
    let url = envelope.hidden["view"]["returnUrl"].as_str()?;
    let event = match envelope.state.as_deref() {
        _ if !has_decided => "cancel",
        Some("declined") => "decline",
        _ => "signing_complete",
    };
    let (url, fragment) = url.split_once('#').map_or((url, None), |(url, rest)| (url, Some(rest)));
    let joint = if url.contains('?') { '&' } else { '?' };
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    Some(format!("{url}{joint}event={event}{fragment}"))
}

fn named(envelope: Option<StoredObject>) -> Result<StoredObject, Halt> {
    let envelope = envelope.filter(|envelope| envelope.kind == "envelopes");
    envelope.ok_or_else(|| CallFailure::invalid("objectId", "names no envelope").into())
}

fn unauthenticated(
    context: &mut CallContext<'_>,
    envelope: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let event = "recipient-authenticationfailed";
    Ok(signing::happened(context, named(envelope)?, "sent", event))
}

fn autoresponded(
    context: &mut CallContext<'_>,
    envelope: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let event = "recipient-autoresponded";
    Ok(signing::happened(context, named(envelope)?, "autoresponded", event))
}

fn resent(
    context: &mut CallContext<'_>,
    envelope: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let envelope = named(envelope)?;
    tell(context, "envelope-resent", &envelope, None);
    Ok(envelope)
}
