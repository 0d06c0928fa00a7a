//! Messages: sent, delivered step by step, listed, redacted; and those that come in.

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

const MAX_LETTERS: usize = 1_600;
/// The only number that Twilio's own test credentials may send from.
const TEST_NUMBER: &str = "+15005550006";
/// Letters of one segment, and of each where there are several: GSM-7 and UCS-2.
const GSM: (usize, usize) = (160, 153);
const UCS: (usize, usize) = (70, 67);

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let to = context
        .text("To")
        .ok_or_else(|| refused("21604", "To", "A 'To' phone number is required."))?;
    let service = context.text("MessagingServiceSid");
    let from = context.text("From").or_else(|| service.clone());
    let from =
        from.ok_or_else(|| refused("21603", "From", "A 'From' phone number is required."))?;
    let body = context.text("Body").unwrap_or_default();
    let media = context.field("MediaUrl").is_some();
    if body.is_empty() && !media {
        return Err(refused("21602", "Body", "Message body is required."));
    }
    if body.chars().count() > MAX_LETTERS {
        return Err(refused(
            "21617",
            "Body",
            "The concatenated message body exceeds the 1600 character limit",
        ));
    }
    if context.mock.settings.strict && from != TEST_NUMBER && service.is_none() {
        let message = "The 'From' number is not a valid, SMS-capable Twilio phone number";
        return Err(refused("21606", "From", message));
    }
    if let Some(decline) = context.declined(&[&format!("to:{to}"), &format!("from:{from}")]) {
        return Err(CallFailure::Declined(decline, Value::Null).into());
    }
    let (id, account) = (new_id(context, "SM"), account(context));
    let uri = format!("/{VERSION}/Accounts/{account}/Messages/{id}");
    let now = rfc2822(context.now);
    let object = json!({
        "account_sid": account,
        "api_version": VERSION,
        "body": body,
        "date_created": now,
        "date_sent": null,
        "date_updated": now,
        "direction": "outbound-api",
        "error_code": null,
        "error_message": null,
        "from": from,
        "messaging_service_sid": service,
        "num_media": if media { "1" } else { "0" },
        "num_segments": segments(&body).to_string(),
        "price": null,
        "price_unit": "USD",
        "sid": id,
        "status": "queued",
        "subresource_uris": {"media": format!("{uri}/Media.json")},
        "to": to,
        "uri": format!("{uri}.json"),
    });
    let mut message = context.create("deliveries", &id, object);
    message.hidden = json!({"callback": context.text("StatusCallback")});
    let message = context.put(message);
    Ok(MockReply::json(201, &message.object))
}

/// From a carrier to a phone.
pub(super) const FLOW: Flow = Flow {
    kind: "deliveries",
    steps: &[
        FlowStep { from: "queued", to: "sent", by: StepActor::Time },
        FlowStep { from: "queued", to: "failed", by: StepActor::Test },
        FlowStep { from: "queued", to: "canceled", by: StepActor::Test },
        FlowStep { from: "sent", to: "delivered", by: StepActor::Time },
        FlowStep { from: "sent", to: "undelivered", by: StepActor::Test },
    ],
    take: |context, message, to| Ok(moved(context, message, to)),
    page: None,
};

/// The code of a message that did not arrive.
const UNDELIVERED: i64 = 30_003;

fn moved(context: &mut CallContext<'_>, message: StoredObject, to: &'static str) -> StoredObject {
    let now = rfc2822(context.now);
    let mut fields = json!({"status": to, "date_updated": now});
    if to == "sent" {
        fields["date_sent"] = json!(now);
    }
    if matches!(to, "failed" | "undelivered") {
        fields["error_code"] = json!(UNDELIVERED);
    }
    let event = match to {
        "sent" => "message.sent",
        "delivered" => "message.delivered",
        "undelivered" => "message.undelivered",
        "failed" => "message.failed",
        _ => "message.canceled",
    };
    let message = context.change(message, fields);
    let callback = message.hidden["callback"].as_str().map(str::to_owned);
    tell(context, event, &message, callback);
    message
}

/// A message of somebody to a number of the app's, which is told at the number's own address.
pub(super) fn inbound(
    context: &mut CallContext<'_>,
    _: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let (from, to) = (context.need("From")?, context.need("To")?);
    let body = context.text("Body").unwrap_or_default();
    let number = numbers::of(context, &to)?;
    let url = number.as_ref().and_then(|it| it.object["sms_url"].as_str());
    let url = url.filter(|url| !url.is_empty()).map(str::to_owned);
    let (id, account) = (new_id(context, "SM"), account(context));
    let now = rfc2822(context.now);
    let uri = format!("/{VERSION}/Accounts/{account}/Messages/{id}.json");
    let segments = segments(&body).to_string();
    let object = json!({
        "account_sid": account, "api_version": VERSION, "body": body, "date_created": now,
        "date_sent": now, "date_updated": now, "direction": "inbound", "error_code": null,
        "error_message": null, "from": from, "messaging_service_sid": null, "num_media": "0",
        "num_segments": segments, "price": null, "price_unit": "USD", "sid": id,
        "status": "received", "subresource_uris": {"media": uri.replace(".json", "/Media.json")},
        "to": to, "uri": uri,
    });
    let message = context.create("deliveries", &id, object);
    let fields = [
        ("AccountSid", account.as_str()),
        ("ApiVersion", VERSION),
        ("Body", &body),
        ("From", &from),
        ("MessageSid", &id),
        ("NumMedia", "0"),
        ("NumSegments", &segments),
        ("SmsMessageSid", &id),
        ("SmsSid", &id),
        ("SmsStatus", "received"),
        ("To", &to),
    ];
    context.emit_form("message.inbound", &id, url, &fields);
    Ok(message)
}

fn tell(
    context: &mut CallContext<'_>,
    event: &'static str,
    message: &StoredObject,
    callback: Option<String>,
) {
    let text = |name: &str| message.object[name].as_str().unwrap_or_default();
    let fields = [
        ("AccountSid", text("account_sid")),
        ("ApiVersion", VERSION),
        ("From", text("from")),
        ("MessageSid", text("sid")),
        ("MessageStatus", text("status")),
        ("SmsSid", text("sid")),
        ("SmsStatus", text("status")),
        ("To", text("to")),
    ];
    let code = message.object["error_code"].to_string();
    let mut fields = fields.to_vec();
    if !message.object["error_code"].is_null() {
        fields.insert(2, ("ErrorCode", &code));
    }
    context.emit_form(event, &message.id, callback, &fields);
}

fn segments(body: &str) -> usize {
    let is_plain = body
        .chars()
        .all(|letter| letter.is_ascii() || "£¥èéùìòÇØøÅåÆæßÉÄÖÑÜ§äöñüàß€".contains(letter));
    let (length, (one, each)) =
        if is_plain { (body.chars().count(), GSM) } else { (body.encode_utf16().count(), UCS) };
    if length <= one { 1 } else { length.div_ceil(each) }
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let message = context.of_path("deliveries")?;
    Ok(MockReply::ok(&message.object))
}

/// An empty body takes the text out of a message; one that still waits can be cancelled.
pub(super) fn redact(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let message = context.of_path("deliveries")?;
    if context.text("Status").is_some_and(|status| status == "canceled")
        && message.state.as_deref() == Some("queued")
    {
        let message = moved(context, message, "canceled");
        return Ok(MockReply::ok(&message.object));
    }
    if context.text("Status").is_some() {
        return Err(refused("30409", "Status", "The message cannot be cancelled in its status"));
    }
    if context.field("Body").is_some_and(|body| *body != json!("")) {
        return Err(refused("21609", "Body", "A message body can only be set to the empty text"));
    }
    let now = rfc2822(context.now);
    let message = context.change(message, json!({"body": "", "date_updated": now}));
    Ok(MockReply::ok(&message.object))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let message = context.of_path("deliveries")?;
    context.remove(&message);
    Ok(MockReply::empty(204))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let messages = lists::of_fields(context, "deliveries", &[("to", "To"), ("from", "From")])?;
    lists::page(context, messages, ("Messages", "messages"))
}
