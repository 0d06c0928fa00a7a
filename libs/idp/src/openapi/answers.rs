//! What the endpoints answer as JSON.

use super::fields::{
    Field,
    FieldKind::{Boolean, Integer, Objects, Texts},
    described,
};

/// Of RFC 6749, section 5.2.
const ERROR: [Field; 2] = [
    Field::text("error", "The code of the standard, such as `invalid_request`.").required(),
    Field::text("error_description", "What was expected and what came; for people."),
];

const CHALLENGE: [Field; 2] = [
    Field::text("error", "Left out where no token came (RFC 6750, section 3.1)."),
    Field::text("error_description", "What was expected and what came; for people."),
];

const fn endpoint(name: &'static str, description: &'static str) -> Field {
    Field::text(name, description).required()
}

const fn list(name: &'static str, description: &'static str) -> Field {
    Field::text(name, description).of(Texts).required()
}

const fn flag(name: &'static str, description: &'static str) -> Field {
    Field::text(name, description).of(Boolean).required()
}

const METADATA: [Field; 24] = [
    endpoint("issuer", "The provider: `<base URL>/idp/<slug>`."),
    endpoint("authorization_endpoint", "Where sign-ins begin."),
    endpoint("token_endpoint", "Where codes become tokens."),
    endpoint("userinfo_endpoint", "Where claims about a user are."),
    endpoint("jwks_uri", "Where the public keys are."),
    endpoint("introspection_endpoint", "Where a token's worth is told (RFC 7662)."),
    endpoint("revocation_endpoint", "Where a token is ended (RFC 7009)."),
    endpoint("end_session_endpoint", "Where a session is ended."),
    list("scopes_supported", "Scopes that mean something; others are granted too."),
    list("response_types_supported", "`code` alone."),
    list("response_modes_supported", "How an answer may be passed."),
    list("grant_types_supported", "What tokens may be asked for with."),
    list("code_challenge_methods_supported", "`S256` alone."),
    list("prompt_values_supported", "What `prompt` may say."),
    list("subject_types_supported", "`public` alone."),
    list("id_token_signing_alg_values_supported", "By which algorithms ID tokens may be signed."),
    list("token_endpoint_auth_methods_supported", "How the client may show who it is."),
    list("revocation_endpoint_auth_methods_supported", "The same for revocation."),
    list("introspection_endpoint_auth_methods_supported", "The same for introspection."),
    list("claims_supported", "Claims that there may be."),
    flag("claims_parameter_supported", "True."),
    flag("request_parameter_supported", "False."),
    flag("request_uri_parameter_supported", "False."),
    flag("authorization_response_iss_parameter_supported", "True (RFC 9207)."),
];

const KEYS: [Field; 1] = [Field::text(
    "keys",
    "Public keys, the one that signs first; after a rotation the old ones too, while what they signed may be good.",
)
.of(Objects)
.required()];

const TOKENS: [Field; 6] = [
    Field::text("access_token", "A JWT (RFC 9068).").required(),
    Field::text("token_type", "`Bearer`.").required(),
    Field::text("expires_in", "Seconds: the provider's `tokenTtl`.").of(Integer).required(),
    Field::text("scope", "What was granted.").required(),
    Field::text("id_token", "A JWT about the user, with the scope `openid`."),
    Field::text(
        "refresh_token",
        "With the scope `offline_access`, or where the provider always gives one.",
    ),
];

const USER: [Field; 7] = [
    Field::text("sub", "The user's subject.").required(),
    Field::text("name", "With the scope `profile`."),
    Field::text("preferred_username", "The mail address, with the scope `profile`."),
    Field::text("updated_at", "Seconds since 1970, with the scope `profile`.").of(Integer),
    Field::text("email", "With the scope `email`."),
    Field::text("email_verified", "True, with the scope `email`.").of(Boolean),
    Field::text("groups", "The user's groups.").of(Texts),
];

const INTROSPECTION: [Field; 9] = [
    Field::text("active", "Whether the token is good; where it is not, nothing else is told.")
        .of(Boolean)
        .required(),
    Field::text("scope", "What was granted."),
    Field::text("client_id", "The client that it was given to."),
    Field::text("username", "The user's mail address."),
    Field::text("token_type", "`Bearer`, of an access token."),
    Field::text("exp", "When it ends, in seconds since 1970.").of(Integer),
    Field::text("iat", "When it was given, in seconds since 1970.").of(Integer),
    Field::text("sub", "The user's subject, or the client."),
    Field::text("iss", "The provider."),
];

described! {
    /// A request that is not answered as it hoped (RFC 6749, section 5.2).
    OauthError = ERROR;
    /// A request without a good access token (RFC 6750, section 3).
    BearerChallenge = CHALLENGE;
    /// What the provider can do (`OpenID` Connect Discovery 1.0, section 3; RFC 8414, section 2).
    ProviderMetadata = METADATA;
    /// Public keys (RFC 7517, section 5).
    JsonWebKeySet = KEYS;
    /// Tokens (RFC 6749, section 5.1).
    TokenSet = TOKENS;
    /// Claims about the user as it is now, its own `claims` among them (`OpenID` Connect Core, section 5.3.2).
    UserInfo = USER;
    /// What a token is worth (RFC 7662, section 2.2).
    TokenState = INTROSPECTION;
}
