//! Payments of invoices.

use serde_json::{Value, json};

use super::{
    documents::{number, round},
    resources::of_name,
    wire::{broken, ms_date, tell, time_of},
};
use crate::{StoredObject, context::CallContext, failure::Halt};

pub(super) fn payment(
    context: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
) -> Result<Value, Halt> {
    if let Some(known) = known {
        return taken_back(context, known, input);
    }
    let invoice = of_name("Invoices").of_input(context, &input["Invoice"])?;
    let invoice = invoice.ok_or_else(|| broken("The invoice that is paid must be specified"))?;
    let account = &input["Account"];
    if !account["AccountID"].is_string() && !account["Code"].is_string() {
        return Err(broken("The account must be specified by AccountID or Code"));
    }
    if invoice.object["Status"] != "AUTHORISED" {
        return Err(broken("Payments can only be made against Authorised documents"));
    }
    let (amount, due) = (round(number(&input["Amount"])), number(&invoice.object["AmountDue"]));
    if amount <= 0.0 {
        return Err(broken("Payment amount must be greater than zero"));
    }
    if amount > due {
        return Err(broken("Payment amount exceeds the amount outstanding on this document"));
    }
    let date = match input["Date"].as_str() {
        Some(text) => time_of(text).ok_or_else(|| broken(format!("Date is no date: {text}")))?,
        None => context.now,
    };
    let kind = if invoice.object["Type"] == "ACCPAY" { "ACCPAYPAYMENT" } else { "ACCRECPAYMENT" };
    let fields = json!({
        "Invoice": {"InvoiceID": invoice.id, "InvoiceNumber": invoice.object["InvoiceNumber"], "Type": invoice.object["Type"]},
        "Account": account,
        "Date": ms_date(date),
        "Amount": amount,
        "BankAmount": amount,
        "Reference": input.get("Reference").cloned().unwrap_or_else(|| json!("")),
        "CurrencyRate": 1.0,
        "PaymentType": kind,
        "Status": "AUTHORISED",
        "IsReconciled": false,
        "HasAccount": true,
    });
    paid(context, invoice, amount, date)?;
    Ok(fields)
}

/// Adds an amount to what is paid of an invoice, or takes it away.
fn paid(
    context: &mut CallContext<'_>,
    invoice: StoredObject,
    amount: f64,
    date: trapline_model::Time,
) -> Result<(), Halt> {
    let total = round(number(&invoice.object["AmountPaid"]) + amount);
    let due = round(number(&invoice.object["AmountDue"]) - amount);
    let is_all = due <= 0.0;
    let full = if is_all { json!(ms_date(date)) } else { Value::Null };
    let fields = json!({
        "AmountPaid": total,
        "AmountDue": due,
        "Status": if is_all { "PAID" } else { "AUTHORISED" },
        "FullyPaidOnDate": full,
        "UpdatedDateUTC": ms_date(context.now),
    });
    let mut invoice = context.change(invoice, fields);
    invoice.state = invoice.object["Status"].as_str().map(str::to_owned);
    if let Some(object) = invoice.object.as_object_mut().filter(|_| !is_all) {
        object.remove("FullyPaidOnDate");
    }
    let invoice = context.put(invoice);
    tell(context, &invoice, false)
}

/// A payment can only be deleted.
fn taken_back(
    context: &mut CallContext<'_>,
    known: &StoredObject,
    input: &Value,
) -> Result<Value, Halt> {
    if input["Status"] != "DELETED" || known.object["Status"] == "DELETED" {
        return Err(broken("A payment can only be deleted, and once"));
    }
    let id = known.object["Invoice"]["InvoiceID"].as_str().unwrap_or_default();
    if let Some(invoice) = context.find("records", id)? {
        let amount = number(&known.object["Amount"]);
        paid(context, invoice, -amount, context.now)?;
    }
    Ok(json!({"Status": "DELETED"}))
}
