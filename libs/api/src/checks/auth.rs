//! SPF, DKIM and DMARC, and the DNS that they are asked of.

use std::{net::IpAddr, sync::Arc};

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::{App, AuthQuery};
use trapline_model::{AuthReport, DnsZone, InboxId, MessageId};

use crate::{
    auth::{Reader, Writer},
    error::{Error, Result},
    extract::{Body, Params, PathParams},
    reply::NoContent,
};

/// How the sender's server is taken to be.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct AuthInput {
    /// The address that mail comes from in production, which SPF is about; that of the zone when left out.
    #[param(min_length = 1, max_length = 45, example = "192.0.2.1")]
    client_ip: Option<String>,
    /// The name by which that server greets; that of the zone when left out.
    #[param(min_length = 1, max_length = 253, example = "mail.example.com")]
    helo: Option<String>,
    /// Whether name servers may be asked where the inbox has no zone.
    #[serde(default)]
    #[param(default = false)]
    dns: bool,
}

/// Check SPF, DKIM and DMARC
///
/// Whether the message would pass when it is sent for real: by the DNS zone of its inbox; else by name servers with
/// `dns=true`; else only by what needs no DNS, and all else is null with the reason. SPF is about the address
/// that production sends from, not about the client of this server.
#[utoipa::path(
    get,
    path = "/api/messages/{id}/auth",
    operation_id = "getAuthReport",
    tag = "Checks",
    params(("id" = MessageId, Path, description = "The message."), AuthInput),
    responses(
        (status = 200, description = "The verdicts and what they do not say.", body = AuthReport),
        (
            status = 409,
            description = "The server asks nobody about messages (`checks_disabled`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn report(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
    Params(input): Params<AuthInput>,
) -> Result<Json<AuthReport>> {
    let address = |ip: String| {
        ip.parse::<IpAddr>()
            .map_err(|_| Error::invalid("clientIp", "bad_address", "must be an IP address"))
    };
    let client_ip = input.client_ip.map(address).transpose()?;
    let query = AuthQuery { client_ip, helo: input.helo, dns: input.dns };
    Ok(Json(app.checks().auth(&by, id, query).await?))
}

/// Get an inbox's DNS zone
///
/// The DNS by which SPF, DKIM and DMARC of the inbox's messages are checked; no records where none was set.
#[utoipa::path(
    get,
    path = "/api/inboxes/{id}/dns-zone",
    operation_id = "getDnsZone",
    tag = "Checks",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 200, description = "The zone.", body = DnsZone))
)]
pub(crate) async fn zone(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<InboxId>,
) -> Result<Json<DnsZone>> {
    Ok(Json(app.checks().zone(&by, id).await?))
}

/// Set an inbox's DNS zone
///
/// Replaces the zone: the sender's DNS as it will be, so that SPF, DKIM and DMARC are checked before anything is
/// published. With a zone, even an empty one, no name server is asked. It has 64 KiB at most.
#[utoipa::path(
    put,
    path = "/api/inboxes/{id}/dns-zone",
    operation_id = "setDnsZone",
    tag = "Checks",
    params(("id" = InboxId, Path, description = "The inbox.")),
    request_body = DnsZone,
    responses((status = 200, description = "The zone now.", body = DnsZone))
)]
pub(crate) async fn set_zone(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
    Body(input): Body<DnsZone>,
) -> Result<Json<DnsZone>> {
    Ok(Json(app.checks().set_zone(&by, id, input).await?))
}

/// Remove an inbox's DNS zone
///
/// Name servers are asked again where a check wants DNS. Nothing happens where there is no zone.
#[utoipa::path(
    delete,
    path = "/api/inboxes/{id}/dns-zone",
    operation_id = "deleteDnsZone",
    tag = "Checks",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 204, description = "It has none now."))
)]
pub(crate) async fn remove_zone(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
) -> Result<NoContent> {
    app.checks().remove_zone(&by, id).await?;
    Ok(NoContent)
}
