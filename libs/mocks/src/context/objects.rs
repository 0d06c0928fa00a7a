//! Objects that a call reads and changes.

use serde_json::Value;
use trapline_model::Time;

use super::CallContext;
use crate::{
    MAX_LISTED, StoredObject, Want, WriteLife,
    failure::{CallFailure, Halt},
};

impl CallContext<'_> {
    /// An object, unless there is none.
    pub(crate) fn find(&mut self, kind: &str, id: &str) -> Result<Option<StoredObject>, Halt> {
        let doc = self.row(kind, id)?;
        let found: Option<StoredObject> = doc.and_then(|doc| serde_json::from_str(&doc).ok());
        if found.is_some() {
            self.touch(id);
        }
        Ok(found)
    }

    /// An object; the provider's error names `field` where there is none.
    pub(crate) fn get(
        &mut self,
        kind: &'static str,
        id: &str,
        field: &'static str,
    ) -> Result<StoredObject, Halt> {
        let missing = || CallFailure::NotFound { kind, id: id.to_owned(), field };
        self.find(kind, id)?.ok_or_else(|| missing().into())
    }

    /// The object that a parameter of the path names.
    pub(crate) fn of_path(&mut self, kind: &'static str) -> Result<StoredObject, Halt> {
        let id = self.path("id");
        self.get(kind, &id, "id")
    }

    /// The newest objects of a kind, newest first, at most 1,000. What this call wrote is not in it.
    pub(crate) fn list(&mut self, kind: &str) -> Result<Vec<StoredObject>, Halt> {
        self.newest(kind, MAX_LISTED)
    }

    /// The same, so many at most: for a list of which no more is shown.
    pub(crate) fn newest(&mut self, kind: &str, most: usize) -> Result<Vec<StoredObject>, Halt> {
        let key = (kind.to_owned(), most.min(MAX_LISTED));
        match self.loaded.kinds.get(&key) {
            Some(objects) => Ok(objects.clone()),
            None => Err(self.want(Want::Kind { kind: key.0, most: key.1 })),
        }
    }

    /// Writes an object that has been read or is new. What `hidden` has as `secret` is stored sealed.
    pub(crate) fn put(&mut self, mut object: StoredObject) -> StoredObject {
        object.updated_at = self.now;
        self.touch(&object.id);
        let doc = serde_json::to_string(&object).unwrap_or_default();
        self.write_row(&object.kind, &object.id, Some(doc));
        if let Some(state) = object.state.clone() {
            self.states.insert((object.kind.clone(), object.id.clone()), state);
        }
        if let Some(secret) = object.hidden["secret"].as_str() {
            self.secrets.push(secret.to_owned());
            self.keep_secret(&object.kind, &object.id);
        }
        object
    }

    /// Makes an object.
    pub(crate) fn create(&mut self, kind: &str, id: &str, object: Value) -> StoredObject {
        let state = object.get("status").and_then(Value::as_str).map(str::to_owned);
        let (kind, id, now) = (kind.to_owned(), id.to_owned(), self.now);
        let (created_at, updated_at, hidden) = (now, now, Value::Null);
        self.put(StoredObject { kind, id, state, created_at, updated_at, object, hidden })
    }

    /// Writes an object with some of its own fields changed; its state follows its `status`.
    pub(crate) fn change(&mut self, mut stored: StoredObject, fields: Value) -> StoredObject {
        if let (Some(object), Value::Object(fields)) = (stored.object.as_object_mut(), fields) {
            object.extend(fields);
        }
        if stored.state.is_some() {
            let status = stored.object.get("status").and_then(Value::as_str);
            stored.state = status.map(str::to_owned);
        }
        self.put(stored)
    }

    /// Writes an object that has been read or is new, and need not be written with the rest of the call.
    pub(crate) fn put_apart(&mut self, object: StoredObject) -> StoredObject {
        let object = self.put(object);
        if let Some(write) = self.writes.get_mut(&(object.kind.clone(), object.id.clone())) {
            write.life = WriteLife::Apart;
        }
        object
    }

    /// Writes an object of a kind that is a log; one of the same id and time is the same.
    pub(crate) fn log(&mut self, kind: &'static str, id: &str, at: Time, object: Value) {
        let stored = StoredObject {
            kind: kind.to_owned(),
            id: id.to_owned(),
            state: None,
            created_at: self.now,
            updated_at: self.now,
            object,
            hidden: Value::Null,
        };
        self.touch(id);
        let doc = serde_json::to_string(&stored).unwrap_or_default();
        self.write_row_for(kind, id, Some(doc), WriteLife::Log { at });
    }

    pub(crate) fn remove(&mut self, object: &StoredObject) {
        self.states.remove(&(object.kind.clone(), object.id.clone()));
        self.write_row(&object.kind, &object.id, None);
    }
}
