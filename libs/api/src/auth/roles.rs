//! Extractors for people who have a role in the team.

use axum::{extract::FromRequestParts, http::request::Parts};
use trapline_app::Forbidden;
use trapline_model::{Principal, Role};

use super::callers::{person, principal, refused};
use crate::error::{Error, Result};

/// A signed-in person, acting for a team.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Teammate(pub Principal);

/// A signed-in person who decides about the team's people, keys and settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admin(pub Principal);

/// A signed-in person who decides about the team itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TeamOwner(pub Principal);

/// A signed-in person whose role in the team is at least this one.
fn with_role(parts: &Parts, least: Role, otherwise: Forbidden) -> Result<Principal> {
    person(parts)?;
    let by = principal(parts)?;
    if by.role >= least { Ok(by) } else { refused(otherwise) }
}

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        with_role(parts, Role::Admin, Forbidden::AdminRequired).map(Self)
    }
}

impl<S: Sync> FromRequestParts<S> for Teammate {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        with_role(parts, Role::Member, Forbidden::PersonRequired).map(Self)
    }
}

impl<S: Sync> FromRequestParts<S> for TeamOwner {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        with_role(parts, Role::Owner, Forbidden::OwnerRequired).map(Self)
    }
}
