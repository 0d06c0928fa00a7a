//! Claims about whoever signed in (`OpenID` Connect Core, section 5.3).

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};
use trapline_app::{FaultScenario, FaultUse, IdpHandle};
use trapline_model::IdpEventKind;

use crate::{
    failure::{EndpointFailure, OauthRefusal},
    faults::without_email,
    log::LogEntry,
    openapi::{BearerChallenge, OauthError, UserInfo, UserInfoForm},
    params::{RawBody, RequestParams},
    state::{At, IdpState},
    tokens::{about, good_token},
};

/// Read claims about the user
///
/// `OpenID` Connect Core, section 5.3, for the access token in `Authorization: Bearer`. Scripts of any page may ask.
#[utoipa::path(
    get,
    path = "/idp/{slug}/userinfo",
    operation_id = "getUserInfo",
    responses(
        (status = 200, description = "The claims.", body = UserInfo),
        (
            status = 401,
            description = "There is no access token, and then no error either; or it is none of this provider, is \
                           over, was revoked, or its user is gone (`invalid_token`).",
            body = BearerChallenge,
            headers(("WWW-Authenticate" = String, description = "`Bearer` (RFC 6750, section 3)."))
        ),
        (
            status = 403,
            description = "The token is not one of a user with the scope `openid` (`insufficient_scope`).",
            body = OauthError,
            headers(("WWW-Authenticate" = String, description = "`Bearer` (RFC 6750, section 3)."))
        )
    )
)]
pub(crate) async fn by_header(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    headers: HeaderMap,
) -> Result<Response, EndpointFailure> {
    answer(&idp, &provider, bearer(&headers), &RequestParams::default()).await
}

/// Read claims about the user by a form
///
/// The same, where the access token may be in the body too (RFC 6750, section 2.2).
#[utoipa::path(
    post,
    path = "/idp/{slug}/userinfo",
    operation_id = "getUserInfoByForm",
    request_body(
        content = Option<UserInfoForm>,
        content_type = "application/x-www-form-urlencoded",
        description = "The token, where the header does not have it."
    ),
    responses(
        (status = 200, description = "The claims.", body = UserInfo),
        (
            status = 400,
            description = "The token came twice, or the body is no form (`invalid_request`).",
            body = OauthError
        ),
        (
            status = 401,
            description = "There is no access token, and then no error either; or it is none of this provider, is \
                           over, was revoked, or its user is gone (`invalid_token`).",
            body = BearerChallenge,
            headers(("WWW-Authenticate" = String, description = "`Bearer` (RFC 6750, section 3)."))
        ),
        (
            status = 403,
            description = "The token is not one of a user with the scope `openid` (`insufficient_scope`).",
            body = OauthError,
            headers(("WWW-Authenticate" = String, description = "`Bearer` (RFC 6750, section 3)."))
        )
    )
)]
pub(crate) async fn by_form(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, EndpointFailure> {
    let params = if body.is_empty() {
        RequestParams::default()
    } else {
        RequestParams::of_form(&headers, &body)?
    };
    let token = match (bearer(&headers), params.get("access_token")) {
        (Some(_), Some(_)) => {
            let hint = "the access token came twice, in the header and in the body";
            return Err(OauthRefusal::new("invalid_request", hint).into());
        }
        (header, body) => header.or(body),
    };
    answer(&idp, &provider, token, &params).await
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

async fn answer(
    idp: &IdpState,
    provider: &IdpHandle,
    token: Option<&str>,
    params: &RequestParams,
) -> Result<Response, EndpointFailure> {
    let Some(token) = token else {
        // No more than the scheme, where nothing was tried (RFC 6750, section 3.1).
        let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
        return Ok((StatusCode::UNAUTHORIZED, challenge, Json(json!({}))).into_response());
    };
    let mut entry = LogEntry::of(IdpEventKind::Userinfo, params);
    match claims(idp, provider, token, &mut entry).await {
        Ok(claims) => {
            entry.event().response = claims.clone();
            entry.went_well(idp, provider, "Claims about the user.".to_owned()).await;
            let headers = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
            Ok((headers, Json(claims)).into_response())
        }
        Err(failure) => Err(entry.failed(idp, provider, failure).await),
    }
}

/// The user as it is now, by what was granted.
async fn claims(
    idp: &IdpState,
    provider: &IdpHandle,
    token: &str,
    entry: &mut LogEntry,
) -> Result<Value, EndpointFailure> {
    let Some(good) = good_token(idp, provider, token).await? else {
        let hint =
            "the access token is not this provider's, is over, was revoked, or its user is gone";
        return Err(OauthRefusal::new("invalid_token", hint).into());
    };
    let is_openid =
        |scope: &Value| scope.as_str().is_some_and(|it| it.split(' ').any(|name| name == "openid"));
    let person = good.person.filter(|_| good.claims.get("scope").is_some_and(is_openid));
    let Some((sign_in, user)) = person else {
        let hint = "userinfo takes an access token with the scope openid";
        return Err(OauthRefusal::new("insufficient_scope", hint).into());
    };
    entry.event().user = Some(user.id);
    entry.event().flow = Some(sign_in.flow.clone());
    let fault = sign_in.fault.as_deref().and_then(FaultUse::named);
    let mut claims = about(&user, &sign_in.scope, &sign_in.userinfo_claims);
    without_email(fault, &mut claims);
    if fault.is_some_and(|it| it.scenario == FaultScenario::UserinfoSubMismatch) {
        entry.event().fault.clone_from(&sign_in.fault);
        claims.insert("sub".to_owned(), json!("wrong-subject"));
    }
    Ok(json!(claims))
}
