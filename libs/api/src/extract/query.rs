//! Query strings.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, schema::Type};

use super::contract::{self, Rule};
use crate::error::{Error, Result};

/// Query parameters that keep to their type's schema; unknown and repeated ones are refused.
pub(crate) struct Params<T>(pub T);

impl<S, T> FromRequestParts<S> for Params<T>
where
    S: Sync,
    T: DeserializeOwned + utoipa::IntoParams + 'static,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        read(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

fn read<T: DeserializeOwned + utoipa::IntoParams + 'static>(query: &str) -> Result<T> {
    let rule = contract::of::<T>(Rule::of_query::<T>);
    let mut members = Map::new();
    for (name, text) in form_urlencoded::parse(query.as_bytes()) {
        let value = rule.of_text(&name, text.into_owned());
        if members.insert(name.clone().into_owned(), value).is_some() {
            return Err(Error::invalid(&name, "repeated", "is given more than once"));
        }
    }
    rule.read(Value::Object(members))
}

/// Whether a query string has one of these parameters.
pub(crate) fn has_parameter(query: Option<&str>, names: &[&str]) -> bool {
    let query = query.unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| names.contains(&&*name))
}

/// On or off, in the ways that people write it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Flag {
    #[serde(rename = "true", alias = "1")]
    On,
    #[default]
    #[serde(rename = "false", alias = "0")]
    Off,
}

impl Flag {
    pub(crate) fn on(self) -> bool {
        self == Self::On
    }
}

impl utoipa::PartialSchema for Flag {
    fn schema() -> RefOr<Schema> {
        let words = ["true", "1", "false", "0"];
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
    }
}

impl utoipa::ToSchema for Flag {}

#[cfg(test)]
mod tests;
