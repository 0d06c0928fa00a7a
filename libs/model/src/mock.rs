//! Mocks of other providers' APIs: what was made, called, kept and sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{DeliveryStatus, MockCallId, MockDeliveryId, MockId, ProjectId, Time};

/// What a provider is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MockCategory {
    /// Money is taken.
    Payments,
    /// Accounts are read.
    Banking,
    /// People are checked.
    Identity,
    /// Messages are sent.
    Messaging,
    /// Documents are signed.
    Esign,
    /// Books are kept.
    Erp,
    /// Customers are kept.
    Crm,
    /// Records are kept.
    Data,
    /// Events are counted.
    Analytics,
}

/// A provider that a mock can be made of.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MockProvider {
    /// What `provider` of a mock is.
    #[schema(example = "stripe")]
    pub id: String,
    /// As people call it.
    #[schema(example = "Stripe")]
    pub name: String,
    /// What it is for.
    pub category: MockCategory,
    /// How calls are declined: by `decline` of the settings, or by these values in a request.
    pub decline_codes: Vec<MockDecline>,
    /// The events of which it tells the app.
    #[schema(example = json!(["payment_intent.succeeded"]))]
    pub webhook_events: Vec<String>,
    /// The names of a mock's credentials; the first is the main one.
    #[schema(example = json!(["secretKey"]))]
    pub credentials: Vec<String>,
    /// Settings that only this provider has.
    pub settings: Vec<MockOwnSetting>,
    /// The kinds of objects that a mock keeps.
    #[schema(example = json!(["payments"]))]
    pub object_kinds: Vec<String>,
    /// How its objects go on without a call, as `move` has them do; of the steps from one state the first is the usual
    /// one.
    pub steps: Vec<MockStep>,
    /// The events that come from outside, as `trigger` lets them in.
    #[schema(example = json!(["charge.dispute.created"]))]
    pub triggers: Vec<String>,
    /// The packages that the snippets are for.
    pub sdks: Vec<MockSdk>,
}

/// A way of objects from one state to another.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockStep {
    /// The kind of the objects.
    #[schema(example = "sessions")]
    pub kind: String,
    /// The state that they are in.
    #[schema(example = "open")]
    pub from: String,
    /// The state that they go to.
    #[schema(example = "complete")]
    pub to: String,
}

/// A way in which calls are declined.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockDecline {
    /// The provider's code.
    #[schema(example = "insufficient_funds")]
    pub code: String,
    /// What it tells people.
    pub description: String,
    /// Values of a request that bring it about.
    #[schema(example = json!(["4000000000009995"]))]
    pub triggers: Vec<String>,
}

/// A setting that only one provider has.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockOwnSetting {
    /// Its name in `settings`.
    #[schema(example = "apiVersion")]
    pub name: String,
    /// What it does.
    pub description: String,
}

/// A package that speaks to a provider.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockSdk {
    /// The language.
    #[schema(example = "python")]
    pub language: String,
    /// As its registry calls it.
    #[schema(example = "stripe")]
    pub package: String,
    /// The version that is tested.
    #[schema(example = "16.1.0")]
    pub version: String,
}

/// A mock of a provider's API.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiMock {
    /// The mock's id.
    pub id: MockId,
    /// What people call it.
    #[schema(example = "Checkout tests")]
    pub name: String,
    /// The provider's id.
    #[schema(example = "stripe")]
    pub provider: String,
    /// What the provider is for.
    pub category: MockCategory,
    /// 14 hexadecimal digits, in its address.
    #[schema(example = "3f9c2b71d04e8a")]
    pub slug: String,
    /// Where the app under test calls it.
    #[schema(example = "http://localhost:8080/mock/3f9c2b71d04e8a")]
    pub base_url: String,
    /// Where it sends what happens; null for nowhere.
    #[schema(required, example = "https://app.example.com/hooks/stripe")]
    pub webhook_url: Option<String>,
    /// The project that it is grouped under; null for none.
    #[schema(required)]
    pub project_id: Option<ProjectId>,
    /// What goes wrong, and how fast: every setting of the provider, at its default where nobody set it.
    #[schema(value_type = Object, example = json!({"latencyMs": 0, "errorRate": 0.0, "decline": null}))]
    pub settings: Value,
    /// What the app calls it with, by name. Lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!({"secretKey": "sk_test_…"}))]
    pub credentials: Option<BTreeMap<String, String>>,
    /// How an SDK is pointed at it. Lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub snippets: Option<Vec<MockSnippet>>,
    /// The ways in which it is reached.
    pub addresses: MockAddresses,
    /// When it goes, with all that it holds; null for never.
    #[schema(required)]
    pub expires_at: Option<Time>,
    /// When it was made.
    pub created_at: Time,
}

/// The ways in which a mock is reached.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockAddresses {
    /// By its path.
    #[schema(example = "http://localhost:8080/mock/3f9c2b71d04e8a")]
    pub path: String,
    /// By a host name of its own; null where there is none.
    #[schema(required, example = json!(null))]
    pub host: Option<String>,
    /// Over TLS by a listener of the server's own; null where there is none.
    #[schema(required, example = json!(null))]
    pub tls: Option<String>,
}

/// A piece of code with the mock's own values in it.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockSnippet {
    /// `curl`, `python` or `node`.
    #[schema(example = "curl")]
    pub language: String,
    /// `connect` points an SDK at the mock, `webhook` verifies what the mock sends.
    #[schema(example = "connect")]
    pub purpose: String,
    /// The code.
    pub code: String,
}

/// A call of a mock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MockCallSummary {
    /// The call's id.
    pub id: MockCallId,
    /// When it came.
    pub at: Time,
    /// The HTTP method.
    #[schema(example = "POST")]
    pub method: String,
    /// The path behind the mock's address.
    #[schema(example = "/v1/refunds")]
    pub path: String,
    /// The query; empty for none.
    #[schema(example = "")]
    pub query: String,
    /// The status of the answer.
    #[schema(example = 200)]
    pub status: u16,
    /// Milliseconds until the answer.
    #[schema(example = 3)]
    pub duration_ms: u64,
    /// The provider's operation; null for a path that it does not have.
    #[schema(required, example = "POST /v1/refunds")]
    pub operation: Option<String>,
    /// The way in which it came.
    #[schema(example = "path")]
    pub via: String,
    /// What the settings did to it; null for nothing.
    #[schema(required, example = json!(null))]
    pub fault: Option<String>,
    /// Whether the answer is that of an earlier call with the same key.
    pub replayed: bool,
    /// The provider's ids of the objects that were read or written.
    #[schema(example = json!(["re_1"]))]
    pub object_ids: Vec<String>,
    /// Bytes of the request's body.
    #[schema(example = 24)]
    pub request_size: u64,
    /// Bytes of the answer's body.
    #[schema(example = 310)]
    pub response_size: u64,
    /// What called, by its own account; null if it does not say.
    #[schema(required, example = "Stripe/v1 PythonBindings/16.1.0")]
    pub client: Option<String>,
    /// What looks wrong about the call.
    #[schema(example = json!([]))]
    pub warnings: Vec<String>,
}

/// A call with what was sent and answered.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockCallDetails {
    /// The call.
    #[serde(flatten)]
    pub call: MockCallSummary,
    /// What was sent.
    pub request: MockTransfer,
    /// What was answered.
    pub response: MockTransfer,
}

/// Headers and body as they are kept: secrets and card numbers are hidden.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MockTransfer {
    /// In the order in which they came.
    pub headers: Vec<MockHeader>,
    /// The body's first 64 KiB; null where it has none.
    #[schema(required, example = "amount=1000")]
    pub body: Option<String>,
    /// How the body is written here: `utf8` or `base64`.
    #[schema(example = "utf8")]
    pub encoding: String,
    /// Whether the body is longer.
    pub truncated: bool,
    /// SHA-256 of the whole body, in hex.
    pub sha256: String,
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MockHeader {
    /// In lower case.
    #[schema(example = "content-type")]
    pub name: String,
    /// Its value.
    #[schema(example = "application/json")]
    pub value: String,
}

/// Part of the calls of a mock.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockCallPage {
    /// How many there are.
    #[schema(example = 1)]
    pub total: usize,
    /// Which page this is, from 1.
    #[schema(example = 1)]
    pub page: u32,
    /// The most calls of a page.
    #[schema(example = 50)]
    pub limit: u16,
    /// The calls, newest first.
    pub calls: Vec<MockCallSummary>,
}

/// An event on its way from a mock to the app.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MockDelivery {
    /// The delivery's id, which the receiver sees as `X-Trapline-Delivery`.
    pub id: MockDeliveryId,
    /// The provider's name of the event.
    #[schema(example = "payment_intent.succeeded")]
    pub event: String,
    /// The object that it is about; null for none.
    #[schema(required, example = "pi_1")]
    pub object_id: Option<String>,
    /// Where it is sent.
    #[schema(example = "https://app.example.com/hooks/stripe")]
    pub url: String,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// The status of the receiver's last answer; null without one.
    #[schema(required, example = 200)]
    pub http_status: Option<u16>,
    /// Why the last attempt failed, a stable word; null when it did not.
    #[schema(required, example = json!(null))]
    pub error: Option<String>,
    /// Attempts that have ended.
    #[schema(maximum = 8)]
    pub attempts: u32,
    /// Milliseconds that the last attempt took.
    #[schema(required, example = 42)]
    pub duration_ms: Option<u64>,
    /// When it happened, or the replay was asked for.
    pub created_at: Time,
    /// When the next attempt is due; null when none is.
    #[schema(required)]
    pub next_attempt_at: Option<Time>,
    /// When it ended; null before.
    #[schema(required)]
    pub completed_at: Option<Time>,
    /// The delivery that this one sends again; null for a first one.
    #[schema(required)]
    pub replay_of: Option<MockDeliveryId>,
    /// What the settings did to it, in words; null for nothing.
    #[schema(required, example = json!(null))]
    pub scenario: Option<String>,
}

/// A delivery with what is sent.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct MockDeliveryDetails {
    /// The delivery.
    #[serde(flatten)]
    pub delivery: MockDelivery,
    /// The headers of the last attempt, with its signature; empty before the first.
    pub headers: Vec<MockHeader>,
    /// The body, the same in each attempt.
    pub body: String,
}

/// What a test made happen in a mock.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MockHappened {
    /// The object as it is now.
    pub object: MockObject,
    /// What is sent to the app for it.
    pub delivery_ids: Vec<MockDeliveryId>,
}

/// An object that a mock keeps.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MockObject {
    /// The provider's id.
    #[schema(example = "pi_1")]
    pub id: String,
    /// Its kind.
    #[schema(example = "payments")]
    pub kind: String,
    /// Where it is in its flow; null for what has none.
    #[schema(required, example = "succeeded")]
    pub state: Option<String>,
    /// When it was made, by the mock's clock.
    pub created_at: Time,
    /// When it was last changed, by the mock's clock.
    pub updated_at: Time,
    /// The provider's own JSON.
    #[schema(value_type = Object)]
    pub object: Value,
}
