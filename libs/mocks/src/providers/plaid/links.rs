//! Tokens on the way to an item: of Link, public ones, and the one that opens it.

use serde_json::{Value, json};

use super::{
    accounts, institutions,
    items::{self, GOOD, row_of},
    wire::{SYNC, ok, tell},
};
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// How long a link token holds.
const LINK_LIFE: std::time::Duration = std::time::Duration::from_hours(4);
/// The kind of rows of public tokens.
const PUBLIC: &str = "~public";

/// A link token; with an access token one that repairs the item.
pub(super) fn create_link(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    for field in ["client_name", "language"] {
        context.need(field)?;
    }
    let countries = context.field("country_codes").and_then(Value::as_array);
    countries.ok_or_else(|| CallFailure::missing("country_codes"))?;
    let name = context.uuid();
    if context.text("access_token").is_some() {
        let item = items::of_call(context)?;
        let doc = json!({"item": item.id}).to_string();
        context.write_row(PUBLIC, &row_of(&format!("public-sandbox-{name}")), Some(doc));
    }
    let expiration = context.now.after(LINK_LIFE).to_string();
    ok(context, json!({"link_token": format!("link-sandbox-{name}"), "expiration": expiration}))
}

pub(super) fn create_public(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let institution = context.need("institution_id")?;
    institutions::named(&institution)?;
    let products = context.field("initial_products").and_then(Value::as_array).cloned();
    let products = products.ok_or_else(|| CallFailure::missing("initial_products"))?;
    let is_known = |product: &Value| {
        product.as_str().is_some_and(|product| institutions::PRODUCTS.contains(&product))
    };
    if products.is_empty() || !products.iter().all(is_known) {
        let message = format!("the products are {}", institutions::PRODUCTS.join(", "));
        return Err(CallFailure::invalid("initial_products", message).into());
    }
    let token = format!("public-sandbox-{}", context.uuid());
    let row = json!({
        "institution": institution,
        "products": products,
        "webhook": context.text("options.webhook"),
        "password": context.text("options.override_password"),
    });
    context.write_row(PUBLIC, &row_of(&token), Some(row.to_string()));
    ok(context, json!({"public_token": token}))
}

/// A public token is exchanged once, for a new item or for one that is repaired.
pub(super) fn exchange(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let token = context.need("public_token")?;
    let row = context.row(PUBLIC, &row_of(&token))?;
    let made: Option<Value> = row.and_then(|row| serde_json::from_str(&row).ok());
    let missing =
        || CallFailure::NotFound { kind: "tokens", id: token.clone(), field: "public_token" };
    let made = made.ok_or_else(missing)?;
    let (item, access) = match made["item"].as_str() {
        Some(id) => repaired(context, id)?,
        None => new_item(context, &made)?,
    };
    context.write_row(PUBLIC, &row_of(&token), None);
    context.secrets.push(access.clone());
    ok(context, json!({"access_token": access, "item_id": item}))
}

fn new_item(context: &mut CallContext<'_>, made: &Value) -> Result<(String, String), Halt> {
    let (institution, name, _) =
        institutions::named(made["institution"].as_str().unwrap_or_default())?;
    let (id, access) = (context.id("items"), format!("access-sandbox-{}", context.uuid()));
    let (now, products) = (context.now.to_string(), &made["products"]);
    let has =
        |product: &&&str| products.as_array().is_some_and(|all| all.contains(&json!(product)));
    let others: Vec<_> = institutions::PRODUCTS.iter().filter(|product| !has(product)).collect();
    let object = json!({
        "item_id": id, "institution_id": institution, "institution_name": name,
        "webhook": made["webhook"].as_str().unwrap_or_default(),
        "error": null, "available_products": others, "billed_products": products,
        "products": products, "consented_products": products, "consent_expiration_time": null,
        "update_type": "background", "created_at": now, "auth_method": null,
    });
    let mut item = context.create("items", &id, object);
    item.state = Some(GOOD.to_owned());
    item.hidden = json!({"secret": access, "password": made["password"], "added": 0});
    let item = context.put(item);
    context.write_row(items::ACCESS, &row_of(&access), Some(id.clone()));
    accounts::make(context, &item);
    if has(&&"transactions") {
        let done = json!({"initial_update_complete": true, "historical_update_complete": true});
        tell(context, SYNC, &item, done);
    }
    Ok((id, access))
}

fn repaired(context: &mut CallContext<'_>, id: &str) -> Result<(String, String), Halt> {
    let item = context.get("items", id, "public_token")?;
    let access = item.hidden["secret"].as_str().unwrap_or_default().to_owned();
    if item.state.as_deref() != Some(GOOD) {
        items::repaired(context, item)?;
    }
    Ok((id.to_owned(), access))
}
