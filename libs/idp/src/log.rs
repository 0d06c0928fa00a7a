//! Entries of the activity log, in which no secret is.

use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use trapline_app::{IdpHandle, NewIdpEvent, metrics};
use trapline_model::{IdpEventError, IdpEventKind};

use crate::{
    failure::{EndpointFailure, OauthRefusal},
    params::RequestParams,
    state::IdpState,
};

/// Parameters that open something.
const SECRET: [&str; 8] = [
    "client_secret",
    "code",
    "code_verifier",
    "refresh_token",
    "token",
    "access_token",
    "id_token_hint",
    "password",
];
/// Bytes of a parameter, and of an entry's parameters together.
const MAX_VALUE: usize = 2 * 1024;
const MAX_VALUES: usize = 8 * 1024;

/// The parameters without what is secret.
pub(crate) fn masked(params: &RequestParams) -> Value {
    let mut shown = Map::new();
    let mut left = MAX_VALUES;
    for (name, value) in params.iter() {
        let value = if SECRET.contains(&name) { mask(value) } else { cut(value) };
        let size = name.len() + value.len();
        if size > left {
            break;
        }
        left -= size;
        shown.insert(name.to_owned(), value.into());
    }
    Value::Object(shown)
}

/// Enough to tell one value from another, and no help in finding it.
fn mask(value: &str) -> String {
    let first: String = value.chars().take(4).collect();
    format!("{first}… (sha256 {})", HEXLOWER.encode(&Sha256::digest(value)[..4]))
}

fn cut(value: &str) -> String {
    if value.len() <= MAX_VALUE {
        return value.to_owned();
    }
    format!("{}… ({} bytes)", &value[..value.floor_char_boundary(MAX_VALUE)], value.len())
}

/// An entry that is being made.
pub(crate) struct LogEntry(NewIdpEvent);

impl LogEntry {
    pub(crate) fn of(kind: IdpEventKind, params: &RequestParams) -> Self {
        let mut event = NewIdpEvent::told(kind, String::new());
        event.request = masked(params);
        event.client_id = params.get("client_id").map(cut);
        Self(event)
    }

    /// What is known by now.
    pub(crate) fn event(&mut self) -> &mut NewIdpEvent {
        &mut self.0
    }

    /// Writes the entry of something that went well.
    pub(crate) async fn went_well(self, idp: &IdpState, provider: &IdpHandle, summary: String) {
        self.write(idp, provider, summary, None).await;
    }

    /// Writes the entry of something that was refused.
    pub(crate) async fn refused(
        self,
        idp: &IdpState,
        provider: &IdpHandle,
        refusal: &OauthRefusal,
    ) {
        let summary = format!("Refused: {}.", refusal.hint);
        let error = IdpEventError { code: refusal.code.to_owned(), hint: refusal.hint.clone() };
        let mut entry = self;
        if entry.0.response == json!({}) {
            entry.0.response = json!({ "error": refusal.code });
        }
        entry.write(idp, provider, summary, Some(error)).await;
    }

    /// Writes the entry of a request that the protocol refuses, and gives its failure back.
    pub(crate) async fn failed(
        self,
        idp: &IdpState,
        provider: &IdpHandle,
        failure: EndpointFailure,
    ) -> EndpointFailure {
        if let EndpointFailure::Refused(refusal) = &failure {
            self.refused(idp, provider, refusal).await;
        }
        failure
    }

    async fn write(
        self,
        idp: &IdpState,
        provider: &IdpHandle,
        summary: String,
        error: Option<IdpEventError>,
    ) {
        let outcome = if error.is_none() { "ok" } else { "refused" };
        metrics::idp_request(self.0.kind.name(), outcome);
        idp.idps().record(provider, NewIdpEvent { summary, error, ..self.0 }).await;
    }
}
