//! Items: what a person's login at an institution is here.

use aws_lc_rs::digest::{SHA256, digest};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use super::{
    transactions,
    wire::{EVENTS, item_error, ok, tell},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// The kind of rows that say which item an access token opens.
pub(super) const ACCESS: &str = "~access";
/// The states of an item.
pub(super) const GOOD: &str = "good";
pub(super) const LOGIN_REQUIRED: &str = "login_required";
const LOGIN_CODE: &str = "ITEM_LOGIN_REQUIRED";
const WEEK: std::time::Duration = std::time::Duration::from_hours(7 * 24);

/// The id of the row of a token, which is not to be read from the storage.
pub(super) fn row_of(token: &str) -> String {
    HEXLOWER.encode(digest(&SHA256, token.as_bytes()).as_ref())
}

/// The item that the access token of the call opens.
pub(super) fn of_call(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let token = context.need("access_token")?;
    context.secrets.push(token.clone());
    let id = context.row(ACCESS, &row_of(&token))?;
    let missing = CallFailure::NotFound { kind: "items", id: token, field: "access_token" };
    let id = id.ok_or(missing)?;
    context.get("items", &id, "access_token")
}

/// The same for a call that needs the institution: declined as the setting, the item's password or its state says.
pub(super) fn working(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let item = of_call(context)?;
    let password = item.hidden["password"].as_str().unwrap_or_default();
    let declined = context.declined(&[password]).filter(|it| it.code != super::transfers::NSF);
    let needs_login = item.state.as_deref() == Some(LOGIN_REQUIRED);
    let own = || context.provider.decline(LOGIN_CODE).filter(|_| needs_login);
    match declined.or_else(own) {
        Some(decline) => Err(CallFailure::Declined(decline, Value::Null).into()),
        None => Ok(item),
    }
}

/// An item in a state, with the error that belongs to it.
fn set_state(context: &mut CallContext<'_>, mut item: StoredObject, state: &str) -> StoredObject {
    let needs_login = state == LOGIN_REQUIRED;
    item.object["error"] = if needs_login { item_error(context, LOGIN_CODE) } else { Value::Null };
    item.state = Some(state.to_owned());
    context.put(item)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = of_call(context)?;
    let at = item.created_at.to_string();
    let status = json!({
        "investments": null, "last_webhook": null,
        "transactions": {"last_successful_update": at, "last_failed_update": null},
    });
    ok(context, json!({"item": item.object, "status": status}))
}

pub(super) fn remove(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = of_call(context)?;
    for account in super::accounts::of(context, &item)? {
        context.remove(&account);
    }
    let access = item.hidden["secret"].as_str().unwrap_or_default().to_owned();
    context.write_row(ACCESS, &row_of(&access), None);
    context.remove(&item);
    ok(context, json!({}))
}

pub(super) fn update_webhook(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = of_call(context)?;
    let url = context.text("webhook").unwrap_or_default();
    let item = context.put(StoredObject { object: with(item.object, "webhook", &url), ..item });
    ok(context, json!({"item": item.object}))
}

fn with(mut object: Value, field: &str, text: &str) -> Value {
    object[field] = json!(text);
    object
}

/// The person has to log in again.
pub(super) fn needs_login(
    context: &mut CallContext<'_>,
    item: StoredObject,
) -> Result<StoredObject, Halt> {
    let item = set_state(context, item, LOGIN_REQUIRED);
    fired(context, item, "ITEM.ERROR")
}

/// The person has logged in again.
pub(super) fn repaired(
    context: &mut CallContext<'_>,
    item: StoredObject,
) -> Result<StoredObject, Halt> {
    let item = set_state(context, item, GOOD);
    fired(context, item, "ITEM.LOGIN_REPAIRED")
}

pub(super) fn reset_login(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = of_call(context)?;
    needs_login(context, item)?;
    ok(context, json!({"reset_login": true}))
}

pub(super) fn fire_webhook(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = of_call(context)?;
    let code = context.need("webhook_code")?;
    let event = events_of_items().find(|event| event.ends_with(&format!(".{code}")));
    let event = event.ok_or_else(|| {
        let codes: Vec<_> =
            events_of_items().filter_map(|event| event.split('.').next_back()).collect();
        CallFailure::invalid("webhook_code", format!("the codes are {}", codes.join(", ")))
    })?;
    fired(context, item, event)?;
    ok(context, json!({"webhook_fired": true}))
}

/// Webhooks that are fired by their code.
fn events_of_items() -> impl Iterator<Item = &'static str> {
    EVENTS.iter().copied().filter(|event| !event.starts_with("TRANSFER."))
}

/// Sends a webhook of an item, with what belongs to it.
pub(super) fn fired(
    context: &mut CallContext<'_>,
    mut item: StoredObject,
    event: &'static str,
) -> Result<StoredObject, Halt> {
    let more = match event.split('.').next_back() {
        Some("SYNC_UPDATES_AVAILABLE") => {
            json!({"initial_update_complete": true, "historical_update_complete": true})
        }
        Some("DEFAULT_UPDATE") => {
            item = transactions::add_generated(context, item);
            json!({"new_transactions": transactions::ADDED, "error": null})
        }
        Some("ERROR") => json!({"error": item_error(context, LOGIN_CODE)}),
        Some("PENDING_DISCONNECT") => {
            let at = context.now.after(WEEK).to_string();
            json!({"reason": "INSTITUTION_TOKEN_EXPIRATION", "disconnect_time": at})
        }
        Some("USER_PERMISSION_REVOKED" | "NEW_ACCOUNTS_AVAILABLE") => json!({"error": null}),
        Some("SMS_MICRODEPOSITS_VERIFICATION") => {
            let accounts = super::accounts::of(context, &item)?;
            let first = accounts.first().map(|account| account.id.clone());
            json!({"account_id": first, "status": "MANUALLY_VERIFIED", "error": null})
        }
        _ => json!({}),
    };
    tell(context, event, &item, more);
    Ok(item)
}
