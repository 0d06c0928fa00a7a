//! What all types of documents have in common: made, changed, named by id or by number.

use serde_json::{Value, json};

use super::{
    contacts, documents, payments,
    wire::{answer, broken, ms_date, tell},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Documents of one call.
const MAX_INPUTS: usize = 50;
/// Letters of a name or number.
const MAX_NAME: usize = 255;

/// What is checked of an input before anything is written.
type DocumentCheck = fn(&mut CallContext<'_>, Option<&StoredObject>, &Value) -> Result<Value, Halt>;

/// A type of documents.
pub(super) struct Resource {
    /// In paths, and as the list in bodies.
    pub(super) name: &'static str,
    /// The field of its id.
    pub(super) id: &'static str,
    /// The field by which it is named too, which no two have alike; empty for none.
    pub(super) number: &'static str,
    /// How a number that is not given begins; empty where one has to be given.
    pub(super) prefix: &'static str,
    /// Gives the fields that it then has.
    check: DocumentCheck,
}

pub(super) const RESOURCES: [Resource; 7] = [
    Resource {
        name: "Invoices",
        id: "InvoiceID",
        number: "InvoiceNumber",
        prefix: "INV-",
        check: documents::invoice,
    },
    Resource {
        name: "Contacts",
        id: "ContactID",
        number: "Name",
        prefix: "",
        check: contacts::contact,
    },
    Resource {
        name: "Payments",
        id: "PaymentID",
        number: "",
        prefix: "",
        check: payments::payment,
    },
    Resource {
        name: "BankTransactions",
        id: "BankTransactionID",
        number: "",
        prefix: "",
        check: documents::bank_transaction,
    },
    Resource {
        name: "Accounts",
        id: "AccountID",
        number: "Code",
        prefix: "",
        check: contacts::account,
    },
    Resource { name: "Items", id: "ItemID", number: "Code", prefix: "", check: contacts::item },
    Resource {
        name: "CreditNotes",
        id: "CreditNoteID",
        number: "CreditNoteNumber",
        prefix: "CN-",
        check: documents::credit_note,
    },
];

/// The type in the path.
pub(super) fn of_path(context: &CallContext<'_>) -> Result<&'static Resource, Halt> {
    let name = context.path("type");
    RESOURCES
        .iter()
        .find(|resource| resource.name == name)
        .ok_or_else(|| CallFailure::NoRoute.into())
}

pub(super) fn of_name(name: &str) -> &'static Resource {
    RESOURCES.iter().find(|resource| resource.name == name).unwrap_or(&RESOURCES[0])
}

impl Resource {
    fn key(&self, number: &str) -> String {
        format!("{}/{}", self.name, number.to_lowercase())
    }

    /// The one with an id, or with a number.
    pub(super) fn find(
        &self,
        context: &mut CallContext<'_>,
        word: &str,
    ) -> Result<Option<StoredObject>, Halt> {
        let is_ours = |found: &StoredObject| found.hidden["type"] == self.name;
        if let Some(found) = context.find("records", word)?.filter(is_ours) {
            return Ok(Some(found));
        }
        if self.number.is_empty() || word.len() > MAX_NAME {
            return Ok(None);
        }
        match context.row("~name", &self.key(word))? {
            Some(id) => context.find("records", &id),
            None => Ok(None),
        }
    }

    fn named_in_path(&self, context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
        let id = context.path("id");
        let found = self.find(context, &id)?;
        found.ok_or_else(|| CallFailure::NotFound { kind: "records", id, field: "id" }.into())
    }

    /// The one that an input names, by its id or number.
    pub(super) fn of_input(
        &self,
        context: &mut CallContext<'_>,
        input: &Value,
    ) -> Result<Option<StoredObject>, Halt> {
        for field in [self.id, self.number].into_iter().filter(|field| !field.is_empty()) {
            if let Some(word) = input[field].as_str().filter(|word| !word.is_empty())
                && let Some(found) = self.find(context, word)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Makes or changes one. Nothing is written before all was checked.
    pub(super) fn save(
        &self,
        context: &mut CallContext<'_>,
        known: Option<StoredObject>,
        input: &Value,
    ) -> Result<StoredObject, Halt> {
        if let Some(decline) = context.declined(&[]) {
            return Err(CallFailure::Declined(decline, Value::Null).into());
        }
        if !input.is_object() {
            return Err(broken("a document is an object"));
        }
        let mut fields = (self.check)(context, known.as_ref(), input)?;
        let id = known.as_ref().map_or_else(|| context.uuid(), |known| known.id.clone());
        self.claim(context, known.as_ref(), &id, &mut fields)?;
        fields["UpdatedDateUTC"] = json!(ms_date(context.now));
        let is_new = known.is_none();
        let mut stored = if let Some(known) = known {
            context.change(known, fields)
        } else {
            fields[self.id] = json!(id);
            let mut stored = context.create("records", &id, fields);
            stored.hidden = json!({"type": self.name, "place": context.touched.len()});
            stored
        };
        let status = stored.object.get("Status").or_else(|| stored.object.get("ContactStatus"));
        stored.state = status.and_then(Value::as_str).map(str::to_owned);
        let stored = context.put(stored);
        tell(context, &stored, is_new)?;
        Ok(stored)
    }

    fn numbered(&self, number: u64) -> String {
        format!("{}{number:04}", self.prefix)
    }

    /// The next number that no document has.
    fn free_number(&self, context: &mut CallContext<'_>) -> Result<String, Halt> {
        loop {
            let number = context.number(self.name)?;
            let number = self.numbered(number);
            if context.row("~name", &self.key(&number))?.is_none() {
                return Ok(number);
            }
        }
    }

    /// Makes the number its own; gives one where it may be left out.
    fn claim(
        &self,
        context: &mut CallContext<'_>,
        known: Option<&StoredObject>,
        id: &str,
        fields: &mut Value,
    ) -> Result<(), Halt> {
        if self.number.is_empty() {
            return Ok(());
        }
        let before = known.and_then(|known| known.object[self.number].as_str().map(str::to_owned));
        let given = fields[self.number].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        let number = match given.or_else(|| before.clone()) {
            Some(number) => number,
            None if self.prefix.is_empty() => {
                return Err(broken(format!("{} is required", self.number)));
            }
            None => self.free_number(context)?,
        };
        if number.len() > MAX_NAME {
            return Err(broken(format!("{} is too long", self.number)));
        }
        let key = self.key(&number);
        if context.row("~name", &key)?.is_some_and(|owner| owner != id) {
            let message = format!("The {} must be unique: {number}", self.number);
            return Err(broken(message));
        }
        if let Some(before) = before.map(|before| self.key(&before)).filter(|before| *before != key)
        {
            context.row("~name", &before)?;
            context.write_row("~name", &before, None);
        }
        context.write_row("~name", &key, Some(id.to_owned()));
        fields[self.number] = json!(number);
        Ok(())
    }
}

/// The documents of a body: in the list of its type, or one alone.
fn inputs(context: &CallContext<'_>, resource: &Resource) -> Result<Vec<Value>, Halt> {
    let inputs = match context.body.get(resource.name) {
        Some(Value::Array(list)) => list.clone(),
        Some(_) => return Err(broken(format!("{} is a list", resource.name))),
        None => vec![context.body.clone()],
    };
    if inputs.is_empty() || inputs.len() > MAX_INPUTS {
        return Err(broken(format!("a call has from 1 to {MAX_INPUTS} documents")));
    }
    if !inputs.iter().all(Value::is_object) {
        return Err(broken(format!("what is in {} is an object", resource.name)));
    }
    Ok(inputs)
}

/// Asks at once for all that documents name: a call may come back for more only a few times.
fn need(context: &mut CallContext<'_>, resource: &Resource, inputs: &[Value]) -> Result<(), Halt> {
    let (mut ids, mut names) = (Vec::new(), Vec::new());
    for input in inputs {
        let parts = [
            (resource, input),
            (of_name("Contacts"), &input["Contact"]),
            (of_name("Invoices"), &input["Invoice"]),
        ];
        for (resource, value) in parts {
            let word = |field: &str| value[field].as_str().filter(|word| word.len() <= MAX_NAME);
            ids.extend(word(resource.id).map(str::to_owned));
            if let Some(number) = word(resource.number).filter(|_| !resource.number.is_empty()) {
                ids.push(number.to_owned());
                names.push(resource.key(number));
            }
        }
    }
    let numbers = ["events", resource.name].map(str::to_owned);
    let (of_ids, of_numbers) =
        (context.need_rows("records", ids), context.need_rows("~number", numbers));
    context.need_rows("~name", names.clone())?;
    of_ids.and(of_numbers)?;
    let mut owners = Vec::new();
    for name in names {
        owners.extend(context.row("~name", &name)?);
    }
    let of_owners = context.need_rows("records", owners);
    if !resource.prefix.is_empty() {
        let last = context.row("~number", resource.name)?.and_then(|doc| doc.parse().ok());
        let next = last.unwrap_or(0_u64) + 1;
        let numbers =
            (next..).take(inputs.len()).map(|number| resource.key(&resource.numbered(number)));
        context.need_rows("~name", numbers.collect::<Vec<_>>())?;
    }
    of_owners
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    saved(context, |_, _, _| Ok(None))
}

pub(super) fn create_or_update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    saved(context, Resource::of_input)
}

type Known = fn(&Resource, &mut CallContext<'_>, &Value) -> Result<Option<StoredObject>, Halt>;

fn saved(context: &mut CallContext<'_>, known: Known) -> Result<MockReply, Halt> {
    let resource = of_path(context)?;
    let inputs = inputs(context, resource)?;
    let is_lenient =
        context.text("summarizeErrors").is_some_and(|it| it.eq_ignore_ascii_case("false"));
    need(context, resource, &inputs)?;
    let mut shown = Vec::new();
    for input in inputs {
        let known = known(resource, context, &input)?;
        match resource.save(context, known, &input) {
            Ok(stored) => {
                let mut object = stored.object;
                object["StatusAttributeString"] = json!("OK");
                shown.push(object);
            }
            Err(Halt::Failed(CallFailure::Invalid { code: "validation", message, .. }))
                if is_lenient =>
            {
                let mut object = input;
                object["HasErrors"] = json!(true);
                object["StatusAttributeString"] = json!("ERROR");
                object["ValidationErrors"] = json!([{"Message": message}]);
                shown.push(object);
            }
            Err(halt) => return Err(halt),
        }
    }
    let body = answer(context, resource.name, &shown);
    Ok(MockReply::ok(&body))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let resource = of_path(context)?;
    let stored = resource.named_in_path(context)?;
    let body = answer(context, resource.name, &[stored.object]);
    Ok(MockReply::ok(&body))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let resource = of_path(context)?;
    let stored = resource.named_in_path(context)?;
    let inputs = inputs(context, resource)?;
    need(context, resource, &inputs)?;
    let stored = resource.save(context, Some(stored), &inputs[0])?;
    let body = answer(context, resource.name, &[stored.object]);
    Ok(MockReply::ok(&body))
}

/// Items and accounts go; other documents are voided or deleted by their status.
pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let resource = of_path(context)?;
    if !["Items", "Accounts"].contains(&resource.name) {
        return Err(CallFailure::NoRoute.into());
    }
    let stored = resource.named_in_path(context)?;
    let number = stored.object[resource.number].as_str().unwrap_or_default();
    let key = resource.key(number);
    context.row("~name", &key)?;
    context.write_row("~name", &key, None);
    context.remove(&stored);
    Ok(MockReply::empty(204))
}
