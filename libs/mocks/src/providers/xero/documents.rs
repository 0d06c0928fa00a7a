//! Documents with lines: invoices, credit notes and bank transactions.

use serde_json::{Value, json};

use super::{
    contacts::of_document,
    wire::{broken, ms_date, time_of},
};
use crate::{StoredObject, context::CallContext, failure::Halt};

/// Lines of one document.
const MAX_LINES: usize = 200;

/// To two decimals.
pub(super) fn round(amount: f64) -> f64 {
    (amount * 100.0).round() / 100.0
}

pub(super) fn number(value: &Value) -> f64 {
    let text = || value.as_str().and_then(|text| text.parse().ok());
    value.as_f64().or_else(text).filter(|number: &f64| number.is_finite()).unwrap_or(0.0)
}

/// The share that a type of tax takes.
fn rate(tax: &str) -> f64 {
    match tax {
        "OUTPUT2" | "INPUT2" => 0.2,
        "RROUTPUT" | "RRINPUT" => 0.05,
        _ => 0.0,
    }
}

/// Where a document may go from each status.
const FLOW: [(&str, &[&str]); 3] = [
    ("DRAFT", &["DRAFT", "SUBMITTED", "AUTHORISED", "DELETED"]),
    ("SUBMITTED", &["SUBMITTED", "DRAFT", "AUTHORISED", "DELETED"]),
    ("AUTHORISED", &["AUTHORISED", "VOIDED"]),
];

/// The status that a document then has.
fn status(known: Option<&StoredObject>, input: &Value, what: &str) -> Result<String, Halt> {
    let wanted = input["Status"].as_str();
    let Some(known) = known else {
        let wanted = wanted.unwrap_or("DRAFT");
        if ["DRAFT", "SUBMITTED", "AUTHORISED"].contains(&wanted) {
            return Ok(wanted.to_owned());
        }
        return Err(broken(format!("{what} not of valid status for creation")));
    };
    let now = known.object["Status"].as_str().unwrap_or_default();
    let wanted = wanted.unwrap_or(now);
    let may =
        FLOW.iter().find(|(from, _)| *from == now).is_some_and(|(_, to)| to.contains(&wanted));
    if !may {
        return Err(broken(format!("{what} not of valid status for modification")));
    }
    let is_paid =
        number(&known.object["AmountPaid"]) + number(&known.object["AmountCredited"]) > 0.0;
    if is_paid && wanted != now {
        return Err(broken(format!("{what} cannot be changed to {wanted}: it has payments")));
    }
    Ok(wanted.to_owned())
}

/// A date of the input, of the document as it was, or of today where there has to be one.
fn date(
    context: &CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
    field: &str,
) -> Result<Option<String>, Halt> {
    match input[field].as_str() {
        Some(text) => {
            let time =
                time_of(text).ok_or_else(|| broken(format!("{field} is no date: {text}")))?;
            Ok(Some(ms_date(time)))
        }
        None if known.is_some() => Ok(None),
        None => Ok((field == "Date").then(|| ms_date(context.now))),
    }
}

/// Lines with their amounts and taxes, and the totals of all.
fn lines(context: &CallContext<'_>, input: &Value, amounts: &str) -> Result<Value, Halt> {
    let given = input["LineItems"].as_array().cloned().unwrap_or_default();
    if given.len() > MAX_LINES {
        return Err(broken(format!("a document has at most {MAX_LINES} lines")));
    }
    let (mut lines, mut amount, mut tax) = (Vec::new(), 0.0, 0.0);
    for mut line in given {
        if !line.is_object() {
            return Err(broken("a line is an object"));
        }
        let quantity = line.get("Quantity").map_or(1.0, number);
        let discount = 1.0 - number(&line["DiscountRate"]) / 100.0;
        let of_line = match line.get("UnitAmount") {
            Some(unit) => round(quantity * number(unit) * discount),
            None => round(number(&line["LineAmount"])),
        };
        let of_tax = match (amounts, line.get("TaxAmount")) {
            ("NoTax", _) => 0.0,
            (_, Some(tax)) if !tax.is_null() => round(number(tax)),
            (_, _) => {
                let rate = rate(line["TaxType"].as_str().unwrap_or_default());
                let base = if amounts == "Inclusive" { of_line / (1.0 + rate) } else { of_line };
                round(base * rate)
            }
        };
        (amount, tax) = (amount + of_line, tax + of_tax);
        line["Quantity"] = json!(quantity);
        line["LineAmount"] = json!(of_line);
        line["TaxAmount"] = json!(of_tax);
        line["LineItemID"] = json!(context.uuid());
        line["Tracking"] = json!([]);
        lines.push(line);
    }
    let (amount, tax) = (round(amount), round(tax));
    let is_inclusive = amounts == "Inclusive";
    Ok(json!({
        "LineItems": lines,
        "SubTotal": if is_inclusive { round(amount - tax) } else { amount },
        "TotalTax": tax,
        "Total": if is_inclusive { amount } else { round(amount + tax) },
    }))
}

/// What the three have in common. `left` is the field of what is not paid yet; empty where all is.
fn document(
    context: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
    what: &str,
    left: &str,
) -> Result<Value, Halt> {
    let status = status(known, input, what)?;
    let mut fields = json!({"Status": status});
    for field in ["Date", "DueDate"] {
        if let Some(date) = date(context, known, input, field)? {
            fields[field] = json!(date);
        }
    }
    for field in
        ["Reference", "InvoiceNumber", "CreditNoteNumber", "Url", "SentToContact", "IsReconciled"]
    {
        if let Some(value) = input.get(field).filter(|value| !value.is_null()) {
            fields[field] = value.clone();
        }
    }
    let amounts = input["LineAmountTypes"].as_str();
    let before = known.and_then(|known| known.object["LineAmountTypes"].as_str());
    let amounts = amounts.or(before).unwrap_or("Exclusive").to_owned();
    fields["LineAmountTypes"] = json!(amounts);
    if known.is_none() || input.get("LineItems").is_some() {
        let totals = lines(context, input, &amounts)?;
        if status != "DRAFT" && totals["LineItems"].as_array().is_none_or(Vec::is_empty) {
            return Err(broken("One or more line items must be specified"));
        }
        if !left.is_empty() {
            fields[left] = totals["Total"].clone();
        }
        if let (Some(fields), Value::Object(totals)) = (fields.as_object_mut(), totals) {
            fields.extend(totals);
        }
    }
    if known.is_none() {
        fields["CurrencyCode"] = input.get("CurrencyCode").cloned().unwrap_or_else(|| json!("GBP"));
        fields["CurrencyRate"] = json!(1.0);
        fields["HasAttachments"] = json!(false);
    }
    // The last, as it may make one.
    if known.is_none() || input.get("Contact").is_some() {
        fields["Contact"] = of_document(context, input)?;
    }
    Ok(fields)
}

fn of_kind(
    known: Option<&StoredObject>,
    input: &Value,
    kinds: &[&str],
    what: &str,
) -> Result<Option<Value>, Halt> {
    match input["Type"].as_str() {
        Some(kind) if kinds.contains(&kind) => Ok(Some(json!(kind))),
        None if known.is_some() => Ok(None),
        _ => Err(broken(format!("{what} type must be one of {}", kinds.join(", ")))),
    }
}

pub(super) fn invoice(
    context: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
) -> Result<Value, Halt> {
    let kind = of_kind(known, input, &["ACCREC", "ACCPAY"], "Invoice")?;
    let mut fields = document(context, known, input, "Invoice", "AmountDue")?;
    if let Some(kind) = kind {
        fields["Type"] = kind;
    }
    if known.is_none() {
        fields["AmountPaid"] = json!(0.0);
        fields["AmountCredited"] = json!(0.0);
        for list in ["Payments", "CreditNotes", "Prepayments", "Overpayments"] {
            fields[list] = json!([]);
        }
    }
    Ok(fields)
}

pub(super) fn credit_note(
    context: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
) -> Result<Value, Halt> {
    let kind = of_kind(known, input, &["ACCRECCREDIT", "ACCPAYCREDIT"], "Credit note")?;
    let mut fields = document(context, known, input, "Credit note", "RemainingCredit")?;
    if let Some(kind) = kind {
        fields["Type"] = kind;
    }
    if known.is_none() {
        fields["Allocations"] = json!([]);
    }
    Ok(fields)
}

pub(super) fn bank_transaction(
    context: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
) -> Result<Value, Halt> {
    let kind = of_kind(known, input, &["SPEND", "RECEIVE"], "Bank transaction")?;
    let account = &input["BankAccount"];
    if known.is_none() && !account["AccountID"].is_string() && !account["Code"].is_string() {
        return Err(broken("The bank account must be specified by AccountID or Code"));
    }
    let mut wanted = input.clone();
    if known.is_none() {
        wanted["Status"] = json!("AUTHORISED");
    } else if wanted["Status"] == "DELETED" {
        wanted["Status"] = json!("VOIDED");
    }
    let mut fields = document(context, known, &wanted, "Bank transaction", "")?;
    if fields["Status"] == "VOIDED" {
        fields["Status"] = json!("DELETED");
    }
    if let Some(kind) = kind {
        fields["Type"] = kind;
        fields["BankAccount"] = account.clone();
    }
    Ok(fields)
}
