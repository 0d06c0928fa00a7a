//! What an app is told of.

use serde_json::Value;

use super::CallContext;
use crate::MockEvent;

impl CallContext<'_> {
    /// Tells the app of something.
    pub(crate) fn emit_json(&mut self, name: &'static str, object_id: &str, body: &Value) {
        self.emit_json_to(name, object_id, None, body.to_string());
    }

    /// The same with a body that is written already, to the mock's address or to one of an object's own.
    pub(crate) fn emit_json_to(
        &mut self,
        name: &'static str,
        object_id: &str,
        url: Option<String>,
        body: String,
    ) {
        let (object_id, content_type) = (Some(object_id.to_owned()), "application/json");
        let endpoint = None;
        self.events.push(MockEvent { name, object_id, url, endpoint, content_type, body });
    }

    /// The same to one address alone: the one that the app registered, with its own secret, or another.
    pub(crate) fn emit_json_of(
        &mut self,
        name: &'static str,
        object_id: &str,
        url: &str,
        endpoint: Option<String>,
        body: &Value,
    ) {
        self.emit_json_to(name, object_id, Some(url.to_owned()), body.to_string());
        if let Some(event) = self.events.last_mut() {
            event.endpoint = endpoint;
        }
    }

    /// The same as a form, to the mock's address or to one of the call's own.
    pub(crate) fn emit_form(
        &mut self,
        name: &'static str,
        object_id: &str,
        url: Option<String>,
        fields: &[(&str, &str)],
    ) {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        self.events.push(MockEvent {
            name,
            object_id: Some(object_id.to_owned()),
            url,
            endpoint: None,
            content_type: "application/x-www-form-urlencoded",
            body: form.finish(),
        });
    }
}
