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
mod openapi;
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

use trapline_app::App;
use utoipa_axum::{
    router::{OpenApiRouter, UtoipaMethodRouterExt as _},
    routes,
};

use state::IdpState;
pub use state::TeamSession;

/// The endpoints of all providers, as they describe themselves. `team_session` says for which team somebody is
/// signed in at this service.
#[must_use]
pub fn router(app: Arc<App>, team_session: TeamSession) -> OpenApiRouter {
    table().with_state(IdpState::new(app, team_session))
}

/// Every endpoint. Scripts of any page may ask some of them, without the cookies of this service.
fn table() -> OpenApiRouter<IdpState> {
    let shared = OpenApiRouter::default()
        .routes(routes!(discovery::show).map(cors::open))
        .routes(routes!(discovery::show_at_root).map(cors::open))
        .routes(routes!(discovery::show_as_oauth).map(cors::open))
        .routes(routes!(discovery::jwks).map(cors::open))
        .routes(routes!(token::token).map(cors::open))
        .routes(routes!(userinfo::by_header, userinfo::by_form).map(cors::open))
        .routes(routes!(revoke::revoke).map(cors::open));
    let mut routes = OpenApiRouter::default()
        .routes(routes!(discovery::about))
        .routes(routes!(authorize::by_query, authorize::by_form))
        .routes(routes!(login::show, login::choose))
        .routes(routes!(introspect::introspect))
        .routes(routes!(end_session::by_query, end_session::by_form))
        .merge(shared)
        .merge(saml::saml_routes());
    openapi::complete(routes.get_openapi_mut());
    routes
}
