//! Mock identity providers as applications under test see them: everything under `/idp/<slug>`. `OpenID`
//! Connect Core 1.0 with the authorization code flow, and what RFC 6749, 6750, 7009, 7523, 7636, 7662,
//! 9068, 9207 and 9700 say of it; and SAML 2.0. The use cases are the application's.

mod authorize;
mod client;
mod cookie;
mod cors;
mod discovery;
mod end_session;
mod failure;
mod faults;
mod introspect;
mod jwt;
mod log;
mod login;
mod page;
mod params;
mod redirect;
mod request;
mod revoke;
mod saml;
mod slow;
mod state;
mod token;
mod tokens;
mod userinfo;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use trapline_app::App;

use state::IdpState;
pub use state::TeamSession;

/// The endpoints of all providers. `team_session` says for which team somebody is signed in at this
/// service.
pub fn router(app: Arc<App>, team_session: TeamSession) -> Router {
    let shared = Router::new()
        .route("/idp/{slug}/.well-known/openid-configuration", cors::open(get(discovery::show)))
        .route("/.well-known/openid-configuration/idp/{slug}", cors::open(get(discovery::show)))
        .route(
            "/.well-known/oauth-authorization-server/idp/{slug}",
            cors::open(get(discovery::show)),
        )
        .route("/idp/{slug}/jwks", cors::open(get(discovery::jwks)))
        .route("/idp/{slug}/token", cors::open(post(token::token)))
        .route("/idp/{slug}/userinfo", cors::open(get(userinfo::by_header).post(userinfo::by_form)))
        .route("/idp/{slug}/revoke", cors::open(post(revoke::revoke)));
    Router::new()
        .route("/idp/{slug}", get(discovery::about))
        .route("/idp/{slug}/authorize", get(authorize::by_query).post(authorize::by_form))
        .route("/idp/{slug}/login", get(login::show).post(login::choose))
        .route("/idp/{slug}/introspect", post(introspect::introspect))
        .route("/idp/{slug}/end_session", get(end_session::by_query).post(end_session::by_form))
        .merge(shared)
        .merge(saml::routes())
        .with_state(IdpState::new(app, team_session))
}
