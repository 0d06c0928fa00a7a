//! What changed: a payload that the app pulls, and a ping that tells it to.

use serde_json::{Map, Value, json};

use super::{
    records::RecordFields,
    tables::{TableOfPath, id_of},
    webhooks::{counter, last, of_base, of_path},
};
use crate::{MockReply, StoredObject, context::CallContext, failure::Halt};

/// Payloads of one answer.
const MAX_PAYLOADS: i64 = 50;

/// What a call did to the records of a table.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) created: Vec<StoredObject>,
    /// With the cells as they were before.
    pub(super) changed: Vec<(RecordFields, StoredObject)>,
    pub(super) destroyed: Vec<String>,
}

impl Changes {
    fn event(&self) -> &'static str {
        if !self.changed.is_empty() {
            "record.changed"
        } else if self.created.is_empty() {
            "record.destroyed"
        } else {
            "record.created"
        }
    }

    fn first(&self) -> String {
        let changed = self.changed.first().map(|(_, record)| &record.id);
        let first = self.created.first().map(|record| &record.id).or(changed);
        first.or(self.destroyed.first()).cloned().unwrap_or_default()
    }

    /// Whether a webhook asks for some of this.
    fn concern(&self, webhook: &StoredObject, table: &TableOfPath) -> bool {
        let filters = &webhook.object["specification"]["options"]["filters"];
        let has = |list: &Value, word: &str| {
            list.as_array().is_none_or(|list| list.is_empty() || list.iter().any(|it| it == word))
        };
        let kinds = [
            ("add", self.created.is_empty()),
            ("update", self.changed.is_empty()),
            ("remove", self.destroyed.is_empty()),
        ];
        let scope = filters["recordChangeScope"].as_str();
        scope.is_none_or(|scope| scope == table.id)
            && has(&filters["dataTypes"], "tableData")
            && kinds.iter().any(|(kind, is_none)| !is_none && has(&filters["changeTypes"], kind))
    }
}

/// Keeps a payload for each webhook that wants it, and pings.
pub(super) fn tell(
    context: &mut CallContext<'_>,
    table: &TableOfPath,
    changes: &Changes,
) -> Result<(), Halt> {
    let mut webhooks = of_base(context, &table.base)?;
    webhooks.retain(|webhook| changes.concern(webhook, table));
    if webhooks.is_empty() {
        return Ok(());
    }
    let id = context.mock.call_id.to_owned();
    // A call that is run again writes it again.
    context.find("payloads", &id)?;
    let counters = webhooks.iter().map(|webhook| counter(&webhook.id)).collect::<Vec<_>>();
    context.need_rows("~number", counters)?;
    let number = context.number(&format!("transactions of {}", table.base))?;
    let object = payload(context, table, changes, number);
    let payload = context.create("payloads", &id, object);
    context.put_apart(payload);
    for webhook in webhooks {
        let number = context.number(&counter(&webhook.id))?;
        context.write_row("~payload", &place(&webhook.id, number), Some(id.clone()));
        ping(context, table, &webhook, changes);
    }
    Ok(())
}

fn place(webhook: &str, number: u64) -> String {
    format!("{webhook}:{number:010}")
}

fn ping(
    context: &mut CallContext<'_>,
    table: &TableOfPath,
    webhook: &StoredObject,
    changes: &Changes,
) {
    let url = webhook.object["notificationUrl"].as_str();
    let Some(url) = url.filter(|_| webhook.object["areNotificationsEnabled"] == true) else {
        return;
    };
    let body = json!({
        "base": {"id": table.base}, "webhook": {"id": webhook.id}, "timestamp": context.now,
    });
    let endpoint = (webhook.hidden["isOwn"] != true).then(|| webhook.id.clone());
    context.emit_json_of(changes.event(), &changes.first(), url, endpoint, &body);
}

fn payload(
    context: &CallContext<'_>,
    table: &TableOfPath,
    changes: &Changes,
    number: u64,
) -> Value {
    let cells = |fields: &RecordFields| -> Value {
        let cell = |(name, value): (&String, &Value)| (table.field(context, name), value.clone());
        json!({"cellValuesByFieldId": Value::Object(fields.iter().map(cell).collect())})
    };
    let of =
        |record: &StoredObject| record.object["fields"].as_object().cloned().unwrap_or_default();
    let mut of_table = Map::new();
    let created = changes.created.iter().map(|record| {
        let mut created = cells(&of(record));
        created["createdTime"] = record.object["createdTime"].clone();
        (record.id.clone(), created)
    });
    let updated = changes.changed.iter().map(|(before, record)| {
        let after = of(record);
        let differs = |name: &String| before.get(name) != after.get(name);
        // A cell that was emptied is null.
        let names = before.keys().chain(after.keys()).filter(|name| differs(name));
        let value =
            |fields: &RecordFields, name: &String| fields.get(name).cloned().unwrap_or_default();
        let now = names.clone().map(|name| (name.clone(), value(&after, name))).collect();
        let was = names.map(|name| (name.clone(), value(before, name))).collect();
        (record.id.clone(), json!({"current": cells(&now), "previous": cells(&was)}))
    });
    let lists = [
        ("createdRecordsById", Value::Object(created.collect())),
        ("changedRecordsById", Value::Object(updated.collect())),
    ];
    for (name, list) in lists {
        if list.as_object().is_some_and(|list| !list.is_empty()) {
            of_table.insert(name.to_owned(), list);
        }
    }
    if !changes.destroyed.is_empty() {
        of_table.insert("destroyedRecordIds".to_owned(), json!(changes.destroyed));
    }
    let user = json!({
        "id": id_of(context, "usr", &[]), "email": "test@example.com", "name": "Test",
        "permissionLevel": "create",
    });
    json!({
        "timestamp": context.now,
        "baseTransactionNumber": number,
        "payloadFormat": "v0",
        "actionMetadata": {"source": "publicApi", "sourceMetadata": {"user": user}},
        "changedTablesById": {(table.id.as_str()): of_table},
    })
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let webhook = of_path(context)?;
    let first = context.int("cursor")?.unwrap_or(1).max(1);
    let limit = context.int("limit")?.unwrap_or(MAX_PAYLOADS).clamp(1, MAX_PAYLOADS);
    let last = last(context, &webhook.id)?;
    let first = u64::try_from(first).unwrap_or(1);
    let end = first.saturating_add(u64::try_from(limit).unwrap_or(1)).min(last + 1).max(first);
    let places: Vec<_> = (first..end).map(|number| place(&webhook.id, number)).collect();
    context.need_rows("~payload", places.clone())?;
    let mut ids = Vec::new();
    for place in places {
        ids.extend(context.row("~payload", &place)?);
    }
    context.need_rows("payloads", ids.clone())?;
    let includes = &webhook.object["specification"]["options"]["includes"];
    let with_previous = includes["includePreviousCellValues"] == true;
    let mut payloads = Vec::new();
    for id in ids {
        let Some(mut payload) = context.find("payloads", &id)? else { continue };
        if !with_previous {
            forget_previous(&mut payload.object);
        }
        payloads.push(payload.object);
    }
    let answer = json!({"payloads": payloads, "cursor": end, "mightHaveMore": end <= last});
    Ok(MockReply::ok(&answer))
}

fn forget_previous(payload: &mut Value) {
    let tables = payload["changedTablesById"].as_object_mut();
    for table in tables.into_iter().flat_map(|tables| tables.values_mut()) {
        let records = table.get_mut("changedRecordsById").and_then(Value::as_object_mut);
        for record in records.into_iter().flat_map(|records| records.values_mut()) {
            if let Some(record) = record.as_object_mut() {
                record.remove("previous");
            }
        }
    }
}
