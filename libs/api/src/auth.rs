//! Who asks: extractors that state in a handler's signature who may call it.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    extract::{FromRequestParts, Request},
    http::{Extensions, HeaderMap, HeaderValue, Method, header, request::Parts},
};
use trapline_app::{App, Error as AppError, Forbidden, Rate, RateDecision, Unauthenticated};
use trapline_model::Principal;

use crate::{
    error::{Error, Result, whole_seconds},
    extract::has_parameter,
    layers::{Next, Work, done},
    state::Client,
};

/// What the key of a request, or its absence, told.
#[derive(Clone, Copy)]
struct Identity(Result<Principal, Unauthenticated>);

/// Somebody who may read what is the team's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader(pub Principal);

/// Somebody who may change what is the team's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer(pub Principal);

/// Somebody who may see one message: one of the team, or whoever has a signed URL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Viewer {
    /// Sent a key.
    Principal(Principal),
    /// Claims that the URL is signed, which the use case checks.
    Signed,
}

fn principal(parts: &Parts) -> Result<Principal> {
    let identity = parts.extensions.get::<Identity>().copied();
    let principal = identity.map_or(Err(Unauthenticated::Missing), |identity| identity.0);
    principal.map_err(|why| AppError::Unauthenticated(why).into())
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        principal(parts).map(Self)
    }
}

impl<S: Sync> FromRequestParts<S> for Writer {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        writer(parts)
    }
}

fn writer(parts: &Parts) -> Result<Writer> {
    let by = principal(parts)?;
    if by.may_write() {
        Ok(Writer(by))
    } else {
        Err(AppError::Forbidden(Forbidden::ReadOnlyKey).into())
    }
}

/// Whether whoever asks may use this method at all.
pub(crate) fn permits(parts: &Parts) -> Result<()> {
    match parts.method {
        Method::GET | Method::HEAD => principal(parts).map(drop),
        _ => writer(parts).map(drop),
    }
}

impl<S: Sync> FromRequestParts<S> for Viewer {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        if has_parameter(parts.uri.query(), &["exp", "sig"]) {
            return Ok(Self::Signed);
        }
        principal(parts).map(Self::Principal)
    }
}

/// What the team of a request may have still.
type Metered = Option<(Rate, RateDecision)>;

/// Finds out who asks, and takes one request from the team's allowance.
pub(crate) fn identify(app: Arc<App>) -> impl Fn(Request, Next) -> Work + Clone {
    move |request, next| {
        let identified = Box::pin(identified(app.clone(), request));
        Box::pin(async move {
            let (request, metered) = identified.await;
            let work = match request {
                Ok(request) => next.run(request),
                Err(error) => done(error),
            };
            let mut response = work.await;
            if let Some((rate, decision)) = metered {
                write_allowance(response.headers_mut(), rate, decision);
            }
            response
        })
    }
}

/// The request with the identity of whoever asks, if it may go on.
async fn identified(app: Arc<App>, mut request: Request) -> (Result<Request>, Metered) {
    let address = address(request.extensions());
    let identity = match authenticate(&app, request.headers(), address).await {
        Ok(principal) => Ok(principal),
        Err(AppError::Unauthenticated(why)) => Err(why),
        Err(error) => return (Err(error.into()), None),
    };
    request.extensions_mut().insert(Identity(identity));
    let metered = match &identity {
        Ok(principal) => app.access().meter(principal).await,
        Err(_) => None,
    };
    match metered {
        Some((_, RateDecision::Limited { retry_after })) => {
            (Err(AppError::TooMany { retry_after }.into()), metered)
        }
        _ => (Ok(request), metered),
    }
}

async fn authenticate(
    app: &App,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> trapline_app::Result<Principal> {
    let missing = AppError::Unauthenticated(Unauthenticated::Missing);
    app.access().authenticate(bearer(headers).ok_or(missing)?, address).await
}

/// Where the request comes from, if the listener said so.
pub(crate) fn address(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<Client>().map(|client| client.address)
}

/// The token of `Authorization: Bearer <token>` (RFC 6750, section 2.1).
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The headers of draft-ietf-httpapi-ratelimit-headers-11.
fn write_allowance(headers: &mut HeaderMap, rate: Rate, decision: RateDecision) {
    let (remaining, full_in) = match decision {
        RateDecision::Allowed { remaining } => (remaining, regained_in(rate, remaining)),
        RateDecision::Limited { retry_after } => (0, retry_after),
    };
    let policy = format!("\"api\";q={};w={}", rate.burst, whole_seconds(rate.per));
    let state = format!("\"api\";r={remaining};t={}", whole_seconds(full_in));
    for (name, value) in [("ratelimit-policy", policy), ("ratelimit", state)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// When the whole allowance is there again.
fn regained_in(rate: Rate, remaining: u32) -> Duration {
    let taken = rate.burst.saturating_sub(remaining);
    rate.per.saturating_mul(taken) / rate.burst.max(1)
}

#[cfg(test)]
mod tests;
