//! Every path of the API.

use std::sync::Arc;

use axum::{Router, extract::Request, response::IntoResponse as _};
use tower::ServiceExt as _;
use trapline_app::{App, MemoryHold};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Options, api_keys, audit,
    auth::{self, Site},
    body_memory, checks, confirmation, docs,
    error::Error,
    extract::{Contract, enforce},
    forwarding, idps, inbox_page, inboxes,
    layers::{self, ContentPolicy, around},
    live, messages, mock, mocks,
    nearest_path::nearest,
    onboarding, openapi, people, people_page, prefix, preview, projects, service, sso, sso_page,
    state::Api,
    status, team, usage, webhooks,
};

/// Routes that are answered as soon as possible, for teams.
fn team_routes() -> OpenApiRouter<Api> {
    mail_routes()
        .merge(check_routes())
        .merge(webhook_routes())
        .merge(forwarding_routes())
        .merge(idp_routes())
        .merge(mock_routes())
        .merge(people_routes())
        .merge(account_routes())
}

/// Whoever is signed in.
fn people_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(people::me, people::profile::rename))
        .routes(routes!(people::profile::change_email))
        .routes(routes!(people::profile::set_up))
        .routes(routes!(people::account::verify))
        .routes(routes!(people::account::change))
        .routes(routes!(people::sessions::list, people::sessions::end_others))
        .routes(routes!(people::sessions::end))
        .routes(routes!(people::sessions::switch_team))
}

/// Ways in, for everybody; no page of another site may use them in somebody's name.
fn sign_in_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(people::options))
        .routes(routes!(people::sign_in))
        .routes(routes!(people::sign_out))
        .routes(routes!(people::link, people::use_link))
        .routes(routes!(people::account::sign_up))
        .routes(routes!(people::account::reset))
}

/// Projects, inboxes and the messages in them.
fn mail_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(projects::list, projects::create))
        .routes(routes!(projects::rename, projects::delete))
        .routes(routes!(inboxes::list, inboxes::create))
        .routes(routes!(inboxes::get, inboxes::update, inboxes::delete))
        .routes(routes!(inboxes::rotate))
        .routes(routes!(inboxes::test_message))
        .routes(routes!(messages::list, messages::mark_all_read, messages::empty))
        .routes(routes!(messages::many::delete))
        .routes(routes!(messages::many::mark))
        .routes(routes!(messages::get, messages::update, messages::delete))
        .routes(routes!(messages::raw))
        .routes(routes!(preview::html))
        .routes(routes!(preview::preview_url))
        .routes(routes!(preview::attachment))
}

/// Checks on a message.
fn check_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(checks::overview))
        .routes(routes!(checks::spam))
        .routes(routes!(checks::html))
        .routes(routes!(checks::unsubscribe, checks::links::one_click))
        .routes(routes!(checks::links::check))
        .routes(routes!(checks::auth::report))
        .routes(routes!(checks::auth::zone, checks::auth::set_zone, checks::auth::remove_zone))
}

/// Webhooks and the log of their deliveries.
fn webhook_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(webhooks::list, webhooks::create))
        .routes(routes!(webhooks::get, webhooks::update, webhooks::delete))
        .routes(routes!(webhooks::test))
        .routes(routes!(webhooks::deliveries))
        .routes(routes!(webhooks::redeliver))
}

/// Forwarding of messages, and the addresses that they may go to.
fn forwarding_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(forwarding::get, forwarding::set))
        .routes(routes!(forwarding::all))
        .routes(routes!(forwarding::forward, forwarding::forwards))
        .routes(routes!(forwarding::addresses, forwarding::add))
        .routes(routes!(forwarding::delete))
        .routes(routes!(forwarding::status))
}

/// Mock identity providers, their users and their logs.
fn idp_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(idps::list, idps::create))
        .routes(routes!(idps::get, idps::update, idps::delete))
        .routes(routes!(idps::rotate))
        .routes(routes!(idps::users::list, idps::users::create))
        .routes(routes!(idps::users::update, idps::users::delete))
        .routes(routes!(idps::events::list, idps::events::clear))
        .routes(routes!(idps::faults::catalog))
        .routes(routes!(idps::faults::list, idps::faults::create, idps::faults::clear))
        .routes(routes!(idps::faults::delete))
}

/// Mocks of other providers' APIs, and what happened to them.
fn mock_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(mocks::providers))
        .routes(routes!(mocks::list, mocks::create))
        .routes(routes!(mocks::get, mocks::update, mocks::delete))
        .routes(routes!(mocks::rotate))
        .routes(routes!(mocks::log::calls, mocks::log::clear))
        .routes(routes!(mocks::log::call))
        .routes(routes!(mocks::log::webhooks))
        .routes(routes!(mocks::log::webhook))
        .routes(routes!(mocks::log::replay))
        .routes(routes!(mocks::log::objects))
        .routes(routes!(mocks::happen::move_object))
        .routes(routes!(mocks::happen::trigger))
}

/// The team itself.
fn account_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(onboarding::get))
        .routes(routes!(usage::get))
        .routes(routes!(audit::list))
        .routes(routes!(api_keys::list, api_keys::create))
        .routes(routes!(api_keys::revoke))
        .routes(routes!(team::get, team::rename, team::delete))
        .routes(routes!(team::members))
        .routes(routes!(team::change_role, team::remove))
        .routes(routes!(team::leave))
        .routes(routes!(team::transfer))
        .routes(routes!(team::invitations, team::invite))
        .routes(routes!(team::revoke_invitation))
        .routes(routes!(sso::get, sso::put, sso::delete))
}

/// Routes that stay open, for teams.
fn long_lived_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(live::wait)).routes(routes!(live::events))
}

/// Routes of the service itself, for everybody.
fn public_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(status::status))
        .routes(routes!(confirmation::show, confirmation::confirm))
        .routes(routes!(service::document))
        .routes(routes!(service::ca))
}

/// Routes that machines of the operator ask, of which none may be turned away for what others asked.
fn operator_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(service::health))
        .routes(routes!(service::mail_health))
        .routes(routes!(service::metrics))
}

/// Every route, for the document.
pub(crate) fn table() -> OpenApiRouter<Api> {
    table_with(team_routes())
}

fn table_with(teams: OpenApiRouter<Api>) -> OpenApiRouter<Api> {
    teams
        .merge(long_lived_routes())
        .merge(sign_in_routes())
        .merge(public_routes())
        .merge(operator_routes())
}

/// Only the metrics, for a process that serves no API.
pub fn metrics_router(app: Arc<App>, options: Options) -> Router {
    let metrics = OpenApiRouter::default().routes(routes!(service::metrics));
    let document = openapi();
    let contract = Arc::new(Contract::of(&document));
    let metrics =
        metrics.layer((around(layers::request_timeout), around(enforce(contract.clone()))));
    let routes = Router::from(metrics);
    assembled(routes, None, &contract, Api::new(app, options, document))
}

/// The API as a service, and `further` routes of other packages with the same layers around them: they see to
/// their callers and to what they are asked with themselves. The document has them as they describe themselves.
///
/// # Panics
///
/// When the API's document says something that requests are not checked for.
pub fn router(app: Arc<App>, options: Options, further: OpenApiRouter) -> Router {
    router_with(team_routes(), app, options, further)
}

/// The API with these routes for teams. All that is around a route follows from its group.
fn router_with(
    teams: OpenApiRouter<Api>,
    app: Arc<App>,
    options: Options,
    further: OpenApiRouter,
) -> Router {
    let (further, described) = further.split_for_parts();
    let document = openapi::document(table_with(teams.clone()));
    let contract = Arc::new(Contract::of(&document));
    let site = Arc::new(Site::of(&app.settings().base_url));
    let request_timeout = around(layers::request_timeout);
    let enforce = around(enforce(contract.clone()));
    let count = around(body_memory::count(&app, MemoryHold::UntilAnswered));
    let count_lasting = around(body_memory::count(&app, MemoryHold::WhileInUse));
    let identify = around(auth::identify(app.clone(), site.clone()));
    let meter = around(auth::meter(app.clone()));
    let own_pages = around(auth::own_pages_only(site.clone()));
    let teams = teams.layer((identify.clone(), enforce.clone(), count, request_timeout.clone()));
    let long_lived = long_lived_routes().layer((identify, enforce.clone(), count_lasting));
    let sign_in = sign_in_routes().layer((
        meter.clone(),
        own_pages,
        request_timeout.clone(),
        enforce.clone(),
    ));
    let public = public_routes().layer((meter, request_timeout.clone(), enforce.clone()));
    let operators = operator_routes().layer((request_timeout, enforce));
    let routes =
        Router::from(teams.merge(long_lived).merge(sign_in).merge(public).merge(operators));
    let of_mocks = mock::routes(&app);
    let state = Api::new(app, options, openapi::with_further(document, described));
    let mocks = of_mocks.clone().with_state(state.clone());
    let pages = docs::routes()
        .merge(inbox_page::routes())
        .merge(people_page::routes(site))
        .merge(sso_page::routes())
        .merge(of_mocks)
        .merge(status::routes())
        .merge(further.with_state(()).layer(around(layers::request_timeout)));
    assembled(routes.merge(pages), Some(mocks), &contract, state)
}

/// All routes, and those of mocks once more, where these are served: who carries a mock's credential is led there when
/// no route of ours takes the request.
fn assembled(
    routes: Router<Api>,
    mocks: Option<Router>,
    contract: &Arc<Contract>,
    state: Api,
) -> Router {
    let contract = contract.clone();
    let mock_domain = state.app.settings().mock_domain.clone();
    let base_url = state.app.settings().base_url.clone();
    let (options, base) = (state.options.clone(), base_url.clone());
    let is_https_only = state.site.is_https_only();
    let not_found = async move |request: Request| {
        let request = match mocks {
            Some(mocks) => match mock::by_credential(request) {
                Ok(request) => return mocks.oneshot(request).await.into_response(),
                Err(request) => *request,
            },
            None => request,
        };
        let (request, _) = request.into_parts();
        let nearest = || Error::NoSuchPath(nearest(request.uri.path(), contract.paths()));
        options.console(&request, &base).unwrap_or_else(|| nearest().into_response())
    };
    let routes = routes.fallback(not_found).method_not_allowed_fallback(layers::method_not_allowed);
    let routes = if is_https_only { layers::with_hsts(routes) } else { routes };
    let routes = layers::secure(routes, ContentPolicy::PerAnswer).with_state(state);
    mock::by_host(prefix::strip(routes, &base_url), mock_domain.as_deref())
}

#[cfg(test)]
mod tests;
