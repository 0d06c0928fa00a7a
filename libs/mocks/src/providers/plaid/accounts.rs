//! Accounts of an item: balances, numbers, owners.

use serde_json::{Value, json};

use super::{generated::account_id, institutions, items, wire::ok};
use crate::{
    Chance, MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Name, official name, type, subtype, mask, balance, what is available, and the limit of an account.
type NewAccount = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    f64,
    Option<f64>,
    Option<f64>,
);
const ACCOUNTS: [NewAccount; 3] = [
    (
        "Plaid Checking",
        "Plaid Gold Standard 0% Interest Checking",
        "depository",
        "checking",
        "0000",
        110.0,
        Some(100.0),
        None,
    ),
    (
        "Plaid Saving",
        "Plaid Silver Standard 0.1% Interest Saving",
        "depository",
        "savings",
        "1111",
        210.0,
        Some(200.0),
        None,
    ),
    (
        "Plaid Credit Card",
        "Plaid Diamond 12.5% APR Interest Credit Card",
        "credit",
        "credit card",
        "3333",
        410.0,
        None,
        Some(2000.0),
    ),
];

/// Makes the accounts of a new item.
pub(super) fn make(context: &mut CallContext<'_>, item: &StoredObject) {
    for (place, account) in ACCOUNTS.into_iter().enumerate() {
        let (name, official, kind, subtype, mask, current, available, limit) = account;
        let id = account_id(&item.id, place);
        let object = json!({
            "account_id": id, "name": name, "official_name": official, "type": kind,
            "subtype": subtype, "mask": mask, "holder_category": "personal",
            "balances": {
                "available": available, "current": current, "limit": limit,
                "iso_currency_code": "USD", "unofficial_currency_code": null,
            },
        });
        context.create("accounts", &id, object);
    }
}

/// The accounts of an item, in their order.
pub(super) fn of(
    context: &mut CallContext<'_>,
    item: &StoredObject,
) -> Result<Vec<StoredObject>, Halt> {
    let ids = (0..ACCOUNTS.len()).map(|place| account_id(&item.id, place));
    let mut found = Vec::new();
    let mut missing = None;
    // Asks for all at once, where none is loaded yet.
    for id in ids {
        match context.get("accounts", &id, "account_id") {
            Ok(account) => found.push(account),
            Err(halt) => missing = Some(halt),
        }
    }
    missing.map_or(Ok(found), Err)
}

/// An account of an item.
pub(super) fn one(
    context: &mut CallContext<'_>,
    item: &StoredObject,
    id: &str,
) -> Result<StoredObject, Halt> {
    let found = of(context, item)?.into_iter().find(|account| account.id == id);
    let missing =
        || CallFailure::NotFound { kind: "accounts", id: id.to_owned(), field: "account_id" };
    found.ok_or_else(|| missing().into())
}

/// The accounts that `options.account_ids` names, or all.
fn wanted(context: &mut CallContext<'_>, item: &StoredObject) -> Result<Vec<StoredObject>, Halt> {
    let ids = context.field("options.account_ids").and_then(Value::as_array).cloned();
    let Some(ids) = ids else { return of(context, item) };
    ids.iter().map(|id| one(context, item, id.as_str().unwrap_or_default())).collect()
}

/// The accounts as they are answered.
pub(super) fn shown(accounts: &[StoredObject]) -> Vec<Value> {
    accounts.iter().map(|account| account.object.clone()).collect()
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let accounts = wanted(context, &item)?;
    ok(context, json!({"accounts": shown(&accounts), "item": item.object}))
}

/// Numbers of what money can be sent to: accounts that are no credit.
pub(super) fn numbers(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let accounts = wanted(context, &item)?;
    let (_, _, routing) =
        institutions::named(item.object["institution_id"].as_str().unwrap_or_default())?;
    let holds = accounts.iter().filter(|account| account.object["type"] == "depository");
    let ach = holds.map(|account| {
        let number = Chance::of_text(&format!("{} number", account.id)).letters(12, b"0123456789");
        json!({
            "account_id": account.id, "account": format!("1111{number}"), "routing": routing,
            "wire_routing": routing, "is_tokenized_account_number": false,
        })
    });
    let numbers =
        json!({"ach": ach.collect::<Vec<_>>(), "eft": [], "international": [], "bacs": []});
    ok(context, json!({"accounts": shown(&accounts), "numbers": numbers, "item": item.object}))
}

pub(super) fn identity(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let mut accounts = shown(&wanted(context, &item)?);
    for account in &mut accounts {
        account["owners"] = json!([{
            "names": ["Alberta Bobbeth Charleson"],
            "phone_numbers": [{"data": "1112223333", "primary": true, "type": "mobile"}],
            "emails": [{"data": "accountholder0@example.com", "primary": true, "type": "primary"}],
            "addresses": [{
                "primary": true,
                "data": {
                    "city": "Malakoff", "country": "US", "postal_code": "14236", "region": "NY",
                    "street": "2992 Cameron Road",
                },
            }],
        }]);
    }
    ok(context, json!({"accounts": accounts, "item": item.object}))
}
