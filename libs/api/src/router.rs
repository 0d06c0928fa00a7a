//! Every path of the API.

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::Uri,
    middleware::{from_fn, from_fn_with_state, map_request},
};
use tower_http::{
    catch_panic::CatchPanicLayer,
    request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer},
};
use trapline_app::App;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Options, answers, auth, confirmation, docs,
    error::Error,
    extract::{Contract, hold},
    forwarding, inbox_page, inboxes, layers, live, messages,
    nowhere::nearest,
    openapi, prefix, preview, projects, service,
    state::Api,
    webhooks,
};

/// The most bytes that a body may have.
pub(crate) const MAX_BODY: usize = 1024 * 1024;

/// Routes that are answered as soon as possible, for teams.
fn quick() -> OpenApiRouter<Api> {
    caught().merge(told()).merge(forwarded())
}

/// What is caught, and where.
fn caught() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(projects::list, projects::create))
        .routes(routes!(projects::rename, projects::delete))
        .routes(routes!(inboxes::list, inboxes::create))
        .routes(routes!(inboxes::get, inboxes::update, inboxes::delete))
        .routes(routes!(inboxes::rotate))
        .routes(routes!(inboxes::test_message))
        .routes(routes!(messages::list, messages::mark_all_read, messages::empty))
        .routes(routes!(messages::get, messages::update, messages::delete))
        .routes(routes!(messages::raw))
        .routes(routes!(preview::html))
        .routes(routes!(preview::preview_url))
        .routes(routes!(preview::attachment))
}

/// Who is told of it.
fn told() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(webhooks::list, webhooks::create))
        .routes(routes!(webhooks::get, webhooks::update, webhooks::delete))
        .routes(routes!(webhooks::test))
        .routes(routes!(webhooks::deliveries))
        .routes(routes!(webhooks::redeliver))
}

/// Who gets it.
fn forwarded() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(forwarding::get, forwarding::set))
        .routes(routes!(forwarding::forward, forwarding::forwards))
        .routes(routes!(forwarding::addresses, forwarding::add))
        .routes(routes!(forwarding::delete))
        .routes(routes!(forwarding::status))
}

/// Routes that stay open, for teams.
fn lasting() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(live::wait)).routes(routes!(live::events))
}

/// Routes of the service itself.
fn public() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(service::health))
        .routes(routes!(service::mail_health))
        .routes(routes!(confirmation::show, confirmation::confirm))
        .routes(routes!(service::metrics))
        .routes(routes!(service::document))
        .routes(routes!(service::ca))
}

/// Every route, for the document.
pub(crate) fn table() -> OpenApiRouter<Api> {
    quick().merge(lasting()).merge(public())
}

/// Only the metrics, for a process that serves no API.
pub fn metrics_router(app: Arc<App>, options: Options) -> Router {
    let metrics = OpenApiRouter::default().routes(routes!(service::metrics));
    let document = openapi();
    let contract = Arc::new(Contract::of(&document));
    let metrics = metrics.layer(from_fn_with_state(contract.clone(), hold));
    let routes = Router::from(metrics.layer(from_fn(layers::in_time)));
    wrapped(routes, &contract, Api::new(app, options, document))
}

/// The API as a service.
///
/// # Panics
///
/// When the API's document says something that requests are not checked for.
pub fn router(app: Arc<App>, options: Options) -> Router {
    let document = openapi();
    let contract = Arc::new(Contract::of(&document));
    let in_time = from_fn(layers::in_time);
    let hold = from_fn_with_state(contract.clone(), hold);
    let count = from_fn_with_state(app.clone(), answers::count);
    let count_lasting = from_fn_with_state(app.clone(), answers::count_lasting);
    let teams = quick()
        .layer(in_time.clone())
        .layer(count)
        .merge(lasting().layer(count_lasting))
        .layer(hold.clone())
        .layer(from_fn_with_state(app.clone(), auth::identify));
    let public = public().layer(hold).layer(in_time);
    let routes = Router::from(teams.merge(public)).merge(docs::routes());
    wrapped(routes.merge(inbox_page::routes()), &contract, Api::new(app, options, document))
}

fn wrapped(routes: Router<Api>, contract: &Arc<Contract>, state: Api) -> Router {
    let contract = contract.clone();
    let nowhere = async move |uri: Uri| Error::NoSuchPath(nearest(uri.path(), contract.paths()));
    let base_url = state.app.settings().base_url.clone();
    let routes = routes
        .fallback(nowhere)
        .method_not_allowed_fallback(layers::method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn(layers::check_url))
        .layer(CatchPanicLayer::custom(layers::panicked))
        .layer(from_fn(layers::harden))
        .layer(from_fn(layers::observe))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(map_request(layers::check_id))
        .with_state(state);
    prefix::taken_off(routes, &base_url)
}
