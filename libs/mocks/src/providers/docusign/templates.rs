//! Templates: documents and roles, for envelopes that are made of them.

use serde_json::{Value, json};

use super::{
    build,
    wire::{check_account, of_path, own, sender, texts},
};
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const DEFAULT_COUNT: i64 = 100;
const MAX_COUNT: i64 = 1_000;

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    let (name, now) = (context.need("name")?, context.now.to_string());
    let given = |name: &str| context.body.get(name).cloned().unwrap_or(Value::Null);
    let (recipients, documents) = (given("recipients"), given("documents"));
    // What is wrong with a recipient is told now, and not when the template is used.
    build::recipients(context, &recipients)?;
    let documents = build::documents(context, &documents)?;
    let id = context.uuid();
    let object = json!({
        "templateId": id, "name": name, "uri": format!("/templates/{id}"),
        "description": context.text("description").unwrap_or_default(), "shared": "false",
        "emailSubject": context.text("emailSubject").unwrap_or_default(), "emailBlurb": context.text("emailBlurb").unwrap_or_default(),
        "created": now, "lastModified": now, "owner": sender(context), "pageCount": "1",
    });
    let mut template = context.create("templates", &id, object);
    template.hidden = json!({"recipients": texts(recipients), "documents": documents});
    let template = context.put(template);
    let object = &template.object;
    let made = json!({"templateId": id, "name": object["name"], "uri": object["uri"]});
    Ok(MockReply::json(201, &made))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let template = of_path(context, "templates")?;
    let mut object = template.object;
    object["recipients"] = template.hidden["recipients"].clone();
    object["documents"] = template.hidden["documents"].clone();
    Ok(MockReply::ok(&object))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    let count = context.int("count")?.unwrap_or(DEFAULT_COUNT);
    let start = context.int("start_position")?.unwrap_or(0);
    if !(1..=MAX_COUNT).contains(&count) || start < 0 {
        let message = format!("must be from 1 to {MAX_COUNT}");
        return Err(CallFailure::invalid("count", message).into());
    }
    let mut found = context.list("templates")?;
    if let Some(text) = context.text("search_text") {
        found.retain(|it| it.object["name"].as_str().is_some_and(|name| name.contains(&text)));
    }
    let total = found.len();
    let (first, count) = (usize::try_from(start).unwrap_or(0), usize::try_from(count).unwrap_or(0));
    let shown: Vec<_> = found.into_iter().skip(first).take(count).map(|it| it.object).collect();
    let (account, next) = (own(context, "accountId"), first.saturating_add(count));
    let next = if next < total {
        format!("/accounts/{account}/templates?start_position={next}&count={count}")
    } else {
        String::new()
    };
    let page = json!({
        "resultSetSize": shown.len().to_string(), "totalSetSize": total.to_string(),
        "startPosition": first.to_string(), "nextUri": next,
        "endPosition": (first + shown.len()).saturating_sub(1).to_string(),
        "envelopeTemplates": shown,
    });
    Ok(MockReply::ok(&page))
}
