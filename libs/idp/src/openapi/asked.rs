//! What the endpoints are asked with. They leave alone what is not listed (RFC 6749, section 3.1), as
//! applications send more.

use super::fields::{Field, FieldKind::OneOf, described};

const CLIENT_ID: Field =
    Field::text("client_id", "The provider's `clientId`, where HTTP Basic does not say it.");
const CLIENT_SECRET: Field = Field::text(
    "client_secret",
    "The provider's `clientSecret`, where HTTP Basic does not say it.",
);
const UI_LOCALES: Field = Field::text("ui_locales", "Accepted, and ignored.");

const AUTHORIZE: [Field; 21] = [
    Field::text("client_id", "The provider's `clientId`.").required(),
    Field::text(
        "redirect_uri",
        "One of the provider's `redirectUris`, byte for byte; only the port of a loopback address may differ.",
    )
    .required(),
    Field::text("response_type", "`code` alone.").of(OneOf(&["code"])).required(),
    Field::text("response_mode", "How the answer is passed; `query` when left out.")
        .of(OneOf(&["query", "fragment", "form_post"])),
    Field::text("scope", "Up to 100 scopes with blanks between; with `openid` there is an ID token."),
    Field::text("state", "Comes back as it is; at most 4 KiB."),
    Field::text("nonce", "Is in the ID token as it is; at most 4 KiB."),
    Field::text(
        "code_challenge",
        "The SHA-256 of a `code_verifier` in base64url, 43 characters (RFC 7636).",
    ),
    Field::text("code_challenge_method", "`S256`, with `code_challenge`.").of(OneOf(&["S256"])),
    Field::text("prompt", "`none`, or some of `login`, `consent` and `select_account`."),
    Field::text("max_age", "Seconds since a sign-in that is still good."),
    Field::text(
        "login_hint",
        "A test user's mail address or subject; or `fault:<scenario>[=<value>][;<hint>]`, which asks for a fault.",
    ),
    Field::text("id_token_hint", "An ID token of this provider, however old."),
    Field::text("claims", "A JSON object of single claims (OpenID Connect Core, section 5.5); at most 4 KiB."),
    Field::text("acr_values", "The first of them is in the ID token as `acr`; at most 4 KiB."),
    Field::text(
        "resource",
        "Whom the access token is for (RFC 8707): an absolute URI without a fragment. May be there five times.",
    ),
    Field::text("audience", "The older name of `resource`."),
    Field::text("mock_fault", "A fault for this sign-in alone: `<scenario>[=<value>]` of `GET /api/idp-faults`."),
    Field::text("display", "Accepted, and ignored."),
    UI_LOCALES,
    Field::text("claims_locales", "Accepted, and ignored."),
];

const LOGIN_PAGE: [Field; 3] = [
    Field::text("rid", "The sign-in that waits.").required(),
    Field::text("q", "A part of the mail addresses or names that are shown."),
    Field::text("page", "The number of the page of 50 users; 1 when left out."),
];

const LOGIN_CHOICE: [Field; 3] = [
    Field::text("rid", "The sign-in that waits.").required(),
    Field::text("user", "The id of the test user who was chosen."),
    Field::text("deny", "Anything, where nobody is to be signed in."),
];

const TOKEN: [Field; 9] = [
    Field::text("grant_type", "What the tokens are asked for with.")
        .of(OneOf(&["authorization_code", "refresh_token", "client_credentials"]))
        .required(),
    Field::text("code", "The code, which is good for 60 seconds and once."),
    Field::text("redirect_uri", "The one that the code was sent to."),
    Field::text("code_verifier", "What `code_challenge` was made of (RFC 7636, section 4.5)."),
    Field::text("refresh_token", "The newest refresh token of a sign-in."),
    Field::text(
        "scope",
        "Of a refresh no more than was granted; of `client_credentials` any but `openid`.",
    ),
    Field::text("resource", "Whom the access token of `client_credentials` is for (RFC 8707)."),
    CLIENT_ID,
    CLIENT_SECRET,
];

const ACCESS_TOKEN: [Field; 1] = [Field::text(
    "access_token",
    "The access token, where the header does not have it (RFC 6750, section 2.2).",
)];

const ONE_TOKEN: [Field; 4] = [
    Field::text("token", "An access token or a refresh token.").required(),
    Field::text("token_type_hint", "Accepted, and ignored."),
    CLIENT_ID,
    CLIENT_SECRET,
];

const LOGOUT: [Field; 7] = [
    Field::text(
        "id_token_hint",
        "An ID token of this provider, however old. Without one somebody is asked.",
    ),
    Field::text("client_id", "The provider's `clientId`."),
    Field::text(
        "post_logout_redirect_uri",
        "One of the provider's `postLogoutRedirectUris`, byte for byte.",
    ),
    Field::text("state", "Comes back as it is."),
    Field::text("confirmed", "Anything, where the provider's own page asked."),
    Field::text("logout_hint", "Accepted, and ignored."),
    UI_LOCALES,
];

const RELAY_STATE: Field = Field::text("RelayState", "Comes back as it is; at most 4,096 bytes.");

const SAML_SSO: [Field; 5] = [
    Field::text(
        "SAMLRequest",
        "An AuthnRequest in base64, deflated where it is in the query; at most 64 KiB, and 128 KiB as XML. \
         A query without one begins the sign-in here.",
    ),
    RELAY_STATE,
    Field::text("SAMLEncoding", "The URN of DEFLATE; of a query."),
    Field::text("login_hint", "As in an authorization request."),
    Field::text("mock_fault", "As in an authorization request."),
];

const SAML_SLO: [Field; 4] = [
    Field::text("SAMLRequest", "A LogoutRequest in base64, deflated where it is in the query."),
    Field::text("SAMLResponse", "A LogoutResponse in the same form."),
    RELAY_STATE,
    Field::text("SAMLEncoding", "The URN of DEFLATE; of a query."),
];

described! {
    /// An authorization request (`OpenID` Connect Core, section 3.1.2.1).
    AuthorizationRequest = AUTHORIZE;
    /// Which users are shown for a sign-in that waits.
    LoginPage = LOGIN_PAGE;
    /// Who is to be signed in.
    LoginChoice = LOGIN_CHOICE;
    /// A token request (RFC 6749, sections 4.1.3, 4.4.2 and 6).
    TokenForm = TOKEN;
    /// A request for user info.
    UserInfoForm = ACCESS_TOKEN;
    /// A token to be looked at or to be ended (RFC 7662, section 2.1; RFC 7009, section 2.1).
    TokenQuestion = ONE_TOKEN;
    /// A logout request (RP-Initiated Logout 1.0, section 2).
    LogoutQuestion = LOGOUT;
    /// A sign-in by SAML (saml-bindings, sections 3.4 and 3.5).
    SamlSignIn = SAML_SSO;
    /// A logout by SAML (saml-profiles, section 4.4).
    SamlLogout = SAML_SLO;
}
