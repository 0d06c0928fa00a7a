//! Documents and live photos: what they are is kept, and not the files.

use serde_json::{Value, json};

use super::{
    applicants,
    wire::{BASE, dense, of_owner, page},
};
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
    pdf,
};

const MAX_FILE: u64 = 10 << 20;
const TYPES: [(&str, &str); 3] =
    [("image/jpeg", "jpg"), ("image/png", "png"), ("application/pdf", "pdf")];

/// Keeps what is uploaded, with these fields of the call beside it.
fn kept(
    context: &mut CallContext<'_>,
    kind: &'static str,
    fields: &[&str],
) -> Result<MockReply, Halt> {
    let applicant = applicants::of_call(context)?;
    let file = context.field("file").filter(|file| file.is_object()).cloned();
    let file = file.ok_or_else(|| CallFailure::missing("file"))?;
    let size = file["size"].as_u64().unwrap_or(0);
    if size == 0 || size > MAX_FILE {
        let message = format!("must have from 1 to {MAX_FILE} bytes");
        return Err(CallFailure::invalid("file", message).into());
    }
    let name = file["name"].as_str().unwrap_or_default();
    let ending = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    let ending = if ending == "jpeg" { "jpg".to_owned() } else { ending };
    let of_type = TYPES.iter().find(|(kind, end)| file["type"] == *kind || ending == *end);
    let (_, of_type) =
        of_type.ok_or_else(|| CallFailure::invalid("file", "must be a jpg, a png or a pdf"))?;
    let id = context.uuid();
    let href = format!("{BASE}/{kind}/{id}");
    let mut object = context.given(fields);
    for (field, value) in [
        ("id", json!(id)),
        ("created_at", json!(context.now.to_string())),
        ("href", json!(href)),
        ("download_href", json!(format!("{href}/download"))),
        ("file_name", json!(name)),
        ("file_type", json!(of_type)),
        ("file_size", json!(size)),
    ] {
        object[field] = value;
    }
    let mut stored = context.create(kind, &id, dense(object));
    stored.hidden = json!({"applicant_id": applicant.id, "sha256": file["sha256"]});
    let stored = context.put(stored);
    Ok(MockReply::json(201, &stored.object))
}

pub(super) fn create_document(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    context.need("type")?;
    kept(context, "documents", &["applicant_id", "type", "side", "issuing_country"])
}

pub(super) fn create_photo(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    kept(context, "live_photos", &[])
}

fn listed(context: &mut CallContext<'_>, kind: &'static str) -> Result<MockReply, Halt> {
    let objects = of_owner(context, kind, "applicant_id", "applicants")?;
    page(context, kind, objects)
}

pub(super) fn list_documents(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    listed(context, "documents")
}

pub(super) fn list_photos(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    listed(context, "live_photos")
}

pub(super) fn get_document(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let found = context.of_path("documents")?;
    Ok(MockReply::ok(&found.object))
}

pub(super) fn get_photo(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let found = context.of_path("live_photos")?;
    Ok(MockReply::ok(&found.object))
}

fn downloaded(context: &mut CallContext<'_>, kind: &'static str) -> Result<MockReply, Halt> {
    let found = context.of_path(kind)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let hash = format!("SHA-256 {}", text(&found.hidden["sha256"]));
    Ok(pdf::reply(&[&text(&found.object["file_name"]), &hash]))
}

pub(super) fn download_document(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    downloaded(context, "documents")
}

pub(super) fn download_photo(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    downloaded(context, "live_photos")
}
