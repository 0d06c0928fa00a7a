//! Query strings.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, schema::Type};

use super::contract::{CheckedRequest, typed};
use crate::error::{Error, Result};

/// The query's parameters, which were held against the document before.
pub(crate) struct Params<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let taken = parts.extensions.get::<CheckedRequest>().ok_or(Error::Undescribed)?;
        typed(Value::Object(taken.query.clone())).map(Self)
    }
}

/// Whether a query string has one of these parameters.
pub(crate) fn has_parameter(query: Option<&str>, names: &[&str]) -> bool {
    let query = query.unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| names.contains(&&*name))
}

/// On or off. A query may say it in digits too: `1` or `0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "bool")]
pub(crate) enum Flag {
    On,
    #[default]
    Off,
}

impl From<bool> for Flag {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

impl Flag {
    pub(crate) fn on(self) -> bool {
        self == Self::On
    }
}

impl utoipa::PartialSchema for Flag {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Boolean).into()
    }
}

impl utoipa::ToSchema for Flag {}

#[cfg(test)]
mod tests;
