//! The document (`OpenAPI` 3.1): the routes as their handlers describe them, and what all of them have in
//! common.

mod common;
mod plain;

use utoipa::{
    Modify, OpenApi,
    openapi::{
        ObjectBuilder, RefOr, Schema,
        schema::{AdditionalProperties, Type},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};
use utoipa_axum::router::OpenApiRouter;

use crate::{
    error::{ErrorBody, IssueBody, ValidationErrorBody, WaitTimeoutBody},
    router,
    state::Api,
};

/// Bytes as they are.
pub(crate) struct Binary;

impl utoipa::PartialSchema for Binary {
    fn schema() -> RefOr<Schema> {
        // OpenAPI 3.1 describes bytes by their media type, not by a schema.
        ObjectBuilder::new().schema_type(utoipa::openapi::schema::SchemaType::AnyValue).into()
    }
}

impl utoipa::ToSchema for Binary {}

/// A JSON object of any form.
pub(crate) struct AnyObject;

impl utoipa::PartialSchema for AnyObject {
    fn schema() -> RefOr<Schema> {
        let members = AdditionalProperties::FreeForm(true);
        let object = ObjectBuilder::new().schema_type(Type::Object);
        let example = serde_json::json!({ "plan": "pro" });
        object.additional_properties(Some(members)).examples([example]).into()
    }
}

impl utoipa::ToSchema for AnyObject {}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Trapline",
        description = "A mail sandbox for tests: inboxes that catch mail over SMTP, read over REST.",
        contact(name = "The operator of this server"),
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    tags(
        (name = "Projects", description = "Groups of inboxes."),
        (name = "Inboxes", description = "Where mail is caught."),
        (name = "Messages", description = "What was caught."),
        (name = "Checks", description = "What is to be said of a message."),
        (name = "Webhooks", description = "Who is told of what was caught."),
        (name = "Mocks", description = "Stand-ins for other providers' APIs, and what was asked of them."),
        (name = "Forwarding", description = "Who gets what was caught."),
        (
            name = "Identity providers",
            description = "Where applications under test sign in: mock providers and their users."
        ),
        (name = "People", description = "Who is signed in."),
        (name = "Team", description = "The team itself and its plan."),
        (name = "Service", description = "The service itself.")
    ),
    security(("apiKey" = []), ("session" = [])),
    components(schemas(
        ErrorBody,
        ValidationErrorBody,
        IssueBody,
        WaitTimeoutBody
    )),
    modifiers(&Keys)
)]
struct Base;

/// What the attributes cannot say.
struct Keys;

impl Modify for Keys {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = |description| {
            let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
            SecurityScheme::Http(scheme.description(Some(description)).build())
        };
        components.add_security_scheme("apiKey", bearer("An API key: `tl_…`."));
        let cookie = ApiKeyValue::with_description(
            "__Host-session",
            "The cookie of somebody who is signed in; without TLS it is called `trapline-<port>`.",
        );
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
        components.add_security_scheme("metricsToken", bearer("The operator's METRICS_TOKEN."));
    }
}

/// The document of every route (`OpenAPI` 3.1).
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    document(router::table())
}

/// The document of these routes.
pub(crate) fn document(routes: OpenApiRouter<Api>) -> utoipa::openapi::OpenApi {
    let base = OpenApiRouter::with_openapi(Base::openapi());
    let mut document = base.merge(routes).into_openapi();
    common::complete(&mut document);
    plain::simplify(&mut document);
    document
}

/// The document with what routes of other packages say of themselves. Requests to those are not held against it.
pub(crate) fn with_further(
    mut document: utoipa::openapi::OpenApi,
    mut further: utoipa::openapi::OpenApi,
) -> utoipa::openapi::OpenApi {
    common::complete_further(&mut further);
    plain::simplify(&mut further);
    document.merge(further);
    document
}

#[cfg(test)]
mod tests;
