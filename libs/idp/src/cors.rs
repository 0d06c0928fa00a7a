//! Endpoints that scripts of any page may ask, without the cookies of this service (Fetch standard,
//! section 3.3).

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
    routing::{MethodRouter, options},
};
use tower::util::MapResponseLayer;

use crate::state::IdpState;

const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const NAMES: [(HeaderName, &str); 5] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type"),
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, "WWW-Authenticate"),
    (CORP, "cross-origin"),
];

/// The routes, open to scripts of any page.
pub(crate) fn open(routes: MethodRouter<IdpState>) -> MethodRouter<IdpState> {
    let routes = routes.merge(options(async || StatusCode::NO_CONTENT));
    routes.layer(MapResponseLayer::new(|mut answer: Response| {
        for (name, value) in NAMES {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer
    }))
}
