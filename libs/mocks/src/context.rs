//! What a handler has: the call, what was read, and what it changes.

mod events;
mod objects;

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};
use trapline_model::Time;

use crate::{
    Chance, Decline, Loaded, MockCall, MockEvent, Provider, Want, Write, WriteLife,
    engine::CalledMock,
    failure::{CallFailure, Halt},
    page::page_path,
};

/// One run of a call. What it writes is seen by what it reads later.
pub(crate) struct CallContext<'a> {
    pub(crate) provider: &'static Provider,
    pub(crate) call: &'a MockCall,
    pub(crate) mock: &'a CalledMock<'a>,
    pub(crate) chance: &'a Chance,
    pub(crate) now: Time,
    pub(crate) parameters: Vec<(&'static str, String)>,
    pub(crate) body: Value,
    pub(crate) query: Value,
    pub(crate) events: Vec<MockEvent>,
    /// Ids of objects that were read or written, in order.
    pub(crate) touched: Vec<String>,
    /// Secrets that the call made or repeats, which are in its answer.
    pub(crate) secrets: Vec<String>,
    /// Declines this call, before any value in it.
    pub(crate) decline: Option<String>,
    loaded: &'a Loaded,
    wants: HashSet<Want>,
    writes: BTreeMap<(String, String), Write>,
    /// Objects that were written, and the state in which each was last.
    states: BTreeMap<(String, String), String>,
}

impl<'a> CallContext<'a> {
    pub(crate) fn new(
        mock: &'a CalledMock<'a>,
        call: &'a MockCall,
        loaded: &'a Loaded,
        chance: &'a Chance,
    ) -> Self {
        Self {
            provider: mock.provider,
            call,
            mock,
            chance,
            now: mock.settings.time(mock.now, mock.settings_at),
            parameters: Vec::new(),
            body: Value::Null,
            query: Value::Null,
            events: Vec::new(),
            touched: Vec::new(),
            secrets: Vec::new(),
            decline: mock.settings.decline.clone(),
            loaded,
            wants: HashSet::new(),
            writes: BTreeMap::new(),
            states: BTreeMap::new(),
        }
    }

    /// What has to be read before the call can go on.
    pub(crate) fn wants(&mut self) -> Vec<Want> {
        std::mem::take(&mut self.wants).into_iter().collect()
    }

    pub(crate) fn writes(&mut self) -> Vec<Write> {
        std::mem::take(&mut self.writes).into_values().collect()
    }

    /// Forgets what was written and emitted, but for what counts calls.
    pub(crate) fn undo(&mut self) {
        self.events.clear();
        self.states.clear();
        let counts = |kind: &str, id: &str| kind == "~next" || (kind, id) == ("~number", "calls");
        self.writes.retain(|(kind, id), _| counts(kind, id));
    }

    /// Objects that were written since the last look, each with its state.
    pub(crate) fn moved(&mut self) -> Vec<(String, String, String)> {
        let states = std::mem::take(&mut self.states);
        states.into_iter().map(|((kind, id), state)| (kind, id, state)).collect()
    }

    fn want(&mut self, want: Want) -> Halt {
        self.wants.insert(want);
        Halt::Load
    }

    /// The document of a row; `None` where there is none.
    pub(crate) fn row(&mut self, kind: &str, id: &str) -> Result<Option<String>, Halt> {
        let key = (kind.to_owned(), id.to_owned());
        if let Some(write) = self.writes.get(&key) {
            return Ok(write.doc.clone());
        }
        match self.loaded.rows.get(&key) {
            Some(doc) => Ok(doc.clone()),
            None => Err(self.want(Want::Row { kind: key.0, id: key.1 })),
        }
    }

    /// Asks for many rows at once: a call may come back for more only a few times.
    pub(crate) fn need_rows(
        &mut self,
        kind: &str,
        ids: impl IntoIterator<Item = String>,
    ) -> Result<(), Halt> {
        let mut all = Ok(());
        for id in ids {
            if let Err(halt) = self.row(kind, &id) {
                all = Err(halt);
            }
        }
        all
    }

    pub(crate) fn write_row(&mut self, kind: &str, id: &str, doc: Option<String>) {
        self.write_row_for(kind, id, doc, WriteLife::Object);
    }

    pub(crate) fn write_row_for(
        &mut self,
        kind: &str,
        id: &str,
        doc: Option<String>,
        life: WriteLife,
    ) {
        let (kind, id) = (kind.to_owned(), id.to_owned());
        let write = Write { kind: kind.clone(), id: id.clone(), doc, life, is_secret: false };
        self.writes.insert((kind, id), write);
    }

    /// Marks a row that this call writes as one that holds a secret.
    pub(crate) fn keep_secret(&mut self, kind: &str, id: &str) {
        if let Some(write) = self.writes.get_mut(&(kind.to_owned(), id.to_owned())) {
            write.is_secret = true;
        }
    }

    pub(crate) fn allowance(&mut self, per_minute: u32) -> Result<Result<(), u64>, Halt> {
        match self.loaded.allowance {
            Some(allowance) => Ok(allowance),
            None => Err(self.want(Want::Allowance { per_minute })),
        }
    }

    /// The next number of a counter, from 1.
    pub(crate) fn number(&mut self, counter: &str) -> Result<u64, Halt> {
        let last = self.row("~number", counter)?.and_then(|doc| doc.parse().ok()).unwrap_or(0_u64);
        self.write_row("~number", counter, Some((last + 1).to_string()));
        Ok(last + 1)
    }

    pub(crate) fn touch(&mut self, id: &str) {
        if !self.touched.iter().any(|touched| touched == id) {
            self.touched.push(id.to_owned());
        }
    }

    /// A new id of a kind, in the form that the table has for it.
    pub(crate) fn id(&self, kind: &str) -> String {
        let form = self.provider.kind(kind);
        let (prefix, letters) = form.map_or(("", 24), |form| (form.prefix, form.letters));
        self.chance.id(prefix, letters, self.now)
    }

    /// A parameter of the path.
    pub(crate) fn path(&self, name: &str) -> String {
        let found = self.parameters.iter().find(|(parameter, _)| *parameter == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// A field of the body, or of the query; dots lead into it.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        let pointer = format!("/{}", name.replace('.', "/"));
        self.body.pointer(&pointer).or_else(|| self.query.pointer(&pointer))
    }

    /// A field as text, whatever it was sent as; an empty one is none.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match self.field(name)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Null | Value::Object(_) | Value::Array(_) => None,
            other => Some(other.to_string()),
        }
    }

    pub(crate) fn need(&self, name: &str) -> Result<String, Halt> {
        self.text(name).ok_or_else(|| CallFailure::missing(name).into())
    }

    /// A whole number.
    pub(crate) fn int(&self, name: &str) -> Result<Option<i64>, Halt> {
        let wrong = |text| CallFailure::invalid(name, format!("Invalid integer: {text}")).into();
        self.text(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text == "true")
    }

    /// An object of texts, as `metadata` is; empty where there is none.
    pub(crate) fn map(&self, name: &str) -> Value {
        let given = self.field(name).and_then(Value::as_object);
        Value::Object(given.cloned().unwrap_or_else(Map::new))
    }

    /// A field or null.
    pub(crate) fn or_null(&self, name: &str) -> Value {
        self.text(name).map_or(Value::Null, Value::String)
    }

    /// The decline that applies: the setting's, or the first whose trigger is among these values.
    pub(crate) fn declined(&self, values: &[&str]) -> Option<&'static Decline> {
        if let Some(code) = &self.decline {
            return self.provider.decline(code);
        }
        let triggers =
            |decline: &&Decline| values.iter().any(|value| decline.triggers.contains(value));
        self.provider.declines.iter().find(triggers)
    }

    /// An address below the mock's, by the way in which the call came.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.mock.base_url)
    }

    /// The address of the page on which a person decides about an object.
    pub(crate) fn page_url(&self, kind: &str, id: &str) -> String {
        let pages = self.mock.pages;
        format!("{}{}", pages.base_url, page_path(pages.key, kind, id))
    }

    /// Seconds since 1970 by the mock's clock.
    pub(crate) fn seconds(&self) -> i64 {
        self.now.millis().div_euclid(1000)
    }

    /// A new id with the time in it, as a UUID.
    pub(crate) fn uuid(&self) -> String {
        self.chance.uuid(self.now)
    }

    /// The fields of an object that are as the call has them, by name.
    pub(crate) fn given(&self, names: &[&str]) -> Value {
        let fields = names.iter().filter_map(|name| {
            let value = self.body.get(*name)?.clone();
            Some(((*name).to_owned(), if value == json!("") { Value::Null } else { value }))
        });
        Value::Object(fields.collect())
    }
}
