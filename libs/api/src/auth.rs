//! Who asks: a program by its key, or a person by the cookie of a session.

mod callers;
pub(crate) mod roles;
mod site;

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::Request,
    http::{Extensions, HeaderMap, Method, header},
};
use trapline_app::{App, Error as AppError, Forbidden, RateDecision, Unauthenticated, Visitor};
use trapline_model::TeamId;

use crate::{
    allowance::{self, Metered},
    error::{Error, Result},
    layers::{Next, ResponseFuture, immediate},
    state::Client,
};
use callers::Identity;
pub(crate) use callers::{Origin, Person, Reader, Viewer, Writer, permits};
pub(crate) use site::{Site, own_pages_only};

/// Finds out who asks, and takes one request from the allowance of the team and of the key or person, or
/// else of the address.
pub(crate) fn identify(
    app: Arc<App>,
    site: Arc<Site>,
) -> impl Fn(Request, Next) -> ResponseFuture + Clone {
    move |request, next| {
        let identified = Box::pin(identified(app.clone(), site.clone(), request));
        Box::pin(async move {
            let (request, metered) = identified.await;
            let work = match request {
                Ok(request) => next.run(request),
                Err(error) => immediate(error),
            };
            let mut response = work.await;
            if let Some((rate, decision)) = metered {
                allowance::write(response.headers_mut(), rate, decision);
            }
            response
        })
    }
}

/// Takes one request from the allowance of the address, whoever asks.
pub(crate) fn meter(app: Arc<App>) -> impl Fn(Request, Next) -> ResponseFuture + Clone {
    move |request, next| {
        let (app, address) = (app.clone(), address(request.extensions()));
        Box::pin(async move {
            let metered = app.access().meter_anonymous(address).await;
            let work = match metered {
                Some((_, RateDecision::Limited { retry_after })) => {
                    immediate(Error::from(AppError::TooMany { retry_after }))
                }
                _ => next.run(request),
            };
            let mut response = work.await;
            if let Some((rate, decision)) = metered {
                allowance::write(response.headers_mut(), rate, decision);
            }
            response
        })
    }
}

/// The request with the identity of whoever asks, if it may go on.
async fn identified(
    app: Arc<App>,
    site: Arc<Site>,
    mut request: Request,
) -> (Result<Request>, Metered) {
    let address = address(request.extensions());
    let asked = identity(&app, &site, request.method(), request.headers(), address);
    let identity = match asked.await {
        Ok(identity) => identity,
        Err(AppError::Unauthenticated(why)) => Identity::Nobody(why),
        Err(error) => {
            let left = allowance::of_refused(&app, &error);
            return (Err(error.into()), left);
        }
    };
    request.extensions_mut().insert(identity);
    let metered = match identity.principal() {
        Ok(principal) => app.access().meter(&principal).await,
        Err(_) => app.access().meter_anonymous(address).await,
    };
    match metered {
        Some((_, RateDecision::Limited { retry_after })) => {
            (Err(AppError::TooMany { retry_after }.into()), metered)
        }
        _ => (Ok(request), metered),
    }
}

/// A key says who asks, whatever cookie a browser adds to it; no other page can make it send one.
async fn identity(
    app: &App,
    site: &Site,
    method: &Method,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> trapline_app::Result<Identity> {
    if let Some(key) = bearer(headers) {
        return app.access().authenticate(key, address).await.map(Identity::Key);
    }
    let token = site.token(headers);
    let is_open = !app.people().wants_sign_in();
    if token.is_none() && !is_open {
        return Ok(Identity::Nobody(Unauthenticated::Missing));
    }
    if !site.permits(method, headers) {
        return Err(AppError::Forbidden(Forbidden::CrossSite));
    }
    let visitor = Visitor { address, ..Visitor::default() };
    let known = match token {
        Some(token) => app.people().authenticate(token, &visitor).await,
        None => Err(AppError::Unauthenticated(Unauthenticated::Missing)),
    };
    let person = match known {
        Err(AppError::Unauthenticated(_)) if is_open => {
            if !site.is_own_host(headers) {
                return Err(AppError::Forbidden(Forbidden::UnknownHost));
            }
            app.people().anyone(&visitor).await
        }
        known => known,
    };
    person.map(Identity::Person)
}

/// For which team somebody is signed in, whoever asks by no key; `None` where nobody is. For routers of other
/// packages.
pub async fn signed_in_team(
    app: &App,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Option<TeamId> {
    let site = Site::of(&app.settings().base_url);
    let mut headers = headers.clone();
    headers.remove(header::AUTHORIZATION);
    let found = identity(app, &site, &Method::GET, &headers, address(extensions)).await.ok()?;
    found.principal().ok().map(|by| by.team)
}

/// Whose request it is, for somebody who signs in.
pub(crate) fn visitor(extensions: &Extensions, headers: &HeaderMap) -> Visitor {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let user_agent = agent.unwrap_or_default().to_owned();
    Visitor { address: address(extensions), user_agent, person: None }
}

/// The same, with who is signed in there, for pages and requests that do with and without. No page of
/// another site may have sent it.
pub(crate) async fn known_visitor(
    app: &App,
    site: &Site,
    extensions: &Extensions,
    headers: &HeaderMap,
) -> Result<Visitor> {
    let visitor = visitor(extensions, headers);
    let Some(token) = site.token(headers) else { return Ok(visitor) };
    match app.people().authenticate(token, &visitor).await {
        // A team's provider speaks for people to its own team, and nowhere else.
        Ok(who) if who.is_by_sso() => Ok(visitor),
        Ok(who) => Ok(Visitor { person: Some(who.person()), ..visitor }),
        Err(AppError::Unauthenticated(_)) => Ok(visitor),
        Err(error) => Err(error.into()),
    }
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

#[cfg(test)]
mod tests;
