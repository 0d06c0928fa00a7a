//! Tokens of providers that hand them out by OAuth 2.0 (RFC 6749): any grant of the right client gets the mock's own
//! access token, so a call is known by it however it was come by. `next` with `unauthorized` is how one expires.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde_json::{Value, json};

use crate::{Chance, MockCall, MockReply, context::CallContext, failure::Halt};

/// A JWT in place of a client's secret (RFC 7523).
const ASSERTION: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Letters of a refresh token.
const REFRESH_LETTERS: usize = 43;

/// What a provider hands out.
pub(crate) struct TokenGrant {
    /// The credential that is the access token.
    pub(crate) token: &'static str,
    /// Seconds that it holds by what the answer says; it holds until it is replaced.
    pub(crate) lifetime: u32,
    /// The grant of a request that names none; empty where one has to be named.
    pub(crate) default: &'static str,
}

/// The client that asks for a token: of Basic authentication, or a field.
pub(crate) fn client(call: &MockCall, body: &Value) -> Option<String> {
    if let Some((user, _)) = basic(call) {
        return Some(user);
    }
    body.get("client_id").and_then(Value::as_str).map(str::to_owned)
}

/// The secret of the client that asks for a token.
pub(crate) fn client_secret(call: &MockCall, body: &Value) -> Option<String> {
    let field = || body.get("client_secret").and_then(Value::as_str).map(str::to_owned);
    basic(call).map(|(_, password)| password).or_else(field)
}

/// User name and password of Basic authentication (RFC 7617).
pub(crate) fn basic(call: &MockCall) -> Option<(String, String)> {
    let authorization = call.header("authorization")?;
    let (word, text) = authorization.split_once(' ')?;
    word.eq_ignore_ascii_case("basic").then_some(())?;
    let text = String::from_utf8(BASE64.decode(text.trim().as_bytes()).ok()?).ok()?;
    let (user, password) = text.split_once(':').unwrap_or((&text, ""));
    Some((user.to_owned(), password.to_owned()))
}

/// Who made the assertion of a request, which is not verified.
pub(crate) fn issuer(body: &Value) -> Option<String> {
    (body.get("grant_type")? == ASSERTION).then_some(())?;
    let claims = body.get("assertion")?.as_str()?.split('.').nth(1)?;
    let claims = BASE64URL_NOPAD.decode(claims.trim_end_matches('=').as_bytes()).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims["iss"].as_str().map(str::to_owned)
}

/// The answer to a request for a token, of which it is known already that the client is the right one.
#[expect(clippy::unnecessary_wraps, reason = "what a handler answers")]
pub(crate) fn token(context: &CallContext<'_>, grant: &TokenGrant) -> Result<MockReply, Halt> {
    let wanted = context.text("grant_type").unwrap_or_else(|| grant.default.to_owned());
    let needed = match wanted.as_str() {
        "client_credentials" => None,
        "authorization_code" => Some("code"),
        "refresh_token" => Some("refresh_token"),
        ASSERTION => Some("assertion"),
        "" => return Ok(refused("invalid_request", "grant_type is missing")),
        _ => return Ok(refused("unsupported_grant_type", "the grant is not supported")),
    };
    if let Some(field) = needed.filter(|field| context.text(field).is_none()) {
        return Ok(refused("invalid_request", &format!("{field} is missing")));
    }
    let access = context.mock.credentials.get(grant.token).cloned().unwrap_or_default();
    let refresh = Chance::of_text(&format!("{access} refresh")).base62(REFRESH_LETTERS);
    let mut body = json!({
        "access_token": access, "token_type": "Bearer", "expires_in": grant.lifetime,
        "scope": context.text("scope").unwrap_or_default(),
    });
    if matches!(wanted.as_str(), "authorization_code" | "refresh_token") {
        body["refresh_token"] = json!(refresh);
    }
    Ok(MockReply::ok(&body).with("cache-control", "no-store"))
}

/// The answer where the client is not the mock's.
pub(crate) fn invalid_client() -> MockReply {
    let body = json!({"error": "invalid_client", "error_description": "the client is not known"});
    MockReply::json(401, &body)
}

fn refused(error: &str, description: &str) -> MockReply {
    MockReply::json(400, &json!({"error": error, "error_description": description}))
}
