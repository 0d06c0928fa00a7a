//! Lookups: whether a number can be one.

use serde_json::{Value, json};

use crate::{MockReply, context::CallContext, failure::Halt};

/// Digits of a number, with the country's (E.164).
const DIGITS: std::ops::RangeInclusive<usize> = 8..=15;

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let number = context.path("number");
    let digits = number.strip_prefix('+').unwrap_or(&number);
    let is_valid =
        DIGITS.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let errors = if is_valid { json!([]) } else { json!(["NOT_A_NUMBER"]) };
    let body = json!({
        "call_forwarding": null,
        "caller_name": null,
        "calling_country_code": if is_valid { json!(&digits[..1]) } else { Value::Null },
        "country_code": if is_valid && digits.starts_with('1') { json!("US") } else { Value::Null },
        "identity_match": null,
        "line_status": null,
        "line_type_intelligence": null,
        "national_format": if is_valid { json!(digits) } else { Value::Null },
        "phone_number": format!("+{digits}"),
        "phone_number_quality_score": null,
        "pre_fill": null,
        "reassigned_number": null,
        "sim_swap": null,
        "sms_pumping_risk": null,
        "url": context.url(&format!("/lookups/v2/PhoneNumbers/{number}")),
        "valid": is_valid,
        "validation_errors": errors,
    });
    Ok(MockReply::ok(&body))
}
