//! Mocks of other providers' APIs: a table of facts and pure handlers for each provider, and one engine that
//! owns what all of them share.
//!
//! Nothing here does input or output, or has a clock of its own. A call is answered by [`run`], which says what
//! rows it lacks ([`Outcome::Need`]); whoever keeps them reads them and runs the call again
//! ([ADR 19](../../../docs/adr/0019-mocks.md)).

mod action;
mod auth;
mod call;
mod chance;
mod context;
mod credentials;
mod dates;
mod decode;
mod engine;
mod failure;
mod flow;
mod form;
mod handshake;
mod idempotency;
mod jws;
mod multipart;
mod oauth;
mod packing;
mod page;
mod pdf;
mod provider;
mod providers;
mod redact;
mod route;
mod scenario;
mod settings;
mod sign;
mod snippets;
mod state;

pub use action::{ActionDone, ActionOutcome, ActionRefusal, MockAction, act};
pub use auth::slug_of_credential;
pub use call::{MockCall, MockReply};
pub use chance::Chance;
pub use credentials::{Credential, Make, secret_before};
pub use decode::plain_body;
pub use engine::{
    CallAnswer, CallOutcome, CalledMock, HostedPages, InjectedFault, limited, run, unavailable,
};
pub use flow::DueStep;
pub use handshake::Handshake;
pub use packing::unpacked;
pub use page::{HostedPage, is_page_proof, page};
pub use provider::{Decline, ObjectKind, OwnSetting, Provider, Sdk};
pub use providers::{ALL, find};
pub use redact::{has_live_key, redacted_body, redacted_headers};
pub use settings::{
    FlowPace, LatencySetting, MockSettings, RetryPace, SettingIssue, WebhookSettings, merge,
};
pub use sign::{Sign, SignedRequest, Signing, SigningScheme, sign};
pub use snippets::{Snippet, filled};
pub use state::{
    Loaded, MAX_LISTED, MockEvent, Outgoing, OutgoingEvent, StoredObject, Want, Write, WriteLife,
};

#[cfg(test)]
mod tests;
