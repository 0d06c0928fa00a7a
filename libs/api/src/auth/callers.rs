//! Extractors that state in a handler's signature who may call it.

use std::net::IpAddr;

use axum::{
    extract::FromRequestParts,
    http::{Method, request::Parts},
};
use trapline_app::{Error as AppError, Forbidden, Unauthenticated};
use trapline_model::Principal;

use crate::{
    error::{Error, Result},
    extract::has_parameter,
};

/// What the key or the cookie of a request, or its absence, told.
#[derive(Clone, Copy)]
pub(super) enum Identity {
    /// Nobody that is known.
    Nobody(Unauthenticated),
    /// A program.
    Key(Principal),
    /// A person.
    Person(trapline_app::SignedIn),
}

impl Identity {
    pub(super) fn principal(self) -> Result<Principal, AppError> {
        match self {
            Self::Nobody(why) => Err(AppError::Unauthenticated(why)),
            Self::Key(by) => Ok(by),
            Self::Person(who) => {
                let why =
                    if who.needs_sso() { Forbidden::SsoRequired } else { Forbidden::TeamRequired };
                who.principal().ok_or(AppError::Forbidden(why))
            }
        }
    }
}

/// Where a request comes from, on routes that anybody may ask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin(pub Option<IpAddr>);

/// Somebody who may read what is the team's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader(pub Principal);

/// Somebody who may change what is the team's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer(pub Principal);

/// Somebody who may see one message: one of the team, or whoever has a signed URL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Viewer {
    /// Sent a key, or is signed in.
    Principal(Principal),
    /// Claims that the URL is signed, which the use case checks.
    Signed,
}

/// A person who is signed in, with a team or without one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Person(pub trapline_app::SignedIn);

fn identity(parts: &Parts) -> Identity {
    let identity = parts.extensions.get::<Identity>().copied();
    identity.unwrap_or(Identity::Nobody(Unauthenticated::Missing))
}

pub(super) fn principal(parts: &Parts) -> Result<Principal> {
    Ok(identity(parts).principal()?)
}

fn writer(parts: &Parts) -> Result<Writer> {
    let by = principal(parts)?;
    if by.may_write() { Ok(Writer(by)) } else { refused(Forbidden::ReadOnlyKey) }
}

pub(super) fn person(parts: &Parts) -> Result<Person> {
    match identity(parts) {
        Identity::Person(who) => Ok(Person(who)),
        Identity::Key(_) => refused(Forbidden::PersonRequired),
        Identity::Nobody(why) => Err(AppError::Unauthenticated(why).into()),
    }
}

pub(super) fn refused<T>(why: Forbidden) -> Result<T> {
    Err(AppError::Forbidden(why).into())
}

/// Whether whoever asks may use this method at all; `people_only` is a route that takes no key.
pub(crate) fn permits(parts: &Parts, people_only: bool) -> Result<()> {
    match parts.method {
        _ if people_only => person(parts).map(drop),
        Method::GET | Method::HEAD => principal(parts).map(drop),
        _ => writer(parts).map(drop),
    }
}

/// Extractors that only look at the identity.
macro_rules! callers {
    ($($caller:ident: $of:expr;)+) => {
        $(impl<S: Sync> FromRequestParts<S> for $caller {
            type Rejection = Error;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
                let of: fn(&Parts) -> Result<Self> = $of;
                of(parts)
            }
        })+
    };
}

callers! {
    Origin: |parts| Ok(Self(super::address(&parts.extensions)));
    Reader: |parts| principal(parts).map(Self);
    Writer: writer;
    Person: person;
    Viewer: |parts| {
        if has_parameter(parts.uri.query(), &["exp", "sig"]) {
            return Ok(Self::Signed);
        }
        principal(parts).map(Self::Principal)
    };
}
