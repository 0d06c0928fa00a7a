//! One attempt of one delivery: signed as the provider signs, sent by the sender of webhooks.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize as _;
use trapline_mocks::{
    MockSettings, OutgoingEvent, Provider, RetryPace, Signing, SigningScheme, StoredObject,
    secret_before, sign,
};
use trapline_model::{DeliveryId, DeliveryStatus, MockHeader, Time};
use trapline_store::{
    Job, PortError,
    records::{Mock, MockDeliveryRow},
};
use url::Url;

use super::{Mocks, fields, handshake::awaits_handshake, send::job_of_delivery};
use crate::{
    Error, RequestSigner, Result, WebhookFailure, WebhookOutcome, WebhookRequest, metrics,
    webhooks::{DeliveryDecision, backoff_after, decide},
};

/// Delays after failed attempts where the settings want it fast.
const FAST: [u64; 5] = [1, 2, 5, 10, 30];

/// The outcome of an attempt that was not made, as the address has not passed the provider's handshake.
const HANDSHAKE_MISSING: WebhookOutcome = WebhookOutcome {
    took: Duration::ZERO,
    result: Err(WebhookFailure { code: "handshake_missing", is_final: false }),
};

/// Signs with the secret of a mock, or of an address that the app registered.
struct MockSigner {
    scheme: &'static SigningScheme,
    secret: String,
    /// The secret before it, while that still holds.
    before: Option<String>,
    id: String,
    url: String,
    is_bad: bool,
    stale_by: Duration,
}

impl RequestSigner for MockSigner {
    fn headers(&self, at: Time, body: &[u8]) -> Vec<(&'static str, String)> {
        // A signature of other bytes has the right form, and holds nowhere.
        let other = [body, b" "].concat();
        let signing = Signing {
            secret: &self.secret,
            before: self.before.as_deref(),
            at: at.before(self.stale_by),
            id: &self.id,
            url: &self.url,
            body: if self.is_bad { &other } else { body },
        };
        sign(self.scheme, &signing)
    }
}

impl Mocks {
    /// Makes the next attempt of a delivery, and records how it ended. Returns the job of the attempt after it.
    pub(super) async fn attempt(
        &self,
        (mock, version): &(Mock, i64),
        mut row: MockDeliveryRow,
    ) -> Result<Option<Job>> {
        let Some(_claim) = self.in_flight.take(row.id.0) else {
            return Ok(job_of_delivery(mock.team, &row)?);
        };
        let provider = trapline_mocks::find(&mock.provider).ok_or(Error::NotFound)?;
        let mut event = OutgoingEvent::deserialize(&row.event)
            .map_err(|source| PortError::Corrupt { table: "mock_delivery", source })?;
        let sender = self.webhooks.sender()?;
        let Ok(url) = Url::parse(&event.url) else {
            fail(&mut row, "address_not_allowed", self.clock.now());
            self.put_delivery(&row).await?;
            return Ok(None);
        };
        let settings = MockSettings::of(provider, &mock.settings).map_err(fields::settings)?;
        let credentials = self.opened_once(mock, *version)?;
        let signer = self.signer(&row, &event, provider, &credentials).await?;
        let request = WebhookRequest {
            url,
            headers: vec![
                ("content-type", event.content_type.clone()),
                ("user-agent", "service-webhooks/1".to_owned()),
                ("x-trapline-delivery", row.id.to_string()),
            ],
            body: std::mem::take(&mut event.body).into(),
            signer: Box::new(signer),
            at: self.clock.now(),
            attempt: row.attempts + 1,
        };
        let outcome = if awaits_handshake(mock, provider, &settings, &event) {
            HANDSHAKE_MISSING
        } else {
            let header =
                |(name, value): (&str, String)| MockHeader { name: name.to_owned(), value };
            row.headers = request.signed_headers().into_iter().map(header).collect();
            sender.send(&request).await
        };
        let decision = decide_by(event.expects, &outcome);
        if decision == DeliveryDecision::Succeeded && provider.is_handshake(&event) {
            self.note_handshake(mock, &event).await?;
        }
        apply(&mut row, &outcome, decision, settings.webhooks.retry, self.clock.now());
        metrics::mock_delivery(provider.id, row.status);
        self.put_delivery(&row).await?;
        Ok(job_of_delivery(mock.team, &row)?)
    }

    async fn signer(
        &self,
        row: &MockDeliveryRow,
        event: &OutgoingEvent,
        provider: &'static Provider,
        credentials: &BTreeMap<String, String>,
    ) -> Result<MockSigner> {
        let own = match (&event.endpoint, provider.hooks.endpoints) {
            (Some(id), Some(kind)) => self.endpoint_secret(row, kind, id).await?,
            _ => None,
        };
        let name = provider.hooks.scheme.secret().unwrap_or_default();
        let before = secret_before(credentials, name, self.clock.now()).filter(|_| own.is_none());
        Ok(MockSigner {
            scheme: &provider.hooks.scheme,
            before: before.map(str::to_owned),
            secret: own.or_else(|| credentials.get(name).cloned()).unwrap_or_default(),
            id: row.id.to_string(),
            url: event.url.clone(),
            is_bad: event.bad_signature,
            stale_by: Duration::from_secs(event.stale_by_seconds),
        })
    }

    /// The secret of an address that the app registered; none when it is gone.
    async fn endpoint_secret(
        &self,
        row: &MockDeliveryRow,
        kind: &str,
        id: &str,
    ) -> Result<Option<String>> {
        let found = self.store.get(&row.of.item(kind, id)).await?;
        let doc = found.map(|found| self.opened_item(row.of, &found)).transpose()?;
        let object = doc.and_then(|doc| serde_json::from_str::<StoredObject>(&doc).ok());
        Ok(object.and_then(|object| object.hidden["secret"].as_str().map(str::to_owned)))
    }
}

/// What follows from an outcome where a provider takes one status only for a success.
fn decide_by(expects: Option<u16>, outcome: &WebhookOutcome) -> DeliveryDecision {
    let status = outcome.result.ok().map(|reply| reply.status);
    match (expects, status) {
        (Some(expected), Some(status)) if status == expected => DeliveryDecision::Succeeded,
        (Some(_), Some(200..=299)) => DeliveryDecision::Retry("unexpected_status", None),
        _ => decide(outcome),
    }
}

/// What follows from an attempt, by the pace of retries that the settings have.
fn apply(
    row: &mut MockDeliveryRow,
    outcome: &WebhookOutcome,
    decision: DeliveryDecision,
    pace: RetryPace,
    now: Time,
) {
    row.attempts += 1;
    row.duration_ms = u64::try_from(outcome.took.as_millis()).ok();
    row.http_status = outcome.result.ok().map(|reply| reply.status);
    let (error, asked) = match decision {
        DeliveryDecision::Succeeded => {
            row.status = DeliveryStatus::Succeeded;
            (row.error, row.next_attempt_at, row.completed_at) = (None, None, Some(now));
            return;
        }
        DeliveryDecision::Failed(error) => return fail(row, error, now),
        DeliveryDecision::Retry(error, asked) => (error, asked),
    };
    let wait = match pace {
        RetryPace::Standard => backoff_after(DeliveryId(row.id.0), row.attempts, asked),
        RetryPace::Fast => {
            let failed = usize::try_from(row.attempts).unwrap_or(usize::MAX) - 1;
            FAST.get(failed).copied().map(Duration::from_secs)
        }
        RetryPace::Off => None,
    };
    let Some(wait) = wait else { return fail(row, error, now) };
    row.status = DeliveryStatus::Retrying;
    (row.error, row.next_attempt_at) = (Some(error.to_owned()), Some(now.after(wait)));
}

fn fail(row: &mut MockDeliveryRow, error: &str, now: Time) {
    row.status = DeliveryStatus::Failed;
    (row.error, row.next_attempt_at) = (Some(error.to_owned()), None);
    row.completed_at = Some(now);
}
