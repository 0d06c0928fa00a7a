//! Messages: sent, delivered at once, listed, redacted.

use serde_json::{Value, json};

use super::wire::{account, new_id};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    dates::rfc2822,
    failure::{CallFailure, Halt},
};

const MAX_LETTERS: usize = 1_600;
const DEFAULT_PAGE: i64 = 50;
const MAX_PAGE: i64 = 1_000;
const VERSION: &str = "2010-04-01";
/// Letters of one segment, and of each where there are several: GSM-7 and UCS-2.
const GSM: (usize, usize) = (160, 153);
const UCS: (usize, usize) = (70, 67);

fn refused(code: &'static str, field: &str, message: &str) -> Halt {
    let (field, message) = (field.to_owned(), message.to_owned());
    CallFailure::Invalid { field, code, message }.into()
}

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
    let queued = object.clone();
    let message = context.create("deliveries", &id, object);
    deliver(context, message);
    Ok(MockReply::json(201, &queued))
}

/// Takes a message to its end, and tells of each step.
fn deliver(context: &mut CallContext<'_>, message: StoredObject) {
    let callback = context.text("StatusCallback");
    let sent = rfc2822(context.now);
    let message = context.change(message, json!({"status": "sent", "date_sent": sent}));
    tell(context, "message.sent", &message, callback.clone());
    let message = context.change(message, json!({"status": "delivered"}));
    tell(context, "message.delivered", &message, callback);
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

/// An empty body takes the text out of a message; nothing of what is sent can be cancelled.
pub(super) fn redact(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let message = context.of_path("deliveries")?;
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
    let size = context.int("PageSize")?.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE);
    let page = context.int("Page")?.unwrap_or(0).max(0);
    let mut messages = context.list("deliveries")?;
    for (field, name) in [("to", "To"), ("from", "From")] {
        if let Some(wanted) = context.text(name) {
            messages.retain(|message| message.object[field] == wanted.as_str());
        }
    }
    let first = usize::try_from(page.saturating_mul(size)).unwrap_or(usize::MAX);
    let count = usize::try_from(size).unwrap_or(0);
    let more = messages.len() > first.saturating_add(count);
    let shown: Vec<_> = messages.into_iter().skip(first).take(count).collect();
    let path = format!("/{VERSION}/Accounts/{}/Messages.json", account(context));
    let at = |page: i64| format!("{path}?PageSize={size}&Page={page}");
    let next = if more { json!(at(page + 1)) } else { Value::Null };
    let previous = if page > 0 { json!(at(page - 1)) } else { Value::Null };
    let list = json!({
        "end": first + shown.len().saturating_sub(1),
        "first_page_uri": at(0),
        "messages": shown.iter().map(|message| message.object.clone()).collect::<Vec<_>>(),
        "next_page_uri": next,
        "page": page,
        "page_size": size,
        "previous_page_uri": previous,
        "start": first,
        "uri": at(page),
    });
    Ok(MockReply::ok(&list))
}
