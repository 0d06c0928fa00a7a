//! The audit log.

use std::sync::Arc;

use axum::{Json, extract::State};
use trapline_app::App;
use trapline_model::AuditEntry;

use crate::{auth::roles::Admin, error::Result};

/// List the audit log
///
/// The latest 200 changes of what is the team's, newest first, and who looked at webhooks' secrets. Entries
/// are kept for 400 days.
#[utoipa::path(
    get,
    path = "/api/audit",
    operation_id = "listAudit",
    tag = "Team",
    security(("session" = [])),
    responses((status = 200, description = "The entries.", body = Vec<AuditEntry>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
) -> Result<Json<Vec<AuditEntry>>> {
    Ok(Json(app.audit().latest(&by).await?))
}
