//! The service itself: health, metrics, its document and its certificate.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{Extensions, HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use trapline_app::{App, Error as AppError};
use utoipa::openapi::{OpenApi, Server};

use crate::{
    Options,
    answer_cache::AnswerCache,
    auth::{self, bearer},
    disposition,
    error::{Error, Result},
    extract::{Flag, Params},
    prefix,
    reply::Checked,
};

/// How much to check.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HealthInput {
    /// Also check the SMTP server, the worker and its jobs.
    #[serde(default)]
    #[param(inline, value_type = Option<Flag>)]
    deep: Flag,
}

/// Whether the service works.
#[derive(Debug, Default, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Health, example = json!({ "ok": true }))]
pub(crate) struct HealthReport {
    /// Whether all that was checked is as it should be.
    pub ok: bool,
    /// Why not, where that is known: `storage_full` while mail is refused because the disk is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<&'static str>,
    /// What a deep check found, where not all is well: `smtp_missing` and `worker_missing` when no process
    /// of that role showed itself for 45 seconds, `worker_stuck` when a job loop does not go on,
    /// `jobs_overdue`, and `unavailable` when nobody can tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, example = json!(["worker_stuck"]))]
    pub reasons: Vec<&'static str>,
    /// Whether an SMTP server showed itself lately; in a deep check.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub smtp: Option<bool>,
    /// Whether a worker showed itself lately, and its job loops go on; in a deep check.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub worker: Option<bool>,
    /// Jobs that are late; in a deep check.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub overdue_jobs: Option<u64>,
    /// Milliseconds by which the clock of this process's machine is ahead of the clock of the store's
    /// servers, or behind where it is negative; in a deep check of a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub clock_skew_ms: Option<i64>,
}

/// Check the service's health
///
/// Whether the store answers; with `deep`, the SMTP server, the worker and its jobs too.
#[utoipa::path(
    get,
    path = "/api/health",
    operation_id = "getHealth",
    tag = "Service",
    params(HealthInput),
    security(()),
    responses(
        (status = 200, description = "All is well.", body = HealthReport),
        (status = 503, description = "Something is not.", body = HealthReport)
    )
)]
pub(crate) async fn health(
    State(app): State<Arc<App>>,
    State(cache): State<Arc<AnswerCache>>,
    Params(input): Params<HealthInput>,
) -> Checked<HealthReport> {
    let mut report = HealthReport { ok: app.maintenance().ping().await, ..HealthReport::default() };
    if input.deep.on() {
        report = if report.ok { cache.deep.get(&app, deep).await } else { unavailable() };
    }
    if let Err(AppError::StorageFull) = app.maintenance().room_for_more().await {
        (report.ok, report.reason) = (false, Some("storage_full"));
    }
    Checked { is_well: report.ok, report }
}

async fn deep(app: &App) -> HealthReport {
    match app.maintenance().deep_health().await {
        Ok(found) => HealthReport {
            ok: found.ok,
            reason: None,
            reasons: found.reasons,
            smtp: Some(found.smtp),
            worker: Some(found.worker),
            overdue_jobs: Some(found.overdue_jobs),
            clock_skew_ms: found.clock_skew_ms,
        },
        Err(error) => {
            tracing::warn!(%error, "the deep health check has no answer");
            unavailable()
        }
    }
}

fn unavailable() -> HealthReport {
    HealthReport { reasons: vec!["unavailable"], ..HealthReport::default() }
}

/// Whether mail of the service itself gets out.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = MailHealth, example = json!({ "ok": true, "reasons": [] }))]
pub(crate) struct MailHealthReport {
    /// Whether it does.
    pub ok: bool,
    /// Why not: `exhausted:<mails>`, `oldest_overdue_s:<seconds>`, `consecutive_failures:<sends>`, or
    /// `unavailable` when nobody can tell.
    #[schema(example = json!(["oldest_overdue_s:731"]))]
    pub reasons: Vec<String>,
}

/// Check outbound mail
///
/// Whether the mail that the service itself sends gets out. Without a relay there is none, and all is
/// well.
#[utoipa::path(
    get,
    path = "/api/health/mail",
    operation_id = "getMailHealth",
    tag = "Service",
    security(()),
    responses(
        (status = 200, description = "Mail gets out.", body = MailHealthReport),
        (status = 503, description = "It does not.", body = MailHealthReport)
    )
)]
pub(crate) async fn mail_health(
    State(app): State<Arc<App>>,
    State(cache): State<Arc<AnswerCache>>,
) -> Checked<MailHealthReport> {
    let reasons = cache.mail.get(&app, mail_trouble).await;
    let report = MailHealthReport { ok: reasons.is_empty(), reasons };
    Checked { is_well: report.ok, report }
}

async fn mail_trouble(app: &App) -> Vec<String> {
    app.outbound_mail().health().await.map_or_else(
        |error| {
            tracing::warn!(%error, "the check of outbound mail has no answer");
            vec!["unavailable".to_owned()]
        },
        |health| health.reasons,
    )
}

/// Read the metrics
///
/// In the Prometheus text format, for whoever has the operator's token.
#[utoipa::path(
    get,
    path = "/api/metrics",
    operation_id = "getMetrics",
    tag = "Service",
    security(("metricsToken" = [])),
    responses(
        (status = 200, description = "The metrics.", body = String, content_type = "text/plain"),
        (
            status = 401,
            description = "The token is missing or wrong, or none is configured.",
            body = crate::error::ErrorBody
        ),
        (
            status = 429,
            description = "Too many wrong tokens came from this address.",
            body = crate::error::ErrorBody,
            headers(("Retry-After" = u32, description = "Seconds."))
        )
    )
)]
pub(crate) async fn metrics(
    State(app): State<Arc<App>>,
    State(options): State<Arc<Options>>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Result<Response> {
    let address = auth::address(&extensions);
    app.access().check_auth_attempts(address)?;
    let token = options.metrics_token.as_deref().filter(|token| !token.is_empty());
    let sent = bearer(&headers).unwrap_or_default();
    if !token.is_some_and(|token| token.as_bytes().ct_eq(sent.as_bytes()).into()) {
        if !sent.is_empty() {
            app.access().record_auth_failure(address, "metrics_token");
        }
        return Err(Error::MetricsToken);
    }
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], (options.metrics)()).into_response())
}

/// Read this document
///
/// Its server is the base URL that the operator set.
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    operation_id = "getOpenApi",
    tag = "Service",
    security(()),
    responses((status = 200, description = "OpenAPI 3.1.", body = inline(crate::openapi::AnyObject)))
)]
pub(crate) async fn document(State(documents): State<Arc<Documents>>) -> Response {
    json(documents.api.clone())
}

/// The document as JSON.
pub(crate) struct Documents {
    /// For clients: its server is the base URL.
    pub api: Bytes,
    /// For our own page: its server is the one that the page came from.
    pub page: Bytes,
}

impl Documents {
    pub(crate) fn new(document: OpenApi, base_url: &str) -> Self {
        let mut document = document;
        let mut at = |url: &str| {
            document.servers = Some(vec![Server::new(url)]);
            serde_json::to_vec(&document).unwrap_or_default().into()
        };
        let prefix = prefix::of(base_url);
        Self { api: at(base_url), page: at(if prefix.is_empty() { "/" } else { prefix }) }
    }
}

pub(crate) fn json(bytes: Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response()
}

/// Download the SMTP server's certificate authority
///
/// There is one when the server made its own certificate.
#[utoipa::path(
    get,
    path = "/api/smtp/ca.pem",
    operation_id = "getSmtpCa",
    tag = "Service",
    security(()),
    responses(
        (
            status = 200,
            description = "The certificate in PEM (RFC 7468).",
            body = String,
            content_type = "application/x-pem-file"
        ),
        (
            status = 404,
            description = "The server has a certificate of somebody else.",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn ca(State(options): State<Arc<Options>>) -> Result<Response> {
    let pem = options.ca_certificate.clone().ok_or(AppError::NotFound)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/x-pem-file")),
        (header::CONTENT_DISPOSITION, disposition::attachment("trapline-ca.pem", "ca.pem")),
    ];
    Ok((headers, pem).into_response())
}
