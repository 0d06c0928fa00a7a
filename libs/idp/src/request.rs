//! Authorization requests (RFC 6749, section 4.1.1; `OpenID` Connect Core, section 3.1.2.1).

use serde_json::Value;
use trapline_app::{FaultProtocol, FaultUse, IdpHandle};
use trapline_model::IdpClientType;

use crate::{
    failure::OauthRefusal, jwt, params::RequestParams, redirect::ResponseMode, state::IdpState,
    tokens::ID_TOKEN,
};

/// Bytes of a value that is echoed.
const MAX_ECHO: usize = 4 * 1024;
const MAX_SCOPES: usize = 100;
const MAX_RESOURCES: usize = 5;

/// Where the answer goes.
#[derive(Debug, Clone)]
pub(crate) struct ReturnAddress {
    pub(crate) redirect_uri: String,
    pub(crate) mode: ResponseMode,
    pub(crate) state: Option<String>,
}

/// What somebody may be asked (`OpenID` Connect Core, section 3.1.2.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// Nothing.
    pub(crate) is_none: bool,
    /// Who it is, whoever is signed in.
    pub(crate) is_asked: bool,
}

/// A request that can be answered.
#[derive(Debug, Clone)]
pub(crate) struct AuthRequest {
    pub(crate) scope: Vec<String>,
    pub(crate) nonce: Option<String>,
    pub(crate) acr: Option<String>,
    pub(crate) challenge: Option<String>,
    pub(crate) prompt: Prompt,
    /// Seconds since a sign-in that is still good.
    pub(crate) max_age: Option<i64>,
    pub(crate) login_hint: Option<String>,
    /// What is to go wrong with this sign-in alone.
    pub(crate) fault: Option<FaultUse>,
    /// The subject of an ID token that the request brought.
    pub(crate) hinted_subject: Option<String>,
    pub(crate) resource: Vec<String>,
    pub(crate) claims: WantedClaims,
}

/// Who is wanted, in any protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'r> {
    pub(crate) prompt: Prompt,
    /// Seconds since a sign-in that is still good.
    pub(crate) max_age: Option<i64>,
    /// A mail address or a subject.
    pub(crate) login_hint: Option<&'r str>,
    /// The subject of somebody who was signed in before.
    pub(crate) hinted_subject: Option<&'r str>,
}

/// What the parameter `claims` asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct WantedClaims {
    /// Names of claims in the ID token.
    pub(crate) id_token: Vec<String>,
    /// Names of claims from user info.
    pub(crate) userinfo: Vec<String>,
    /// The only subjects that may be signed in; empty is any.
    pub(crate) subjects: Vec<String>,
}

/// Where the answer goes. What is wrong here is told to whoever looks at the browser, and never by a
/// redirect (RFC 6749, section 4.1.2.1).
pub(crate) fn return_address(
    provider: &IdpHandle,
    params: &RequestParams,
) -> Result<ReturnAddress, OauthRefusal> {
    let refuse = |hint: String| Err(OauthRefusal::new("invalid_request", hint));
    for name in ["client_id", "redirect_uri"] {
        if params.is_repeated(name) {
            return refuse(format!("the parameter {name} is there more than once"));
        }
    }
    let client = params.required("client_id")?;
    if client != provider.settings.client_id {
        let known = &provider.settings.client_id;
        return refuse(format!("the client is {known}, and not {client:?}"));
    }
    let uri = params.required("redirect_uri")?;
    if !provider.redirects_to(uri) {
        return refuse(unregistered(uri, &provider.settings.redirect_uris, "redirectUris"));
    }
    // Where the mode itself is wrong, the answer goes the usual way.
    let mode = params.get("response_mode").and_then(ResponseMode::named).unwrap_or_default();
    let state = params.get("state").filter(|state| state.len() <= MAX_ECHO).map(str::to_owned);
    Ok(ReturnAddress { redirect_uri: uri.to_owned(), mode, state })
}

/// What came, what is registered, and where they first differ.
pub(crate) fn unregistered(uri: &str, registered: &[String], field: &str) -> String {
    let common =
        |known: &&String| known.bytes().zip(uri.bytes()).take_while(|(a, b)| a == b).count();
    match registered.iter().max_by_key(common) {
        None => format!("{uri} is not registered, since {field} is empty"),
        Some(nearest) => {
            let place = common(&nearest) + 1;
            let all = registered.join(", ");
            format!(
                "{uri} is not registered: it differs from {nearest} at character {place}; \
                 {field} has {all}"
            )
        }
    }
}

impl AuthRequest {
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        Wanted {
            prompt: self.prompt,
            max_age: self.max_age,
            login_hint: self.login_hint.as_deref(),
            hinted_subject: self.hinted_subject.as_deref(),
        }
    }

    pub(crate) fn of(
        idp: &IdpState,
        provider: &IdpHandle,
        params: &RequestParams,
    ) -> Result<Self, OauthRefusal> {
        params.once_each()?;
        check_refused(params)?;
        check_response(params)?;
        let (login_hint, fault) = hint_and_fault(params, FaultProtocol::Oidc)?;
        Ok(Self {
            scope: scope(params)?,
            nonce: echoed(params, "nonce")?,
            acr: echoed(params, "acr_values")?
                .and_then(|values| values.split(' ').next().map(str::to_owned)),
            challenge: challenge(provider, params)?,
            prompt: prompt(params)?,
            max_age: max_age(params)?,
            login_hint,
            fault,
            hinted_subject: hinted_subject(idp, provider, params)?,
            resource: resource(params)?,
            claims: claims(params)?,
        })
    }
}

/// What a provider may leave out, and this one does (`OpenID` Connect Core, section 3.1.2.6).
fn check_refused(params: &RequestParams) -> Result<(), OauthRefusal> {
    for (name, code) in [
        ("request", "request_not_supported"),
        ("request_uri", "request_uri_not_supported"),
        ("registration", "registration_not_supported"),
    ] {
        if params.get(name).is_some() {
            return Err(OauthRefusal::new(
                code,
                format!("the parameter {name} is not supported here"),
            ));
        }
    }
    echoed(params, "state").map(drop)
}

fn check_response(params: &RequestParams) -> Result<(), OauthRefusal> {
    let kind = params.required("response_type")?;
    if kind != "code" {
        let hint = format!("response_type must be code, and is {kind}");
        return Err(OauthRefusal::new("unsupported_response_type", hint));
    }
    let mode = params.get("response_mode");
    if mode.is_some_and(|mode| ResponseMode::named(mode).is_none()) {
        let hint = "response_mode must be query, fragment or form_post";
        return Err(OauthRefusal::new("invalid_request", hint));
    }
    Ok(())
}

fn echoed(params: &RequestParams, name: &str) -> Result<Option<String>, OauthRefusal> {
    match params.get(name) {
        Some(value) if value.len() > MAX_ECHO => {
            Err(OauthRefusal::new("invalid_request", format!("{name} must have at most 4 KiB")))
        }
        value => Ok(value.map(str::to_owned)),
    }
}

/// Tokens of RFC 6749, section 3.3, each once.
pub(crate) fn scope(params: &RequestParams) -> Result<Vec<String>, OauthRefusal> {
    let mut found: Vec<String> = Vec::new();
    for name in params.get("scope").unwrap_or_default().split(' ').filter(|it| !it.is_empty()) {
        let is_taken = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        if !name.bytes().all(is_taken) {
            return Err(OauthRefusal::new(
                "invalid_scope",
                "a scope has a character that none may have",
            ));
        }
        if !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    if found.len() > MAX_SCOPES {
        return Err(OauthRefusal::new("invalid_scope", "there are more than 100 scopes"));
    }
    Ok(found)
}

/// A code challenge (RFC 7636, section 4.3); plain ones protect nothing (RFC 9700, section 2.1.1).
fn challenge(provider: &IdpHandle, params: &RequestParams) -> Result<Option<String>, OauthRefusal> {
    let refuse = |hint: &str| Err(OauthRefusal::new("invalid_request", hint));
    let method = params.get("code_challenge_method");
    let Some(challenge) = params.get("code_challenge") else {
        if method.is_some() {
            return refuse("code_challenge_method came without code_challenge");
        }
        if provider.settings.client_type == IdpClientType::Public {
            return refuse("a public client must send code_challenge (PKCE)");
        }
        return Ok(None);
    };
    if method != Some("S256") {
        return refuse("code_challenge_method must be S256");
    }
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if challenge.len() != 43 || !challenge.bytes().all(is_known) {
        return refuse("code_challenge must be a SHA-256 in base64url, which has 43 characters");
    }
    Ok(Some(challenge.to_owned()))
}

fn prompt(params: &RequestParams) -> Result<Prompt, OauthRefusal> {
    let mut prompt = Prompt::default();
    for word in params.get("prompt").unwrap_or_default().split(' ').filter(|it| !it.is_empty()) {
        match word {
            "none" => prompt.is_none = true,
            "login" | "consent" | "select_account" => prompt.is_asked = true,
            other => {
                let hint =
                    format!("prompt must be none, login, consent or select_account, not {other}");
                return Err(OauthRefusal::new("invalid_request", hint));
            }
        }
    }
    if prompt.is_none && prompt.is_asked {
        return Err(OauthRefusal::new("invalid_request", "prompt=none goes with no other value"));
    }
    Ok(prompt)
}

fn max_age(params: &RequestParams) -> Result<Option<i64>, OauthRefusal> {
    let Some(text) = params.get("max_age") else { return Ok(None) };
    let seconds = text.parse::<u32>().map_err(|_| {
        OauthRefusal::new(
            "invalid_request",
            format!("max_age must be a number of seconds, not {text}"),
        )
    })?;
    Ok(Some(seconds.into()))
}

/// The subject of `id_token_hint`, whose time may be over.
fn hinted_subject(
    idp: &IdpState,
    provider: &IdpHandle,
    params: &RequestParams,
) -> Result<Option<String>, OauthRefusal> {
    let Some(token) = params.get("id_token_hint") else { return Ok(None) };
    let claims = jwt::verified(idp, provider, ID_TOKEN, token);
    let subject = claims.and_then(|claims| claims.get("sub")?.as_str().map(str::to_owned));
    let refusal =
        || OauthRefusal::new("invalid_request", "id_token_hint is no ID token of this provider");
    subject.ok_or_else(refusal).map(Some)
}

/// Whom access tokens are for (RFC 8707, section 2), or by the older name that many clients use.
pub(crate) fn resource(params: &RequestParams) -> Result<Vec<String>, OauthRefusal> {
    let named = params.all("resource");
    let is_absolute = |uri: &String| {
        let scheme = uri.split(':').next().unwrap_or_default();
        let is_scheme = scheme.len() < uri.len()
            && scheme.starts_with(|it: char| it.is_ascii_alphabetic())
            && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it));
        is_scheme && !uri.contains('#')
    };
    if named.len() > MAX_RESOURCES || !named.iter().all(is_absolute) {
        let hint = "resource must be at most 5 absolute URIs without a fragment";
        return Err(OauthRefusal::new("invalid_target", hint));
    }
    if named.is_empty() {
        return Ok(echoed(params, "audience")?.into_iter().collect());
    }
    Ok(named)
}

/// The names of claims in `claims` (`OpenID` Connect Core, section 5.5) for ID token and user info, and the
/// subjects that it admits.
fn claims(params: &RequestParams) -> Result<WantedClaims, OauthRefusal> {
    let Some(text) = echoed(params, "claims")? else { return Ok(<_>::default()) };
    let refusal = |hint: &str| OauthRefusal::new("invalid_request", hint);
    let value: Value =
        serde_json::from_str(&text).map_err(|_| refusal("claims must be a JSON object"))?;
    let members = value.as_object().ok_or_else(|| refusal("claims must be a JSON object"))?;
    let names = |part: &str| -> Vec<String> {
        let members = members.get(part).and_then(Value::as_object);
        members.into_iter().flat_map(|it| it.keys().cloned()).collect()
    };
    let subject = members.get("id_token").and_then(|it| it.get("sub"));
    let one = subject.and_then(|it| it.get("value")).into_iter();
    let several = subject.and_then(|it| it.get("values")?.as_array()).into_iter().flatten();
    let subjects = one.chain(several).filter_map(|it| it.as_str().map(str::to_owned));
    Ok(WantedClaims {
        id_token: names("id_token"),
        userinfo: names("userinfo"),
        subjects: subjects.collect(),
    })
}

/// A hint of `fault:<scenario>[=<value>][;<hint>]` passes through applications that only hand a hint on;
/// `mock_fault` says the same without it.
pub(crate) fn hint_and_fault(
    params: &RequestParams,
    protocol: FaultProtocol,
) -> Result<(Option<String>, Option<FaultUse>), OauthRefusal> {
    let hint = echoed(params, "login_hint")?;
    let (text, hint) = match hint.as_deref().and_then(|hint| hint.strip_prefix("fault:")) {
        Some(text) => match text.split_once(';') {
            Some((text, hint)) => (Some(text.to_owned()), Some(hint.to_owned())),
            None => (Some(text.to_owned()), None),
        },
        None => (params.get("mock_fault").map(str::to_owned), hint),
    };
    let Some(text) = text else { return Ok((hint, None)) };
    let fault = FaultUse::of_request(&text, protocol);
    let unknown = || {
        let words = format!("{text} is no fault of a sign-in that GET /api/idp-faults lists");
        OauthRefusal::new("invalid_request", words)
    };
    Ok((hint, Some(fault.ok_or_else(unknown)?)))
}
