//! How an envelope goes on: its signers are asked in their order, and sign, decline, or do not answer.

use serde_json::{Value, json};

use super::{
    build::SIGNERS,
    envelopes::{note, with_status},
    wire::tell,
};
use crate::{StoredObject, context::CallContext};

/// States in which a signer has nothing more to do.
const ENDED: [&str; 3] = ["completed", "declined", "autoresponded"];

fn signers(envelope: &StoredObject) -> Vec<Value> {
    envelope.hidden["recipients"][SIGNERS].as_array().cloned().unwrap_or_default()
}

fn order_of(signer: &Value) -> u32 {
    signer["routingOrder"].as_str().and_then(|order| order.parse().ok()).unwrap_or(1)
}

fn is_open(signer: &Value) -> bool {
    !signer["status"].as_str().is_some_and(|status| ENDED.contains(&status))
}

/// The order of the signers whose turn it is; that of the last ones, when all have signed.
pub(super) fn current_order(envelope: &StoredObject) -> u32 {
    let signers = signers(envelope);
    let open = signers.iter().filter(|signer| is_open(signer)).map(order_of).min();
    open.or_else(|| signers.iter().map(order_of).max()).unwrap_or(1)
}

/// Places of the signers whose turn it is.
fn current(envelope: &StoredObject) -> Vec<usize> {
    let order = current_order(envelope);
    let signers = signers(envelope);
    let is_due = |(_, signer): &(usize, &Value)| is_open(signer) && order_of(signer) == order;
    signers.iter().enumerate().filter(is_due).map(|(place, _)| place).collect()
}

/// The place of the signer who is at the page, or of the first whose turn it is.
fn next_signer(envelope: &StoredObject) -> Option<usize> {
    let places = current(envelope);
    let signers = signers(envelope);
    let viewer = &envelope.hidden["view"]["recipientId"];
    let at_page = places.iter().find(|place| signers[**place]["recipientId"] == *viewer);
    at_page.or(places.first()).copied()
}

/// A signer in another state, with the time of it, and the event of it.
fn signer_is(
    context: &mut CallContext<'_>,
    mut envelope: StoredObject,
    place: usize,
    status: &str,
    event: &'static str,
) -> StoredObject {
    let now = context.now.to_string();
    let signer = &mut envelope.hidden["recipients"][SIGNERS][place];
    signer["status"] = json!(status);
    let time = match status {
        "completed" => Some("signedDateTime"),
        "sent" => Some("sentDateTime"),
        "delivered" => Some("deliveredDateTime"),
        "declined" => Some("declinedDateTime"),
        _ => None,
    };
    if let Some(time) = time {
        signer[time] = json!(now);
    }
    let id = signer["recipientId"].as_str().unwrap_or_default().to_owned();
    let envelope = context.put(envelope);
    tell(context, event, &envelope, Some(&id));
    envelope
}

/// Sends an envelope to the signers whose turn it is first.
pub(super) fn send(context: &mut CallContext<'_>, envelope: StoredObject) -> StoredObject {
    let envelope = with_status(context, envelope, "sent");
    let envelope = note(context, envelope, "Sent Invitations");
    tell(context, "envelope-sent", &envelope, None);
    asked(context, envelope)
}

/// Asks the signers whose turn it is; what their addresses or the settings say happens at once.
fn asked(context: &mut CallContext<'_>, mut envelope: StoredObject) -> StoredObject {
    for place in current(&envelope) {
        envelope = signer_is(context, envelope, place, "sent", "recipient-sent");
        let signer = &envelope.hidden["recipients"][SIGNERS][place];
        let email = signer["email"].as_str().unwrap_or_default();
        let name = email.split('@').next().unwrap_or_default();
        match context.declined(&[name]).map(|decline| decline.code) {
            Some("declined") => return declined(context, envelope, place, "Declined by the test"),
            Some("voided") => return void(context, envelope, "Made void by the test"),
            Some(_) => {
                let (status, event) = ("autoresponded", "recipient-autoresponded");
                envelope = signer_is(context, envelope, place, status, event);
            }
            None => {}
        }
    }
    envelope
}

/// All signers have seen the envelope.
pub(super) fn deliver(context: &mut CallContext<'_>, mut envelope: StoredObject) -> StoredObject {
    for place in current(&envelope) {
        envelope = seen(context, envelope, place);
    }
    let envelope = with_status(context, envelope, "delivered");
    let envelope = note(context, envelope, "Viewed");
    tell(context, "envelope-delivered", &envelope, None);
    envelope
}

fn seen(context: &mut CallContext<'_>, envelope: StoredObject, place: usize) -> StoredObject {
    if envelope.hidden["recipients"][SIGNERS][place]["status"] == "delivered" {
        return envelope;
    }
    signer_is(context, envelope, place, "delivered", "recipient-delivered")
}

/// One signer signs. The envelope is completed when all have, and goes to the next ones before that.
pub(super) fn sign(context: &mut CallContext<'_>, envelope: StoredObject) -> StoredObject {
    let Some(place) = next_signer(&envelope) else { return envelope };
    let order = current_order(&envelope);
    let envelope = seen(context, envelope, place);
    let envelope = signer_is(context, envelope, place, "completed", "recipient-completed");
    let envelope = note(context, envelope, "Signed");
    let has_more = signers(&envelope).iter().any(is_open);
    if has_more {
        let is_next = current_order(&envelope) != order;
        return if is_next { asked(context, envelope) } else { envelope };
    }
    let envelope = if envelope.state.as_deref() == Some("delivered") {
        envelope
    } else {
        let envelope = with_status(context, envelope, "delivered");
        tell(context, "envelope-delivered", &envelope, None);
        envelope
    };
    let envelope = with_status(context, envelope, "completed");
    let envelope = note(context, envelope, "Completed");
    tell(context, "envelope-completed", &envelope, None);
    envelope
}

/// The signer at the page, or the first whose turn it is, declines.
pub(super) fn decline(
    context: &mut CallContext<'_>,
    envelope: StoredObject,
    reason: &str,
) -> StoredObject {
    match next_signer(&envelope) {
        Some(place) => declined(context, envelope, place, reason),
        None => envelope,
    }
}

fn declined(
    context: &mut CallContext<'_>,
    mut envelope: StoredObject,
    place: usize,
    reason: &str,
) -> StoredObject {
    envelope.hidden["recipients"][SIGNERS][place]["declinedReason"] = json!(reason);
    let envelope = signer_is(context, envelope, place, "declined", "recipient-declined");
    let envelope = with_status(context, envelope, "declined");
    let envelope = note(context, envelope, "Declined");
    tell(context, "envelope-declined", &envelope, None);
    envelope
}

pub(super) fn void(
    context: &mut CallContext<'_>,
    envelope: StoredObject,
    reason: &str,
) -> StoredObject {
    let envelope = context.change(envelope, json!({"voidedReason": reason}));
    let envelope = with_status(context, envelope, "voided");
    let envelope = note(context, envelope, "Voided");
    tell(context, "envelope-voided", &envelope, None);
    envelope
}

/// Something that a signer's own systems do, without signing.
pub(super) fn happened(
    context: &mut CallContext<'_>,
    envelope: StoredObject,
    status: &str,
    event: &'static str,
) -> StoredObject {
    match next_signer(&envelope) {
        Some(place) => signer_is(context, envelope, place, status, event),
        None => envelope,
    }
}
