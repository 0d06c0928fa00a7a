//! The token endpoint (RFC 6749, section 3.2).

mod code;
mod credentials;
mod refresh;

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Map, Value, json};
use trapline_app::{FaultScenario, FaultUse, IdpGrant, IdpHandle, IdpSignIn, IdpUserRecord};
use trapline_model::IdpEventKind;

use crate::{
    client::{Proof, prove},
    failure::{EndpointFailure, OauthRefusal},
    jwt,
    log::LogEntry,
    openapi::{OauthError, TokenForm, TokenSet},
    params::{RawBody, RequestParams},
    state::{At, IdpState},
    tokens,
};

/// A request whose client is known.
pub(crate) struct TokenRequest<'r> {
    provider: &'r IdpHandle,
    params: &'r RequestParams,
    proof: Proof,
}

/// Ask for tokens
///
/// RFC 6749, sections 4.1.3, 4.4.2 and 6. The client shows its secret by HTTP Basic or in the form, or only its id
/// where it is a public one that uses PKCE. Scripts of any page may ask.
#[utoipa::path(
    post,
    path = "/idp/{slug}/token",
    operation_id = "requestTokens",
    request_body(
        content = TokenForm,
        content_type = "application/x-www-form-urlencoded",
        description = "The grant."
    ),
    responses(
        (status = 200, description = "The tokens.", body = TokenSet),
        (
            status = 400,
            description = "`invalid_request`, `invalid_grant`, `invalid_scope`, `invalid_target`, \
                           `unauthorized_client` or `unsupported_grant_type`.",
            body = OauthError
        ),
        (
            status = 401,
            description = "The client is unknown, or its secret is missing or wrong (`invalid_client`).",
            body = OauthError,
            headers(("WWW-Authenticate" = String, description = "`Basic`."))
        )
    )
)]
pub(crate) async fn token(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, EndpointFailure> {
    let params = RequestParams::of_form(&headers, &body)?;
    let kind = match params.get("grant_type") {
        Some("refresh_token") => IdpEventKind::Refresh,
        _ => IdpEventKind::Token,
    };
    let mut entry = LogEntry::of(kind, &params);
    match answer(&idp, &provider, (&headers, &params), &mut entry).await {
        Ok(tokens) => {
            entry.event().response = shown(&tokens);
            let fault = entry.event().fault.as_deref().and_then(FaultUse::named);
            let summary = format!("Tokens by {}.", params.get("grant_type").unwrap_or_default());
            entry.went_well(&idp, &provider, summary).await;
            let fixed = HeaderValue::from_static;
            let headers =
                [(header::CACHE_CONTROL, fixed("no-store")), (header::PRAGMA, fixed("no-cache"))];
            let answer = (headers, Json(tokens)).into_response();
            spoiled(&idp, &provider, fault, answer).await
        }
        Err(failure) => Err(entry.failed(&idp, &provider, failure).await),
    }
}

/// The answer as somebody asked for it.
async fn spoiled(
    idp: &IdpState,
    provider: &IdpHandle,
    fault: Option<FaultUse>,
    answer: Response,
) -> Result<Response, EndpointFailure> {
    let Some(fault) = fault else { return Ok(answer) };
    match fault.scenario {
        FaultScenario::Token500 => Err(EndpointFailure::Internal),
        FaultScenario::TokenMalformed => {
            let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
            Ok((json, "{\"access_token\": \"").into_response())
        }
        FaultScenario::Slow => {
            let late = idp.slow.begin(provider.settings.id);
            let _late = late.ok_or(EndpointFailure::Unavailable)?;
            let seconds = u64::try_from(fault.value).unwrap_or(1);
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok(answer)
        }
        _ => Ok(answer),
    }
}

type TokenAnswer = Map<String, Value>;

async fn answer(
    idp: &IdpState,
    provider: &IdpHandle,
    (headers, params): (&HeaderMap, &RequestParams),
    entry: &mut LogEntry,
) -> Result<TokenAnswer, EndpointFailure> {
    params.once_each()?;
    let kind = params.required("grant_type")?;
    if !["authorization_code", "refresh_token", "client_credentials"].contains(&kind) {
        let hint = format!(
            "grant_type must be authorization_code, refresh_token or client_credentials, not {kind}"
        );
        return Err(OauthRefusal::new("unsupported_grant_type", hint).into());
    }
    let proof = prove(idp, provider, headers, params)?;
    let request = TokenRequest { provider, params, proof };
    match kind {
        "authorization_code" => code::tokens(idp, &request, entry).await,
        "refresh_token" => refresh::tokens(idp, &request, entry).await,
        _ => credentials::tokens(idp, &request).await,
    }
}

fn invalid_grant(hint: impl Into<String>) -> EndpointFailure {
    OauthRefusal::new("invalid_grant", hint).into()
}

/// The user of a sign-in.
async fn user_of(
    idp: &IdpState,
    provider: &IdpHandle,
    sign_in: &IdpSignIn,
    entry: &mut LogEntry,
) -> Result<IdpUserRecord, EndpointFailure> {
    entry.event().user = Some(sign_in.user);
    entry.event().flow = Some(sign_in.flow.clone());
    entry.event().fault.clone_from(&sign_in.fault);
    entry.event().client_id = Some(provider.settings.client_id.clone());
    let user = idp.idps().test_user(provider, sign_in.user).await?;
    user.ok_or_else(|| invalid_grant("the user who signed in was deleted since"))
}

/// The tokens of a sign-in; a nonce is only in the first ID token.
async fn of_sign_in(
    idp: &IdpState,
    provider: &IdpHandle,
    grant: &IdpGrant,
    (sign_in, nonce): (&IdpSignIn, Option<&str>),
    user: &IdpUserRecord,
) -> Result<TokenAnswer, EndpointFailure> {
    let access = tokens::access_token(idp, provider, grant, sign_in, user).await?;
    let mut found = bearer(provider, &sign_in.scope, &access);
    let is_missing = sign_in.fault.as_deref() == Some(FaultScenario::IdTokenMissing.name());
    if !is_missing && sign_in.scope.iter().any(|name| name == "openid") {
        let id_token = tokens::id_token(idp, provider, (sign_in, nonce), user, &access).await?;
        found.insert("id_token".to_owned(), json!(id_token));
    }
    if grant.is_refreshable {
        let refresh = idp.idps().refresh_token(grant);
        found.insert("refresh_token".to_owned(), json!(refresh));
    }
    Ok(found)
}

/// RFC 6749, section 5.1.
fn bearer(provider: &IdpHandle, scope: &[String], access_token: &str) -> TokenAnswer {
    let mut found = TokenAnswer::new();
    found.insert("access_token".to_owned(), json!(access_token));
    found.insert("token_type".to_owned(), json!("Bearer"));
    found.insert("expires_in".to_owned(), json!(provider.settings.token_ttl));
    found.insert("scope".to_owned(), json!(scope.join(" ")));
    found
}

/// Tokens as the log shows them.
fn shown(tokens: &TokenAnswer) -> Value {
    let decoded = tokens.iter().map(|(name, value)| {
        let value = match (name.as_str(), value.as_str()) {
            ("access_token" | "id_token", Some(token)) => jwt::shown(token),
            ("refresh_token", Some(_)) => json!("…"),
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    Value::Object(decoded.collect())
}
