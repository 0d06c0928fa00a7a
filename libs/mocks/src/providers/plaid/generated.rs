//! Transactions that follow from an item's id and their place, so that a test sees the same ones each time.

use serde_json::{Value, json};
use trapline_model::Time;

use crate::Chance;

/// Transactions that an item begins with.
pub(super) const FIRST: u64 = 24;
/// The day of the newest of these, at noon: 2026-01-31.
const NEWEST: i64 = 1_769_860_800_000;
const DAY_MS: i64 = 86_400_000;
/// Days between two transactions.
const EVERY: i64 = 3;
const LETTERS: usize = 37;

/// Name, merchant, cents, category and its detail, channel. Money that comes in is negative.
type Example = (&'static str, Option<&'static str>, i32, &'static str, &'static str, &'static str);
const EXAMPLES: [Example; 8] = [
    (
        "Uber 063015 SF**POOL**",
        Some("Uber"),
        540,
        "TRANSPORTATION",
        "TRANSPORTATION_TAXIS_AND_RIDE_SHARES",
        "online",
    ),
    ("Starbucks", Some("Starbucks"), 433, "FOOD_AND_DRINK", "FOOD_AND_DRINK_COFFEE", "in store"),
    ("ACH Electronic CreditGUSTO PAY 123456", None, -58_500, "INCOME", "INCOME_WAGES", "other"),
    (
        "SparkFun",
        Some("SparkFun"),
        8_940,
        "GENERAL_MERCHANDISE",
        "GENERAL_MERCHANDISE_ELECTRONICS",
        "online",
    ),
    (
        "Touchstone Climbing",
        Some("Touchstone Climbing"),
        7_850,
        "PERSONAL_CARE",
        "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS",
        "in store",
    ),
    ("INTRST PYMNT", None, -422, "INCOME", "INCOME_INTEREST_EARNED", "other"),
    (
        "Madison Bicycle Shop",
        Some("Madison Bicycle Shop"),
        50_000,
        "GENERAL_MERCHANDISE",
        "GENERAL_MERCHANDISE_SPORTING_GOODS",
        "in store",
    ),
    ("United Airlines", Some("United Airlines"), 31_275, "TRAVEL", "TRAVEL_FLIGHTS", "online"),
];
/// Cents by which amounts differ from their example.
const SPREAD: f64 = 200.0;

/// The id of an item's account at a place.
pub(super) fn account_id(item: &str, place: usize) -> String {
    Chance::of_text(&format!("{item} account {place}")).base62(LETTERS)
}

/// What a transaction is of, beside the fields that all have.
pub(super) struct TransactionFacts<'a> {
    pub(super) id: String,
    pub(super) account: String,
    pub(super) name: &'a str,
    pub(super) merchant: Option<&'a str>,
    pub(super) amount: f64,
    pub(super) currency: &'a str,
    pub(super) date: &'a str,
    pub(super) authorized: &'a str,
    pub(super) category: (&'a str, &'a str),
    pub(super) channel: &'a str,
}

/// The transaction of an item at a place, the oldest at 0.
pub(super) fn transaction(item: &str, place: u64) -> Value {
    let chance = Chance::of_text(&format!("{item} transaction {place}"));
    let example = usize::try_from(place).unwrap_or(0) % EXAMPLES.len();
    let (name, merchant, cents, category, detail, channel) = EXAMPLES[example];
    let id = chance.base62(LETTERS);
    let more = (chance.share() * SPREAD).floor();
    let amount = (f64::from(cents) + more) / 100.0;
    let days = i64::try_from(place).unwrap_or(0) - i64::try_from(FIRST).unwrap_or(0) + 1;
    let date = Time::from_millis(NEWEST.saturating_add(days.saturating_mul(EVERY * DAY_MS)));
    let date = date.to_string();
    let date = date.get(..10).unwrap_or_default();
    // The last account is the card: what is bought every fourth time.
    let account = if place % 4 == 3 { 2 } else { 0 };
    shown(&TransactionFacts {
        id,
        account: account_id(item, account),
        name,
        merchant,
        amount,
        currency: "USD",
        date,
        authorized: date,
        category: (category, detail),
        channel,
    })
}

/// A transaction with every field that the API has.
pub(super) fn shown(facts: &TransactionFacts<'_>) -> Value {
    let (primary, detailed) = facts.category;
    json!({
        "transaction_id": facts.id, "account_id": facts.account, "name": facts.name,
        "merchant_name": facts.merchant, "merchant_entity_id": null, "amount": facts.amount,
        "iso_currency_code": facts.currency, "unofficial_currency_code": null, "date": facts.date,
        "datetime": null, "authorized_date": facts.authorized, "authorized_datetime": null,
        "payment_channel": facts.channel, "pending": false, "pending_transaction_id": null,
        "account_owner": null, "category": null, "category_id": null, "check_number": null,
        "transaction_code": null, "transaction_type": if facts.channel == "online" { "digital" } else { "place" },
        "logo_url": null, "website": null, "counterparties": [],
        "personal_finance_category": {
            "primary": primary, "detailed": detailed, "confidence_level": "HIGH",
        },
        "personal_finance_category_icon_url":
            format!("https://plaid-category-icons.plaid.com/PFC_{primary}.png"),
        "location": {
            "address": null, "city": null, "country": null, "lat": null, "lon": null,
            "postal_code": null, "region": null, "store_number": null,
        },
        "payment_meta": {
            "by_order_of": null, "payee": null, "payer": null, "payment_method": null,
            "payment_processor": null, "ppd_id": null, "reason": null, "reference_number": null,
        },
    })
}
