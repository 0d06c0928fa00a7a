//! Lists: envelopes by time and status, and the history of one.

use serde_json::{Value, json};

use super::wire::{check_account, of_path, own};
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const DEFAULT_COUNT: i64 = 100;
const MAX_COUNT: i64 = 1_000;

/// The day in a date, as `2026-01-31`.
fn day(context: &CallContext<'_>, field: &str) -> Result<Option<String>, Halt> {
    let Some(text) = context.text(field) else { return Ok(None) };
    let day = text.get(..10).unwrap_or_default().replace('/', "-");
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
    if day.len() == 10 && day.as_bytes()[4] == b'-' && day.bytes().all(|byte| is_digit(&byte)) {
        return Ok(Some(day));
    }
    Err(CallFailure::invalid(field, "must be a date, as 2026-01-31").into())
}

/// A page of envelopes. Without a date or ids there is none, as with the provider.
pub(super) fn envelopes(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    let (from, to) = (day(context, "from_date")?, day(context, "to_date")?);
    let ids = context.text("envelope_ids");
    if from.is_none() && ids.is_none() {
        let message = "Query parameter 'from_date' must be set to a valid DateTime, or 'envelope_ids' must be specified.";
        return Err(CallFailure::invalid("from_date", message).into());
    }
    let count = context.int("count")?.unwrap_or(DEFAULT_COUNT);
    let start = context.int("start_position")?.unwrap_or(0);
    if !(1..=MAX_COUNT).contains(&count) || start < 0 {
        let message = format!("must be from 1 to {MAX_COUNT}");
        return Err(CallFailure::invalid("count", message).into());
    }
    let mut found = context.list("envelopes")?;
    found.retain(|it| {
        let changed = it.object["statusChangedDateTime"].as_str().unwrap_or_default();
        let changed = changed.get(..10).unwrap_or_default();
        from.as_deref().is_none_or(|from| changed >= from)
            && to.as_deref().is_none_or(|to| changed <= to)
            && ids.as_ref().is_none_or(|ids| ids.split(',').any(|id| id.trim() == it.id))
    });
    if let Some(status) = context.text("status").filter(|status| status != "any") {
        let is_wanted = |state: &str| status.split(',').any(|one| one.eq_ignore_ascii_case(state));
        found.retain(|it| it.state.as_deref().is_some_and(is_wanted));
    }
    if context.text("order").as_deref() == Some("asc") {
        found.reverse();
    }
    let total = found.len();
    let (first, count) = (usize::try_from(start).unwrap_or(0), usize::try_from(count).unwrap_or(0));
    let shown: Vec<_> = found.into_iter().skip(first).take(count).map(|it| it.object).collect();
    let at = |start: usize| {
        let account = own(context, "accountId");
        format!("/accounts/{account}/envelopes?start_position={start}&count={count}")
    };
    let (end, next) = (first + shown.len(), first.saturating_add(count));
    let page = json!({
        "resultSetSize": shown.len().to_string(), "totalSetSize": total.to_string(),
        "startPosition": first.to_string(), "endPosition": end.saturating_sub(1).to_string(),
        "nextUri": if next < total { at(next) } else { String::new() },
        "previousUri": if first > 0 { at(first.saturating_sub(count)) } else { String::new() },
        "envelopes": shown,
    });
    Ok(MockReply::ok(&page))
}

pub(super) fn audit_events(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let envelope = of_path(context, "envelopes")?;
    let user = own(context, "userId");
    let history = envelope.hidden["history"].as_array().into_iter().flatten();
    let events = history.map(|entry| {
        let field = |name: &str, value: &Value| json!({"name": name, "value": value});
        let message = json!(format!("The envelope: {}", entry[1].as_str().unwrap_or_default()));
        json!({"eventFields": [
            field("logTime", &entry[0]), field("Source", &json!("api")),
            field("UserName", &json!("Trapline Sender")), field("UserId", &json!(user)),
            field("Action", &entry[1]), field("Message", &message),
            field("EnvelopeStatus", &entry[2]), field("EnvelopeId", &json!(envelope.id)),
        ]})
    });
    Ok(MockReply::ok(&json!({"auditEvents": events.collect::<Vec<_>>()})))
}
