//! Phone numbers that the app has, and where it wants to be told of what comes in.

use serde_json::{Value, json};

use super::{
    lists,
    wire::{VERSION, account, new_id, refused},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    dates::rfc2822,
    failure::{CallFailure, Halt},
};

/// Numbers of one mock.
const MAX_NUMBERS: usize = 1_000;
/// Fields that a call sets as they are, each with its parameter.
const FIELDS: [(&str, &str); 11] = [
    ("friendly_name", "FriendlyName"),
    ("sms_application_sid", "SmsApplicationSid"),
    ("sms_fallback_url", "SmsFallbackUrl"),
    ("sms_method", "SmsMethod"),
    ("sms_url", "SmsUrl"),
    ("status_callback", "StatusCallback"),
    ("status_callback_method", "StatusCallbackMethod"),
    ("voice_application_sid", "VoiceApplicationSid"),
    ("voice_fallback_url", "VoiceFallbackUrl"),
    ("voice_method", "VoiceMethod"),
    ("voice_url", "VoiceUrl"),
];

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let area = context.text("AreaCode");
    let known = context.list("numbers")?;
    if known.len() >= MAX_NUMBERS {
        return Err(refused("21404", "PhoneNumber", "The account has too many phone numbers"));
    }
    let number = match (context.text("PhoneNumber"), &area) {
        (Some(number), _) => number,
        (None, Some(area)) => format!("+1{area}{}", context.chance.letters(7, b"0123456789")),
        (None, None) => {
            let message = "PhoneNumber or AreaCode is required";
            return Err(refused("21402", "PhoneNumber", message));
        }
    };
    let area = format!("area:{}", area.unwrap_or_default());
    if let Some(decline) = context.declined(&[&format!("buy:{number}"), &area]) {
        return Err(CallFailure::Declined(decline, Value::Null).into());
    }
    let digits = number.strip_prefix('+').unwrap_or_default();
    if !(8..=15).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused("21421", "PhoneNumber", "PhoneNumber is invalid"));
    }
    if known.iter().any(|it| it.object["phone_number"] == number.as_str()) {
        return Err(refused("21422", "PhoneNumber", "PhoneNumber is not available"));
    }
    let object = new(context, &number);
    let id = object["sid"].as_str().unwrap_or_default().to_owned();
    let stored = context.create("numbers", &id, object);
    let fields = given(context);
    let stored = context.change(stored, fields);
    Ok(MockReply::json(201, &stored.object))
}

fn new(context: &CallContext<'_>, number: &str) -> Value {
    let (id, account) = (new_id(context, "PN"), account(context));
    let uri = format!("/{VERSION}/Accounts/{account}/IncomingPhoneNumbers/{id}");
    let now = rfc2822(context.now);
    json!({
        "account_sid": account, "address_requirements": "none", "address_sid": null,
        "api_version": VERSION, "beta": false, "bundle_sid": null,
        "capabilities": {"fax": false, "mms": true, "sms": true, "voice": true},
        "date_created": now, "date_updated": now, "emergency_address_sid": null,
        "emergency_address_status": "unregistered", "emergency_status": "Inactive",
        "friendly_name": number, "identity_sid": null, "origin": "twilio",
        "phone_number": number, "sid": id, "sms_application_sid": "",
        "sms_fallback_method": "POST", "sms_fallback_url": "", "sms_method": "POST",
        "sms_url": "", "status": "in-use", "status_callback": "",
        "status_callback_method": "POST",
        "subresource_uris": {
            "assigned_add_ons": format!("{uri}/AssignedAddOns.json"),
        },
        "trunk_sid": null, "uri": format!("{uri}.json"), "voice_application_sid": null,
        "voice_caller_id_lookup": false, "voice_fallback_method": "POST",
        "voice_fallback_url": "", "voice_method": "POST", "voice_receive_mode": "voice",
        "voice_url": "",
    })
}

fn given(context: &CallContext<'_>) -> Value {
    let fields = FIELDS.iter().filter_map(|(field, name)| {
        let value = context.field(name)?.as_str()?;
        Some(((*field).to_owned(), json!(value)))
    });
    Value::Object(fields.collect())
}

/// The number of the mock's that a call or message is to.
pub(super) fn of(
    context: &mut CallContext<'_>,
    number: &str,
) -> Result<Option<StoredObject>, Halt> {
    let numbers = context.list("numbers")?;
    Ok(numbers.into_iter().find(|it| it.object["phone_number"] == number))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let number = context.of_path("numbers")?;
    Ok(MockReply::ok(&number.object))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let number = context.of_path("numbers")?;
    let mut fields = given(context);
    fields["date_updated"] = json!(rfc2822(context.now));
    let number = context.change(number, fields);
    Ok(MockReply::ok(&number.object))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let number = context.of_path("numbers")?;
    context.remove(&number);
    Ok(MockReply::empty(204))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let fields = [("phone_number", "PhoneNumber"), ("friendly_name", "FriendlyName")];
    let numbers = lists::of_fields(context, "numbers", &fields)?;
    lists::page(context, numbers, ("IncomingPhoneNumbers", "incoming_phone_numbers"))
}
