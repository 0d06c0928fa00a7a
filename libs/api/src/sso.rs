//! The team's single sign-on, as its owner sets it up.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::{App, SsoSettings};
use trapline_model::SsoConnection;

use crate::{
    auth::roles::{Admin, TeamOwner},
    error::{ErrorBody, Result},
    extract::Body,
    reply::NoContent,
};

/// A team's identity provider, as its owner sets it.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SsoInput {
    /// The provider's issuer identifier: https, or http to this machine or a private network where the
    /// server may call these. It is asked at once what it is.
    #[schema(min_length = 1, max_length = 500, example = "https://example.okta.com")]
    issuer: String,
    /// What the provider calls this server.
    #[schema(min_length = 1, max_length = 500, example = "0oa1b2c3")]
    client_id: String,
    /// The client's secret; left out, the one that there is stays.
    #[schema(min_length = 1, max_length = 1000, nullable = false, example = "secret")]
    client_secret: Option<String>,
    /// The mail domains whose people sign in there.
    #[schema(min_items = 1, max_items = 20, example = json!(["example.com"]))]
    domains: Vec<DomainName>,
    /// Whether people reach the team in no other way, but for its owner. Before it is switched on,
    /// somebody must have signed in by these settings.
    #[serde(default)]
    enforced: bool,
}

/// A mail domain.
#[derive(Deserialize, utoipa::ToSchema)]
#[schema(min_length = 1, max_length = 253, example = "example.com")]
pub(crate) struct DomainName(String);

/// Get single sign-on
///
/// The team's identity provider. The client's secret is not shown.
#[utoipa::path(
    get,
    path = "/api/team/sso",
    operation_id = "getSso",
    tag = "Team",
    security(("session" = [])),
    responses(
        (status = 200, description = "The provider.", body = SsoConnection),
        (status = 404, description = "The team has none.", body = ErrorBody)
    )
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
) -> Result<Json<SsoConnection>> {
    Ok(Json(app.sso().get(&by).await?))
}

/// Set single sign-on
///
/// Lets people of the team sign in at its identity provider (`OpenID` Connect), once the server's operator
/// has verified a domain. For the owner.
#[utoipa::path(
    put,
    path = "/api/team/sso",
    operation_id = "setSso",
    tag = "Team",
    security(("session" = [])),
    request_body = SsoInput,
    responses((status = 200, description = "The provider.", body = SsoConnection))
)]
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    TeamOwner(by): TeamOwner,
    Body(input): Body<SsoInput>,
) -> Result<Json<SsoConnection>> {
    let SsoInput { issuer, client_id, client_secret, domains, enforced } = input;
    let domains = domains.into_iter().map(|DomainName(name)| name).collect();
    let settings = SsoSettings { issuer, client_id, client_secret, domains, enforced };
    Ok(Json(app.sso().put(&by, settings).await?))
}

/// Remove single sign-on
///
/// Sessions that began by it go on. For the owner.
#[utoipa::path(
    delete,
    path = "/api/team/sso",
    operation_id = "deleteSso",
    tag = "Team",
    security(("session" = [])),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "The team has none.", body = ErrorBody)
    )
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    TeamOwner(by): TeamOwner,
) -> Result<NoContent> {
    app.sso().delete(&by).await?;
    Ok(NoContent)
}
