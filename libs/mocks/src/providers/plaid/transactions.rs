//! Transactions: what is new since a cursor, and what was in a time.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use super::{
    accounts,
    generated::{FIRST, TransactionFacts, shown, transaction},
    items,
    wire::{SYNC, ok, tell},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Transactions that a refresh finds.
pub(super) const ADDED: u64 = 2;
const MAX_COUNT: i64 = 500;
const DEFAULT_COUNT: i64 = 100;
/// Transactions that one call makes.
const MAX_CREATED: usize = 10;
const MAX_TEXT: usize = 1_000;

fn place_of(stored: &StoredObject) -> u64 {
    stored.hidden["place"].as_u64().unwrap_or(0)
}

/// All transactions of an item, the oldest first.
fn all(context: &mut CallContext<'_>, item: &StoredObject) -> Result<Vec<Value>, Halt> {
    let mut added = context.list("transactions")?;
    added.retain(|stored| stored.hidden["item"] == item.id.as_str());
    added.sort_by_key(place_of);
    let first = (0..FIRST).map(|place| transaction(&item.id, place));
    Ok(first.chain(added.into_iter().map(|stored| stored.object)).collect())
}

/// The cursor behind so many transactions of an item.
fn cursor(item: &StoredObject, count: usize) -> String {
    BASE64URL_NOPAD.encode(format!("{}:{count}", item.id).as_bytes())
}

fn seen(context: &CallContext<'_>, item: &StoredObject) -> Result<usize, Halt> {
    let Some(text) = context.text("cursor") else { return Ok(0) };
    let read = || {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        text.strip_prefix(&item.id)?.strip_prefix(':')?.parse().ok()
    };
    read().ok_or_else(|| CallFailure::invalid("cursor", "must be one of this item").into())
}

fn count(context: &CallContext<'_>, field: &str) -> Result<usize, Halt> {
    let count = context.int(field)?.unwrap_or(DEFAULT_COUNT);
    if !(1..=MAX_COUNT).contains(&count) {
        let message = format!("must be from 1 to {MAX_COUNT}");
        return Err(CallFailure::invalid(field, message).into());
    }
    Ok(usize::try_from(count).unwrap_or(0))
}

pub(super) fn sync(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let (first, most) = (seen(context, &item)?, count(context, "count")?);
    let (all, accounts) = (all(context, &item)?, accounts::of(context, &item)?);
    let added: Vec<_> = all.iter().skip(first).take(most).collect();
    let end = first + added.len();
    let body = json!({
        "accounts": accounts::shown(&accounts), "added": added, "modified": [], "removed": [],
        "next_cursor": cursor(&item, end), "has_more": end < all.len(),
        "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE",
    });
    ok(context, body)
}

/// What was booked from one day to another, the newest first.
pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let (start, end) = (context.need("start_date")?, context.need("end_date")?);
    let most = count(context, "options.count")?;
    let offset = context.int("options.offset")?.unwrap_or(0);
    let offset = usize::try_from(offset)
        .map_err(|_| CallFailure::invalid("options.offset", "must not be negative"))?;
    let of = context.field("options.account_ids").and_then(Value::as_array).cloned();
    let (mut found, accounts) = (all(context, &item)?, accounts::of(context, &item)?);
    found.retain(|it| {
        let date = it["date"].as_str().unwrap_or_default();
        let is_of = of.as_ref().is_none_or(|ids| ids.contains(&it["account_id"]));
        is_of && start.as_str() <= date && date <= end.as_str()
    });
    found.reverse();
    let total = found.len();
    let found: Vec<_> = found.into_iter().skip(offset).take(most).collect();
    let body = json!({
        "accounts": accounts::shown(&accounts), "transactions": found, "total_transactions": total,
        "item": item.object,
    });
    ok(context, body)
}

/// Adds transactions behind those that an item has. Its row is written too, so that two calls do not take one place.
fn add(
    context: &mut CallContext<'_>,
    mut item: StoredObject,
    made: impl IntoIterator<Item = Value>,
) -> StoredObject {
    let mut added = item.hidden["added"].as_u64().unwrap_or(0);
    for object in made {
        let id = object["transaction_id"].as_str().unwrap_or_default().to_owned();
        let mut stored = context.create("transactions", &id, object);
        stored.hidden = json!({"item": item.id, "place": FIRST + added});
        context.put(stored);
        added += 1;
    }
    item.hidden["added"] = json!(added);
    context.put(item)
}

/// Adds the next transactions that follow from the item's id.
pub(super) fn add_generated(context: &mut CallContext<'_>, item: StoredObject) -> StoredObject {
    let first = FIRST + item.hidden["added"].as_u64().unwrap_or(0);
    let made: Vec<_> = (first..first + ADDED).map(|place| transaction(&item.id, place)).collect();
    add(context, item, made)
}

fn tell_of_updates(context: &mut CallContext<'_>, item: &StoredObject) {
    let done = json!({"initial_update_complete": true, "historical_update_complete": true});
    tell(context, SYNC, item, done);
}

pub(super) fn refresh(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let item = add_generated(context, item);
    tell_of_updates(context, &item);
    ok(context, json!({}))
}

/// Makes transactions that the call describes.
pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let given = context.field("transactions").and_then(Value::as_array).cloned();
    let given = given.ok_or_else(|| CallFailure::missing("transactions"))?;
    if given.is_empty() || given.len() > MAX_CREATED {
        let message = format!("must have from 1 to {MAX_CREATED} entries");
        return Err(CallFailure::invalid("transactions", message).into());
    }
    let accounts = accounts::of(context, &item)?;
    let mut made = Vec::new();
    for given in &given {
        let account = match given["account_id"].as_str() {
            Some(id) => accounts::one(context, &item, id)?.id,
            None => accounts.first().map(|account| account.id.clone()).unwrap_or_default(),
        };
        made.push(described(context, given, account)?);
    }
    let item = add(context, item, made);
    tell_of_updates(context, &item);
    ok(context, json!({}))
}

fn described(context: &CallContext<'_>, given: &Value, account: String) -> Result<Value, Halt> {
    let text = |name: &str| {
        let text = given[name].as_str().filter(|text| !text.is_empty() && text.len() <= MAX_TEXT);
        text.ok_or_else(|| CallFailure::missing(&format!("transactions.{name}")))
    };
    let amount = given["amount"].as_f64();
    let amount = amount.ok_or_else(|| CallFailure::missing("transactions.amount"))?;
    let facts = TransactionFacts {
        id: context.id("transactions"),
        account,
        name: text("description")?,
        merchant: None,
        amount,
        currency: given["iso_currency_code"].as_str().unwrap_or("USD"),
        date: text("date_posted")?,
        authorized: text("date_transacted")?,
        category: ("GENERAL_MERCHANDISE", "GENERAL_MERCHANDISE_OTHER_GENERAL_MERCHANDISE"),
        channel: "other",
    };
    Ok(shown(&facts))
}
