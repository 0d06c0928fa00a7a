//! Who asks: a credential of the mock, where the provider expects it.

use std::collections::BTreeMap;

use serde_json::Value;
use subtle::ConstantTimeEq as _;

use crate::{MockCall, Provider, oauth};

/// Where a request has a credential.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CredentialPlace {
    /// `Authorization: Bearer`.
    Bearer,
    /// The user name of `Authorization: Basic`.
    BasicUser,
    /// The password of `Authorization: Basic`.
    BasicPassword,
    /// `Authorization: Bearer` at this path, where it needs nothing else.
    BearerAt(&'static str),
    /// `Authorization` behind these letters.
    Prefixed(&'static str),
    /// The client that asks for a token, at this path.
    Client(&'static str),
    /// The secret of that client.
    ClientSecret,
    /// Who made the assertion of a request for a token, at this path.
    Issuer(&'static str),
    /// A header, by its name in lower case.
    Header(&'static str),
    /// A field of the body, by its name.
    Field(&'static str),
}

/// A credential, and where it has to be.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) place: CredentialPlace,
    /// The credential's name.
    pub(crate) is: &'static str,
}

/// Whether the request carries what one of the provider's lists asks for. Values are compared in constant time.
pub(crate) fn is_known(
    provider: &Provider,
    credentials: &BTreeMap<String, String>,
    call: &MockCall,
    body: Option<&Value>,
) -> bool {
    let holds = |check: &Check| {
        let given = given(check.place, call, body);
        let (Some(wanted), Some(given)) = (credentials.get(check.is), given) else {
            return false;
        };
        wanted.as_bytes().ct_eq(given.as_bytes()).into()
    };
    provider.auth.iter().any(|checks| checks.iter().all(holds))
}

/// The slug of the mock whose credential a request carries, where credentials of its provider's have one.
#[must_use]
pub fn slug_of_credential(call: &MockCall) -> Option<String> {
    let checks = crate::ALL.into_iter().flat_map(|provider| {
        provider.auth.iter().flat_map(|checks| checks.iter()).map(move |check| (provider, check))
    });
    checks.into_iter().find_map(|(provider, check)| {
        let make = provider.credentials.iter().find(|it| it.name == check.is)?.make;
        Some(make.slug_in(&given(check.place, call, None)?)?.to_owned())
    })
}

fn given(place: CredentialPlace, call: &MockCall, body: Option<&Value>) -> Option<String> {
    let authorization = call.header("authorization").unwrap_or_default();
    match place {
        CredentialPlace::Bearer => behind(authorization, "Bearer "),
        CredentialPlace::BasicUser => oauth::basic(call).map(|(user, _)| user),
        CredentialPlace::BasicPassword => oauth::basic(call).map(|(_, password)| password),
        CredentialPlace::BearerAt(path) if call.path == path => behind(authorization, "Bearer "),
        CredentialPlace::Prefixed(word) => behind(authorization, word),
        CredentialPlace::Client(path) if call.path == path => oauth::client(call, body?),
        CredentialPlace::Issuer(path) if call.path == path => oauth::issuer(body?),
        CredentialPlace::BearerAt(_) | CredentialPlace::Client(_) | CredentialPlace::Issuer(_) => {
            None
        }
        CredentialPlace::ClientSecret => oauth::client_secret(call, body?),
        CredentialPlace::Header(name) => call.header(name).map(str::to_owned),
        CredentialPlace::Field(name) => body?.get(name)?.as_str().map(str::to_owned),
    }
}

/// What follows a word, which may be in any case.
fn behind(text: &str, word: &str) -> Option<String> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then(|| rest.trim().to_owned())
}
