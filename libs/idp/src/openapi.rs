//! What the document of the API says of these endpoints. Each handler describes itself; what all of them have in
//! common is added here.

mod answers;
mod asked;
mod fields;

use utoipa::{
    PartialSchema as _, ToSchema as _,
    openapi::{
        ContentBuilder, Header, ObjectBuilder, OpenApi, Ref, RefOr, Required, Response,
        ResponseBuilder,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn},
        schema::Type,
        security::SecurityRequirement,
        tag::TagBuilder,
    },
};

pub(crate) use answers::{
    BearerChallenge, JsonWebKeySet, OauthError, ProviderMetadata, TokenSet, TokenState, UserInfo,
};
pub(crate) use asked::{
    AuthorizationRequest, LoginChoice, LoginPage, LogoutQuestion, SamlLogout, SamlSignIn,
    TokenForm, TokenQuestion, UserInfoForm,
};

const TAG: &str = "Identity provider protocol";

/// An answer of several endpoints: its status, name, description, and whether it says when to try again.
type SharedAnswer = (&'static str, &'static str, &'static str, bool);

const TOO_LARGE: &str = "413";
const SHARED: [SharedAnswer; 5] = [
    ("404", "ProtocolNotFound", "There is no provider of this slug (`not_found`).", false),
    (TOO_LARGE, "ProtocolTooLarge", "The body is over 1 MiB (`invalid_request`).", false),
    (
        "429",
        "ProtocolTooMany",
        "The provider's allowance of requests is used up (`temporarily_unavailable`).",
        true,
    ),
    (
        "500",
        "ProtocolFailure",
        "A fault of the service, or one that somebody asked for (`server_error`).",
        false,
    ),
    ("503", "ProtocolUnavailable", "Not now; try again (`temporarily_unavailable`).", true),
];

/// Adds to every operation what it has in common with the others.
pub(crate) fn complete(document: &mut OpenApi) {
    let description =
        "The endpoints of mock identity providers, as applications under test call them.";
    document.tags = Some(vec![TagBuilder::new().name(TAG).description(Some(description)).build()]);
    let components = document.components.get_or_insert_default();
    components.schemas.insert(OauthError::name().into_owned(), OauthError::schema());
    for (_, name, description, is_temporary) in SHARED {
        let response = shared(description, is_temporary);
        components.responses.insert(name.to_owned(), response.into());
    }
    for item in document.paths.paths.values_mut() {
        [&mut item.get, &mut item.post].into_iter().flatten().for_each(describe);
    }
}

fn shared(description: &str, is_temporary: bool) -> Response {
    let schema = Ref::from_schema_name(OauthError::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response =
        ResponseBuilder::new().description(description).content("application/json", content);
    if !is_temporary {
        return response.build();
    }
    let mut after = Header::new(ObjectBuilder::new().schema_type(Type::String).build());
    after.description = Some("Seconds until the next try can succeed.".to_owned());
    response.header("Retry-After", after).build()
}

fn describe(operation: &mut Operation) {
    operation.tags = Some(vec![TAG.to_owned()]);
    // Whoever asks shows who it is as the protocols say, and not as somebody who calls the API.
    operation.security = Some(vec![SecurityRequirement::default()]);
    operation.parameters.get_or_insert_default().insert(0, slug());
    let has_body = operation.request_body.is_some();
    for (status, name, ..) in SHARED.iter().filter(|it| has_body || it.0 != TOO_LARGE) {
        let shared = RefOr::Ref(Ref::from_response_name(*name));
        operation.responses.responses.entry((*status).to_owned()).or_insert(shared);
    }
}

fn slug() -> RefOr<Parameter> {
    let text = ObjectBuilder::new().schema_type(Type::String).examples(["6f1c9a04b7d25e"]);
    let parameter = ParameterBuilder::new()
        .name("slug")
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some("The provider's `slug`."))
        .schema(Some(text.build()));
    parameter.build().into()
}

#[cfg(test)]
mod tests;
