//! Answers that a browser takes back to the application.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use trapline_app::IdpHandle;

use crate::{
    failure::{EndpointFailure, OauthRefusal, visible},
    page::sending,
    params::encode,
    request::ReturnAddress,
};

/// How the answer is passed (OAuth 2.0 Multiple Response Type Encoding Practices, section 2.1; OAuth 2.0
/// Form Post Response Mode).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ResponseMode {
    #[default]
    Query,
    Fragment,
    FormPost,
}

impl ResponseMode {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "query" => Some(Self::Query),
            "fragment" => Some(Self::Fragment),
            "form_post" => Some(Self::FormPost),
            _ => None,
        }
    }
}

impl ReturnAddress {
    /// Sends the browser back with a code.
    pub(crate) fn with_code(&self, provider: &IdpHandle, code: String) -> Response {
        self.with(provider, vec![("code".to_owned(), code)])
    }

    /// Sends the browser back with an error (RFC 6749, section 4.1.2.1).
    pub(crate) fn with_error(&self, provider: &IdpHandle, refusal: &OauthRefusal) -> Response {
        let error = ("error".to_owned(), refusal.code.to_owned());
        self.with(provider, vec![error, ("error_description".to_owned(), visible(&refusal.hint))])
    }

    fn with(&self, provider: &IdpHandle, mut fields: Vec<(String, String)>) -> Response {
        if let Some(state) = &self.state {
            fields.push(("state".to_owned(), state.clone()));
        }
        // RFC 9207, section 2.
        fields.push(("iss".to_owned(), provider.issuer.clone()));
        let query = encode(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let is_web = self.redirect_uri.starts_with("http");
        match self.mode {
            ResponseMode::FormPost if is_web => sending(&self.redirect_uri, &fields),
            ResponseMode::Fragment => see_other(&format!("{}#{query}", self.redirect_uri)),
            ResponseMode::Query | ResponseMode::FormPost => {
                see_other(&with_query(&self.redirect_uri, &query))
            }
        }
    }
}

/// An address with more parameters.
pub(crate) fn with_query(uri: &str, query: &str) -> String {
    let separator = match uri.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{uri}{separator}{query}")
}

/// 303, so that a form that was posted here is not posted again (RFC 9700, section 4.12).
pub(crate) fn see_other(to: &str) -> Response {
    let Ok(location) = HeaderValue::try_from(to) else {
        return EndpointFailure::Internal.into_response();
    };
    let fixed = HeaderValue::from_static;
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, fixed("no-store")),
        (header::REFERRER_POLICY, fixed("no-referrer")),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
