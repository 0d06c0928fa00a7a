//! Envelopes: made, sent, made void, put away.

use serde_json::{Value, json};

use super::{
    build::{self, SIGNERS},
    signing,
    wire::{check_account, of_path, own, refused, sender, tell, texts},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const KIND: &str = "envelopes";
/// Entries of the history of one envelope.
const MAX_HISTORY: usize = 50;
const MAX_TEXT: usize = 1_000;

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    let template = match context.text("templateId") {
        Some(id) => Some(context.get("templates", &id, "templateId")?),
        None => None,
    };
    let (recipients, documents) = parts(context, template.as_ref())?;
    let subject = context.text("emailSubject").or_else(|| {
        let subject = template.as_ref()?.object["emailSubject"].as_str();
        subject.filter(|subject| !subject.is_empty()).map(str::to_owned)
    });
    let status = context.text("status").unwrap_or_else(|| "created".to_owned());
    if !["created", "sent"].contains(&status.as_str()) {
        return Err(CallFailure::invalid("status", "must be created or sent").into());
    }
    let is_complete = !documents.is_empty() && subject.is_some() && has_signers(&recipients);
    if status == "sent" && !is_complete {
        return Err(incomplete());
    }
    let envelope = new(context, subject.as_deref(), &recipients, &documents);
    tell(context, "envelope-created", &envelope, None);
    let envelope = if status == "sent" { signing::send(context, envelope) } else { envelope };
    let object = &envelope.object;
    let summary = json!({
        "envelopeId": envelope.id, "uri": format!("/envelopes/{}", envelope.id),
        "statusDateTime": object["statusChangedDateTime"], "status": status,
    });
    Ok(MockReply::json(201, &summary))
}

fn incomplete() -> Halt {
    let message = "The Envelope is not Complete. A Complete Envelope Requires Documents, Recipients, Tabs, and a Subject Line.";
    let (field, code) = (String::new(), "ENVELOPE_IS_INCOMPLETE");
    CallFailure::Invalid { field, code, message: message.to_owned() }.into()
}

fn has_signers(recipients: &Value) -> bool {
    recipients[SIGNERS].as_array().is_some_and(|signers| !signers.is_empty())
}

/// Recipients and documents, of the call and of its template.
fn parts(
    context: &CallContext<'_>,
    template: Option<&StoredObject>,
) -> Result<(Value, Vec<Value>), Halt> {
    let given = |name: &str| context.body.get(name).cloned().unwrap_or(Value::Null);
    let (mut recipients, mut documents) =
        (given("recipients"), build::documents(context, &given("documents"))?);
    if let Some(template) = template {
        recipients =
            build::with_roles(template.hidden["recipients"].clone(), &given("templateRoles"));
        let of_template = template.hidden["documents"].as_array().cloned().unwrap_or_default();
        documents = of_template.into_iter().chain(documents).collect();
    }
    Ok((build::recipients(context, &recipients)?, documents))
}

fn new(
    context: &mut CallContext<'_>,
    subject: Option<&str>,
    recipients: &Value,
    documents: &[Value],
) -> StoredObject {
    let (id, now) = (context.uuid(), context.now.to_string());
    let cut = |text: Option<String>| text.map(|it| it.chars().take(MAX_TEXT).collect::<String>());
    let path = format!("/envelopes/{id}");
    let mut object = json!({
        "envelopeId": id, "envelopeUri": path, "status": "created", "emailSubject": subject,
        "emailBlurb": cut(context.text("emailBlurb")).unwrap_or_default(),
        "documentsUri": format!("{path}/documents"), "recipientsUri": format!("{path}/recipients"),
        "attachmentsUri": format!("{path}/attachments"), "templatesUri": format!("{path}/templates"),
        "documentsCombinedUri": format!("{path}/documents/combined"),
        "certificateUri": format!("{path}/documents/certificate"),
        "customFieldsUri": format!("{path}/custom_fields"),
        "notificationUri": format!("{path}/notification"),
        "createdDateTime": now, "lastModifiedDateTime": now, "statusChangedDateTime": now,
        "signingLocation": "online", "envelopeLocation": "current_site", "enableWetSign": "true",
        "allowMarkup": "false", "allowReassign": "true", "isDynamicEnvelope": "false",
        "purgeState": "unpurged", "is21CFRPart11": "false", "autoNavigation": "true",
        "sender": sender(context),
    });
    if let Some(fields) = context.body.get("customFields").filter(|fields| fields.is_object()) {
        object["customFields"] = texts(fields.clone());
    }
    let notification = context.body.get("eventNotification").map(build::notification);
    let mut envelope = context.create(KIND, &id, object);
    envelope.hidden = json!({
        "recipients": recipients, "documents": documents, "notification": notification,
        "history": [],
    });
    note(context, envelope, "Registered")
}

/// Adds an entry to the history of an envelope.
pub(super) fn note(
    context: &mut CallContext<'_>,
    mut envelope: StoredObject,
    action: &str,
) -> StoredObject {
    let entry = json!([context.now.to_string(), action, envelope.object["status"]]);
    if let Some(history) = envelope.hidden["history"].as_array_mut()
        && history.len() < MAX_HISTORY
    {
        history.push(entry);
    }
    context.put(envelope)
}

/// An envelope with another status, and the time of it.
pub(super) fn with_status(
    context: &mut CallContext<'_>,
    envelope: StoredObject,
    status: &str,
) -> StoredObject {
    let now = context.now.to_string();
    let mut fields = json!({
        "status": status, "statusChangedDateTime": now, "lastModifiedDateTime": now,
    });
    fields[format!("{status}DateTime")] = json!(now);
    context.change(envelope, fields)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let envelope = of_path(context, KIND)?;
    let mut object = envelope.object;
    let include = context.text("include").unwrap_or_default();
    for part in include.split(',') {
        match part.trim() {
            "recipients" => object["recipients"] = envelope.hidden["recipients"].clone(),
            "documents" => object["envelopeDocuments"] = envelope.hidden["documents"].clone(),
            _ => {}
        }
    }
    Ok(MockReply::ok(&object))
}

pub(super) fn recipients(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let envelope = of_path(context, KIND)?;
    let mut recipients = envelope.hidden["recipients"].clone();
    if !context.flag("include_tabs") {
        for signer in recipients[SIGNERS].as_array_mut().into_iter().flatten() {
            if let Some(fields) = signer.as_object_mut() {
                fields.remove("tabs");
            }
        }
    }
    recipients["currentRoutingOrder"] = json!(signing::current_order(&envelope).to_string());
    Ok(MockReply::ok(&recipients))
}

/// Sends a draft, sends once more, or makes void.
pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut envelope = of_path(context, KIND)?;
    let state = envelope.state.clone().unwrap_or_default();
    if context.flag("resend_envelope") {
        if !["sent", "delivered"].contains(&state.as_str()) {
            return Err(refused("ENVELOPE_INVALID_STATUS"));
        }
        tell(context, "envelope-resent", &envelope, None);
    }
    let subject = context.given(&["emailSubject", "emailBlurb"]);
    if subject.as_object().is_some_and(|fields| !fields.is_empty()) {
        if state != "created" {
            return Err(refused("ENVELOPE_INVALID_STATUS"));
        }
        envelope = context.change(envelope, subject);
    }
    match context.text("status").as_deref() {
        Some("sent") if state == "created" => {
            let has_all = envelope.hidden["documents"].as_array().is_some_and(|it| !it.is_empty())
                && has_signers(&envelope.hidden["recipients"])
                && envelope.object["emailSubject"].is_string();
            if !has_all {
                return Err(incomplete());
            }
            signing::send(context, envelope);
        }
        Some("voided") => {
            let reason = context.need("voidedReason")?;
            if !["sent", "delivered"].contains(&state.as_str()) {
                return Err(refused("ENVELOPE_CANNOT_VOID_INVALID_STATE"));
            }
            signing::void(context, envelope, &reason);
        }
        None => {}
        Some(_) => return Err(refused("ENVELOPE_INVALID_STATUS")),
    }
    let id = context.path("id");
    Ok(MockReply::ok(&json!({"envelopeId": id})))
}

/// Puts envelopes into the recycle bin, which is what deleting is.
pub(super) fn put_into_folder(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    if context.path("folder") != "recyclebin" {
        return Err(refused("FOLDER_DOES_NOT_EXIST"));
    }
    let ids = context.field("envelopeIds").and_then(Value::as_array).cloned().unwrap_or_default();
    for id in ids.iter().take(100).filter_map(Value::as_str) {
        let envelope = context.get(KIND, id, "envelopeIds")?;
        let now = context.now.to_string();
        let envelope = context.change(envelope, json!({"deletedDateTime": now}));
        let envelope = note(context, envelope, "Deleted");
        tell(context, "envelope-deleted", &envelope, None);
    }
    let folder = json!({"name": "Deleted Items", "type": "recyclebin", "folderId": "recyclebin",
        "ownerUserId": own(context, "userId")});
    Ok(MockReply::ok(&json!({"folders": [folder]})))
}
