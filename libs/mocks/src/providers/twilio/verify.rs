//! Verify: a code is sent, and checked.

use serde_json::{Value, json};

use super::{
    lists,
    wire::{account, new_id, refused},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Wrong codes after which none is taken any more.
const MAX_CHECKS: u64 = 5;
const MAX_PAGE: i64 = 100;

pub(super) fn create_service(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let name = context.need("FriendlyName")?;
    let (id, now) = (new_id(context, "VA"), context.now.to_string());
    let object = json!({
        "account_sid": account(context),
        "code_length": 6,
        "custom_code_enabled": false,
        "date_created": now,
        "date_updated": now,
        "default_template_sid": null,
        "do_not_share_warning_enabled": false,
        "dtmf_input_required": true,
        "friendly_name": name,
        "links": {},
        "lookup_enabled": false,
        "psd2_enabled": false,
        "sid": id,
        "skip_sms_to_landlines": false,
        "tts_name": null,
        "url": context.url(&format!("/verify/v2/Services/{id}")),
    });
    let service = context.create("services", &id, object);
    Ok(MockReply::json(201, &service.object))
}

pub(super) fn get_service(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let service = context.of_path("services")?;
    Ok(MockReply::ok(&service.object))
}

pub(super) fn update_service(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let service = context.of_path("services")?;
    let name = context.or_null("FriendlyName");
    let name = if name.is_null() { service.object["friendly_name"].clone() } else { name };
    let fields = json!({"friendly_name": name, "date_updated": context.now.to_string()});
    let service = context.change(service, fields);
    Ok(MockReply::ok(&service.object))
}

pub(super) fn delete_service(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let service = context.of_path("services")?;
    context.remove(&service);
    Ok(MockReply::empty(204))
}

/// A page of services, in the form of Verify's API.
pub(super) fn list_services(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (size, page) = lists::size_and_page(context, MAX_PAGE)?;
    let (first, count) = lists::place((size, page));
    let services = context.newest("services", first.saturating_add(count).saturating_add(1))?;
    let more = services.len() > first.saturating_add(count);
    let shown = services.into_iter().skip(first).take(count).map(|service| service.object);
    let shown: Vec<_> = shown.collect();
    let at =
        |page: i64| json!(context.url(&format!("/verify/v2/Services?PageSize={size}&Page={page}")));
    let list = json!({
        "meta": {
            "first_page_url": at(0), "key": "services",
            "next_page_url": if more { at(page + 1) } else { Value::Null },
            "page": page, "page_size": size,
            "previous_page_url": if page > 0 { at(page - 1) } else { Value::Null },
            "url": at(page),
        },
        "services": shown,
    });
    Ok(MockReply::ok(&list))
}

pub(super) fn start(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let service = service_of(context)?;
    let (to, channel) = (context.need("To")?, context.need("Channel")?);
    if let Some(decline) = context.declined(&[&format!("to:{to}")]) {
        return Err(CallFailure::Declined(decline, Value::Null).into());
    }
    let (id, now) = (new_id(context, "VE"), context.now.to_string());
    let attempt = json!({"attempt_sid": new_id(context, "VL"), "channel": channel, "time": now});
    let object = json!({
        "account_sid": account(context),
        "amount": null,
        "channel": channel,
        "date_created": now,
        "date_updated": now,
        "lookup": {},
        "payee": null,
        "send_code_attempts": [attempt],
        "service_sid": service,
        "sid": id,
        "sna": null,
        "status": "pending",
        "to": to,
        "url": context.url(&format!("/verify/v2/Services/{service}/Verifications/{id}")),
        "valid": false,
    });
    // Checks name the number only.
    context.row("~to", &pending(&service, &to))?;
    context.write_row("~to", &pending(&service, &to), Some(id.clone()));
    let verification = context.create("verifications", &id, object);
    Ok(MockReply::json(201, &verification.object))
}

fn pending(service: &str, to: &str) -> String {
    format!("{service}:{to}")
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let verification = context.of_path("verifications")?;
    Ok(MockReply::ok(&verification.object))
}

/// Takes a verification back, or has it be the right one without a code.
pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let verification = context.of_path("verifications")?;
    let status = context.need("Status")?;
    if !["canceled", "approved"].contains(&status.as_str())
        || verification.state.as_deref() != Some("pending")
    {
        let message = "Status must be canceled or approved, of a pending verification";
        return Err(refused("60200", "Status", message));
    }
    let fields = json!({
        "status": status, "valid": status == "approved", "date_updated": context.now.to_string(),
    });
    let verification = context.change(verification, fields);
    Ok(MockReply::ok(&verification.object))
}

pub(super) fn check(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let service = service_of(context)?;
    let code = context.need("Code")?;
    let id = if let Some(id) = context.text("VerificationSid") {
        id
    } else {
        let to = context.need("To")?;
        context.row("~to", &pending(&service, &to))?.unwrap_or_default()
    };
    let mut verification = context.get("verifications", &id, "VerificationSid")?;
    if verification.state.as_deref() != Some("pending") {
        let kind = "verifications";
        return Err(CallFailure::NotFound { kind, id, field: "VerificationSid" }.into());
    }
    let checks = verification.hidden["checks"].as_u64().unwrap_or(0);
    if checks >= MAX_CHECKS {
        let (field, message) = ("Code".to_owned(), "Max check attempts reached".to_owned());
        return Err(CallFailure::Invalid { field, code: "60202", message }.into());
    }
    let now = context.now.to_string();
    let verification: StoredObject = if code == context.mock.settings.own("code") {
        let fields = json!({"status": "approved", "valid": true, "date_updated": now});
        context.change(verification, fields)
    } else {
        verification.hidden = json!({"checks": checks + 1});
        context.change(verification, json!({"date_updated": now}))
    };
    let mut answer = verification.object;
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("lookup");
        fields.remove("send_code_attempts");
        fields.insert("sna_attempts_error_codes".to_owned(), json!([]));
    }
    Ok(MockReply::ok(&answer))
}

fn service_of(context: &mut CallContext<'_>) -> Result<String, Halt> {
    let service = context.path("service");
    context.get("services", &service, "ServiceSid")?;
    Ok(service)
}
