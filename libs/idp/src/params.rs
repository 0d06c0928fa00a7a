//! Parameters of a query or a form.

use axum::{
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse as _,
};
use bytes::Bytes;

use crate::{
    failure::{EndpointFailure, OauthRefusal},
    state::IdpState,
};

/// The bytes of a body, whatever it was sent as. One that is over what the service takes is told so in the words
/// of the protocol.
pub(crate) struct RawBody(pub(crate) Bytes);

impl FromRequest<IdpState> for RawBody {
    type Rejection = EndpointFailure;

    async fn from_request(request: Request, idp: &IdpState) -> Result<Self, EndpointFailure> {
        let read = Bytes::from_request(request, idp).await;
        read.map(Self).map_err(|rejection| match rejection.into_response().status() {
            StatusCode::PAYLOAD_TOO_LARGE => EndpointFailure::TooLarge,
            _ => OauthRefusal::new("invalid_request", "the body broke off").into(),
        })
    }
}

/// Parameters in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestParams(Vec<(String, String)>);

impl RequestParams {
    pub(crate) fn of(encoded: &[u8]) -> Self {
        Self(form_urlencoded::parse(encoded).into_owned().collect())
    }

    /// The parameters of an address.
    pub(crate) fn of_query(query: Option<String>) -> Self {
        Self::of(query.unwrap_or_default().as_bytes())
    }

    /// The parameters of a form body.
    pub(crate) fn of_form(headers: &HeaderMap, body: &[u8]) -> Result<Self, OauthRefusal> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let essence = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let hint = "the body must be sent as application/x-www-form-urlencoded";
            return Err(OauthRefusal::new("invalid_request", hint));
        }
        if body.len() > MAX_FORM {
            return Err(OauthRefusal::new("invalid_request", "the body must have at most 64 KiB"));
        }
        Ok(Self::of(body))
    }

    /// A parameter's value. One without a value counts as left out (RFC 6749, section 3.1).
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|(known, _)| known == name);
        named.next().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Every value of a parameter.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let named = self.0.iter().filter(|(known, value)| known == name && !value.is_empty());
        named.map(|(_, value)| value.clone()).collect()
    }

    pub(crate) fn is_repeated(&self, name: &str) -> bool {
        self.0.iter().filter(|(known, _)| known == name).count() > 1
    }

    /// Refuses repeated parameters (RFC 6749, section 3.1), but for those of RFC 8707.
    pub(crate) fn once_each(&self) -> Result<(), OauthRefusal> {
        let mut names = self.0.iter().map(|(name, _)| name).filter(|name| *name != "resource");
        match names.find(|name| self.is_repeated(name)) {
            Some(name) => {
                let hint = format!("the parameter {name} is there more than once");
                Err(OauthRefusal::new("invalid_request", hint))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, OauthRefusal> {
        let missing =
            || OauthRefusal::new("invalid_request", format!("the parameter {name} is missing"));
        self.get(name).ok_or_else(missing)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// These parameters, and others behind them.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// The parameters but for these.
    pub(crate) fn without(&self, names: &[&str]) -> Self {
        let others = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        Self(others.cloned().collect())
    }

    /// The parameters as a query or a form has them.
    pub(crate) fn encoded(&self) -> String {
        encode(self.iter())
    }
}

/// Bytes of a form.
const MAX_FORM: usize = 64 * 1024;

pub(crate) fn encode<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
