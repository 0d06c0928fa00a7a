//! Faults of mock identity providers.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trapline_app::{App, FaultProtocol, FaultScenario, NewIdpFault};
use trapline_model::{IdpFault, IdpFaultId, IdpId, IdpUserId};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Body, PathParams, given},
    reply::{Created, NoContent},
};

/// A fault that a provider knows.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IdpFaultScenario)]
pub(crate) struct ListedScenario {
    /// Its name.
    #[schema(example = "wrong_audience")]
    scenario: &'static str,
    /// The protocols in which it exists.
    protocols: Vec<Protocol>,
    /// What is wrong.
    summary: &'static str,
    /// Why a client must refuse it.
    rule: &'static str,
    /// The bounds of its value; null for a fault without one.
    #[schema(required)]
    value: Option<ValueBounds>,
}

/// A protocol of a provider.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = IdpFaultProtocol)]
pub(crate) enum Protocol {
    /// `OpenID` Connect.
    Oidc,
    /// SAML 2.0.
    Saml,
}

impl From<FaultProtocol> for Protocol {
    fn from(protocol: FaultProtocol) -> Self {
        match protocol {
            FaultProtocol::Oidc => Self::Oidc,
            FaultProtocol::Saml => Self::Saml,
        }
    }
}

impl From<Protocol> for FaultProtocol {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Oidc => Self::Oidc,
            Protocol::Saml => Self::Saml,
        }
    }
}

/// The bounds of a fault's value.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = IdpFaultValue)]
pub(crate) struct ValueBounds {
    /// The least.
    min: i64,
    /// The greatest.
    max: i64,
}

/// A fault to be used.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = IdpFaultInput)]
pub(crate) struct NewIdpFaultInput {
    /// The scenario, one that `GET /api/idp-faults` lists.
    #[schema(max_length = 64, example = "wrong_audience")]
    scenario: String,
    /// The scenario's value, where it has one.
    #[schema(nullable = false, minimum = -86_400, maximum = 86_400)]
    value: Option<i64>,
    /// How often it is used, once when left out; null is until it is removed.
    #[expect(clippy::option_option, reason = "null is not the same as left out")]
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    times: Option<Option<u32>>,
    /// The only user it is for; anybody when left out.
    #[schema(nullable = false)]
    user_id: Option<IdpUserId>,
    /// The only protocol it is for; each in which the scenario exists when left out.
    #[schema(nullable = false)]
    protocol: Option<Protocol>,
}

impl From<NewIdpFaultInput> for NewIdpFault {
    fn from(input: NewIdpFaultInput) -> Self {
        let times = input.times.unwrap_or(Some(1));
        let protocol = input.protocol.map(FaultProtocol::from);
        Self { scenario: input.scenario, value: input.value, times, user: input.user_id, protocol }
    }
}

/// List fault scenarios
///
/// Everything that a provider can be asked to do wrong, and by which rule a client must refuse it.
#[utoipa::path(
    get,
    path = "/api/idp-faults",
    operation_id = "listIdpFaultScenarios",
    tag = "Identity providers",
    responses((status = 200, description = "The scenarios.", body = Vec<ListedScenario>))
)]
pub(crate) async fn catalog(_by: Reader) -> Json<Vec<ListedScenario>> {
    let listed = FaultScenario::ALL.iter().map(|scenario| ListedScenario {
        scenario: scenario.name(),
        protocols: scenario.protocols().iter().copied().map(Protocol::from).collect(),
        summary: scenario.summary(),
        rule: scenario.rule(),
        value: scenario.bounds().map(|(min, max)| ValueBounds { min, max }),
    });
    Json(listed.collect())
}

/// List faults
///
/// The provider's faults that wait to be used, oldest first.
#[utoipa::path(
    get,
    path = "/api/idps/{id}/faults",
    operation_id = "listIdpFaults",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    responses((status = 200, description = "The faults.", body = Vec<IdpFault>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<IdpId>,
) -> Result<Json<Vec<IdpFault>>> {
    Ok(Json(app.idps().faults(&by, id).await?))
}

/// Ask for a fault
///
/// It is used exactly `times` times over all processes, and forgotten after 24 hours.
#[utoipa::path(
    post,
    path = "/api/idps/{id}/faults",
    operation_id = "createIdpFault",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    request_body = NewIdpFaultInput,
    responses((status = 201, description = "The fault.", body = IdpFault))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<IdpId>,
    Body(input): Body<NewIdpFaultInput>,
) -> Result<Created<IdpFault>> {
    Ok(Created(app.idps().add_fault(&by, id, input.into()).await?))
}

/// Take all faults back
///
/// Those that wait and those that stay.
#[utoipa::path(
    delete,
    path = "/api/idps/{id}/faults",
    operation_id = "clearIdpFaults",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    responses((status = 204, description = "No fault waits."))
)]
pub(crate) async fn clear(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<IdpId>,
) -> Result<NoContent> {
    app.idps().remove_faults(&by, id, None).await?;
    Ok(NoContent)
}

/// Take a fault back
///
/// What it was used for already stays as it is.
#[utoipa::path(
    delete,
    path = "/api/idps/{id}/faults/{faultId}",
    operation_id = "deleteIdpFault",
    tag = "Identity providers",
    params(
        ("id" = IdpId, Path, description = "The identity provider."),
        ("faultId" = IdpFaultId, Path, description = "The fault.")
    ),
    responses((status = 204, description = "The fault waits no more."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams((id, fault)): PathParams<(IdpId, IdpFaultId)>,
) -> Result<NoContent> {
    app.idps().remove_faults(&by, id, Some(fault)).await?;
    Ok(NoContent)
}
