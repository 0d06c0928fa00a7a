//! What routes answer because of what they take, so that no handler has to repeat it.

use utoipa::openapi::{
    ContentBuilder, Header, HttpMethod, ObjectBuilder, OpenApi, PathItem, Ref, RefOr, Response,
    ResponseBuilder, path::Operation, schema::Type, security::SecurityRequirement,
};

/// A shared answer: its status, name, description, schema, and headers of its own.
type Shared = (&'static str, &'static str, &'static str, &'static str, &'static [Named]);
type Named = (&'static str, &'static str);

const RETRY_AFTER: Named = ("Retry-After", "Seconds until the next try can succeed.");
const CHALLENGE: Named = ("WWW-Authenticate", "`Bearer` (RFC 6750).");
const REQUEST_ID: Named = ("X-Request-Id", "Names the request in the service's logs.");
const METERED: [Named; 2] = [
    ("RateLimit-Policy", "The allowance, where there is one: `q` requests in `w` seconds."),
    ("RateLimit", "What is left of it: `r` requests; whole again in `t` seconds."),
];

/// What machines of the operator ask has no allowance.
const UNMETERED: [&str; 3] = ["/api/health", "/api/health/mail", "/api/metrics"];

const SHARED: [Shared; 12] = [
    ("400", "Invalid", "The request is wrong; `issues` says where.", "InvalidRequest", &[]),
    (
        "401",
        "Unauthenticated",
        "The API key is missing, unknown or expired (`missing_api_key`, `unknown_api_key`, `api_key_expired`), or the session is over (`session_over`).",
        "ApiError",
        &[CHALLENGE],
    ),
    (
        "403",
        "Refused",
        "The API key may only read (`read_only_key`), the route takes no key (`person_required`), the person's role is too small (`admin_required`, `owner_required`), the person is in no team (`team_required`), or in none but by its single sign-on (`sso_required`), or a page of another site sent the request (`cross_site`).",
        "ApiError",
        &[],
    ),
    ("404", "NotFound", "It is not there, or it is another team's.", "ApiError", &[]),
    (
        "408",
        "BodyTimeout",
        "The body did not come within 20 seconds (`request_timeout`).",
        "ApiError",
        &[],
    ),
    (
        "409",
        "Conflict",
        "Somebody else changed the same thing at the same moment.",
        "ApiError",
        &[],
    ),
    ("413", "TooLarge", "The body is over 1 MiB.", "ApiError", &[]),
    ("414", "UriTooLong", "The URL is over 8 KiB (`uri_too_long`).", "ApiError", &[]),
    ("415", "UnsupportedMediaType", "The body is not sent as application/json.", "ApiError", &[]),
    ("429", "TooMany", "Too many requests.", "ApiError", &[RETRY_AFTER]),
    ("500", "Internal", "A fault of the service.", "ApiError", &[]),
    ("503", "Unavailable", "Not now; try again.", "ApiError", &[RETRY_AFTER]),
];

/// Adds to every operation the answers and headers that it has in common with others.
pub(super) fn complete(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    for (_, name, description, schema, headers) in SHARED {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
        let mut response = ResponseBuilder::new()
            .description(description)
            .content("application/json", content)
            .build();
        add_headers(&mut response, headers.iter().chain([&REQUEST_ID]));
        components.responses.insert(name.to_owned(), response.into());
    }
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations(item) {
            let metered = !UNMETERED.contains(&path.as_str());
            describe(operation, &statuses(path, &method, operation), metered);
        }
    }
}

/// Adds to operations of other packages what the layers around every route answer: whether they say that
/// themselves or not, a URL may be too long, and nobody waits for ever.
pub(super) fn complete_further(document: &mut OpenApi) {
    for item in document.paths.paths.values_mut() {
        for (_, operation) in operations(item) {
            describe(operation, &["414", "500", "503"], false);
        }
    }
    let components = document.components.get_or_insert_default();
    for response in components.responses.values_mut() {
        if let RefOr::T(response) = response {
            add_headers(response, [REQUEST_ID].iter());
        }
    }
}

/// The operations of a path, by method.
pub(super) fn operations(
    item: &mut PathItem,
) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
    [
        (HttpMethod::Get, &mut item.get),
        (HttpMethod::Post, &mut item.post),
        (HttpMethod::Put, &mut item.put),
        (HttpMethod::Patch, &mut item.patch),
        (HttpMethod::Delete, &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Whether the operation is for a team: it says nothing else than the document as a whole, or takes a
/// key, or takes nobody but a person.
fn takes_caller(operation: &Operation) -> bool {
    let [key, session] = ["apiKey", "session"].map(|name| SecurityRequirement::new(name, [""; 0]));
    operation
        .security
        .as_ref()
        .is_none_or(|ways| ways.contains(&key) || ways.as_slice() == [session])
}

fn statuses(path: &str, method: &HttpMethod, operation: &Operation) -> Vec<&'static str> {
    // Whatever it does not take is wrong.
    let mut statuses = vec!["400", "414", "500", "503"];
    if takes_caller(operation) {
        statuses.extend(["401", "403"]);
        if *method != HttpMethod::Get {
            statuses.push("409");
        }
    }
    if !UNMETERED.contains(&path) {
        statuses.push("429");
    }
    if path.contains('{') {
        statuses.push("404");
    }
    if operation.request_body.is_some() {
        statuses.extend(["408", "413", "415"]);
    }
    statuses
}

fn describe(operation: &mut Operation, statuses: &[&'static str], metered: bool) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            let metered = METERED.iter().filter(|_| metered);
            add_headers(response, metered.chain([&REQUEST_ID]));
        }
    }
    for (status, name, ..) in SHARED.iter().filter(|(status, ..)| statuses.contains(status)) {
        let shared = RefOr::Ref(Ref::from_response_name(*name));
        operation.responses.responses.entry((*status).to_owned()).or_insert(shared);
    }
}

fn add_headers<'a>(response: &mut Response, headers: impl Iterator<Item = &'a Named>) {
    for (name, description) in headers {
        let mut header = Header::new(ObjectBuilder::new().schema_type(Type::String).build());
        header.description = Some((*description).to_owned());
        response.headers.insert((*name).to_owned(), RefOr::T(header));
    }
}
