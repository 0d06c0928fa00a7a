//! Documents of an envelope: what they are, and a small one in place of each.

use serde_json::{Value, json};

use super::wire::of_path;
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
    pdf,
};

/// Documents that stand for all, and for the proof of who signed.
const WHOLE: [&str; 4] = ["combined", "certificate", "archive", "portfolio"];

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let envelope = of_path(context, "envelopes")?;
    let documents = envelope.hidden["documents"].as_array().cloned().unwrap_or_default();
    let with_uri = documents.into_iter().map(|mut document| {
        let id = document["documentId"].as_str().unwrap_or_default();
        let uri = format!("/envelopes/{}/documents/{id}", envelope.id);
        document["uri"] = json!(uri);
        document
    });
    let mut all: Vec<Value> = with_uri.collect();
    if envelope.state.as_deref() == Some("completed") {
        all.push(json!({
            "documentId": "certificate", "name": "Summary", "type": "summary", "order": "999",
            "uri": format!("/envelopes/{}/documents/certificate", envelope.id),
        }));
    }
    Ok(MockReply::ok(&json!({"envelopeId": envelope.id, "envelopeDocuments": all})))
}

pub(super) fn download(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let envelope = of_path(context, "envelopes")?;
    let id = context.path("document");
    let documents = envelope.hidden["documents"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = documents.into_iter().find(|document| document["documentId"] == id.as_str());
    let name = match found {
        Some(document) => text(&document["name"]),
        None if WHOLE.contains(&id.as_str()) => id.clone(),
        None => {
            return Err(CallFailure::NotFound { kind: "documents", id, field: "document" }.into());
        }
    };
    let subject = text(&envelope.object["emailSubject"]);
    Ok(pdf::reply(&[
        &subject,
        &name,
        &format!("Envelope {}", envelope.id),
        &text(&envelope.object["status"]),
    ]))
}
