//! Bases and tables: what is written to makes them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    Chance, MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Letters of an id behind its prefix.
const LETTERS: usize = 14;
const OWN_NAME: &str = "Table 1";
/// Letters of a table's name.
const MAX_NAME: usize = 255;

/// A table that a path names.
pub(super) struct TableOfPath {
    pub(super) base: String,
    pub(super) id: String,
    name: String,
}

/// An id that is the same whenever it is made of the same texts.
pub(super) fn id_of(context: &CallContext<'_>, prefix: &str, parts: &[&str]) -> String {
    let own = own(context, "baseId");
    let text = format!("{own}\n{prefix}\n{}", parts.join("\n"));
    format!("{prefix}{}", Chance::of_text(&text).base62(LETTERS))
}

fn own(context: &CallContext<'_>, credential: &str) -> String {
    context.mock.credentials.get(credential).cloned().unwrap_or_default()
}

pub(super) fn is_id(text: &str, prefix: &str) -> bool {
    let letters = text.strip_prefix(prefix);
    letters.is_some_and(|it| it.len() == LETTERS && it.bytes().all(|it| it.is_ascii_alphanumeric()))
}

/// The base in the path.
pub(super) fn base_of(context: &CallContext<'_>) -> Result<String, Halt> {
    let base = context.path("base");
    if is_id(&base, "app") {
        return Ok(base);
    }
    Err(CallFailure::NotFound { kind: "bases", id: base, field: "base" }.into())
}

/// The table in the path, by id or by name. One that nobody wrote to has no records.
pub(super) fn of_path(context: &mut CallContext<'_>) -> Result<TableOfPath, Halt> {
    let (base, word) = (base_of(context)?, context.path("table"));
    let is_own = base == own(context, "baseId");
    let own_id = own(context, "tableId");
    if is_own && (word == OWN_NAME || word == own_id) {
        return Ok(TableOfPath { base, id: own_id, name: OWN_NAME.to_owned() });
    }
    let missing =
        |id: &str| CallFailure::NotFound { kind: "tables", id: id.to_owned(), field: "table" };
    if is_id(&word, "tbl") {
        let known = context.find("tables", &word)?.filter(|table| table.hidden["base"] == *base);
        let known = known.ok_or_else(|| missing(&word))?;
        let name = known.object["name"].as_str().unwrap_or_default().to_owned();
        return Ok(TableOfPath { base, id: known.id, name });
    }
    if word.chars().count() > MAX_NAME {
        return Err(missing(&word).into());
    }
    Ok(TableOfPath { id: id_of(context, "tbl", &[&base, &word]), base, name: word })
}

impl TableOfPath {
    /// Makes the table, where this is the first that is written to it.
    pub(super) fn make(&self, context: &mut CallContext<'_>) -> Result<(), Halt> {
        if context.find("tables", &self.id)?.is_none() {
            let object = json!({"id": self.id, "name": self.name});
            let mut table = context.create("tables", &self.id, object);
            table.hidden = json!({"base": self.base});
            context.put(table);
        }
        Ok(())
    }

    /// Its records, the oldest first.
    pub(super) fn records(&self, context: &mut CallContext<'_>) -> Result<Vec<StoredObject>, Halt> {
        let mut records = context.list("records")?;
        records.retain(|record| record.hidden["table"] == *self.id);
        // Those of one call have one time, and places.
        records.sort_by_key(|record| (record.created_at, record.hidden["place"].as_u64()));
        Ok(records)
    }

    /// The id that a field has in schemas and payloads.
    pub(super) fn field(&self, context: &CallContext<'_>, name: &str) -> String {
        id_of(context, "fld", &[&self.id, name])
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn whoami(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let user = json!({"id": id_of(context, "usr", &[]), "email": "test@example.com"});
    Ok(MockReply::ok(&user))
}

pub(super) fn bases(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut ids = vec![own(context, "baseId")];
    for table in context.list("tables")? {
        let base = table.hidden["base"].as_str().unwrap_or_default().to_owned();
        if !ids.contains(&base) {
            ids.push(base);
        }
    }
    let base = |(place, id): (usize, &String)| json!({"id": id, "name": format!("Base {}", place + 1), "permissionLevel": "create"});
    let bases: Vec<_> = ids.iter().enumerate().map(base).collect();
    Ok(MockReply::ok(&json!({"bases": bases})))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let base = base_of(context)?;
    let mut tables = Vec::new();
    if base == own(context, "baseId") {
        let (id, name) = (own(context, "tableId"), OWN_NAME.to_owned());
        tables.push(TableOfPath { base: base.clone(), id, name });
    }
    let mut written = context.list("tables")?;
    written.reverse();
    for table in written.into_iter().filter(|table| table.hidden["base"] == *base) {
        let name = table.object["name"].as_str().unwrap_or_default().to_owned();
        if tables.iter().all(|known| known.id != table.id) {
            tables.push(TableOfPath { base: base.clone(), id: table.id, name });
        }
    }
    let mut schemas = Vec::new();
    for table in tables {
        schemas.push(schema(context, &table)?);
    }
    Ok(MockReply::ok(&json!({"tables": schemas})))
}

fn schema(context: &mut CallContext<'_>, table: &TableOfPath) -> Result<Value, Halt> {
    let mut types = BTreeMap::from([("Name".to_owned(), "singleLineText")]);
    for record in table.records(context)? {
        for (name, value) in record.object["fields"].as_object().into_iter().flatten() {
            types.insert(name.clone(), type_of(value));
        }
    }
    let field = |(name, of_type): (&String, &&str)| {
        let mut field = json!({"id": table.field(context, name), "name": name, "type": of_type});
        match *of_type {
            "number" => field["options"] = json!({"precision": 8}),
            "checkbox" => field["options"] = json!({"icon": "check", "color": "greenBright"}),
            "multipleSelects" => field["options"] = json!({"choices": []}),
            _ => {}
        }
        field
    };
    let fields: Vec<_> = types.iter().map(field).collect();
    let view =
        json!({"id": id_of(context, "viw", &[&table.id]), "name": "Grid view", "type": "grid"});
    Ok(json!({
        "id": table.id,
        "name": table.name,
        "primaryFieldId": table.field(context, "Name"),
        "fields": fields,
        "views": [view],
    }))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Number(_) => "number",
        Value::Bool(_) => "checkbox",
        Value::Array(_) => "multipleSelects",
        _ => "singleLineText",
    }
}
