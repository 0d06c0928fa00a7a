//! Reads of the stream itself, by its direct API (ADR-31), which any replica answers.

use async_nats::{Request, StatusCode, header::HeaderMap};
use serde::Serialize;
use trapline_model::Time;
use trapline_store::{PortError, Result};

use super::link::NatsLink;

/// Asks for the first message of a subject at or after a place.
#[derive(Debug, Serialize)]
struct DirectGet<'a> {
    /// A batch of one comes with the number of those that follow.
    batch: u8,
    next_by_subj: &'a str,
    #[serde(flatten)]
    from: From,
}

/// Where to begin.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) enum From {
    /// A place in the stream, 1 for its beginning.
    #[serde(rename = "seq")]
    Sequence(u64),
    /// A time by the server's clock.
    #[serde(rename = "start_time")]
    Time(Time),
}

/// A message, and how many of its subject there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundMessage {
    pub(super) sequence: u64,
    /// When it was stored, by the server's clock.
    pub(super) stored: Time,
    /// This one and the later ones of the subject.
    pub(super) count: u64,
}

/// The first message of `subject` at or after `from`. Costs one request, whatever their number.
pub(super) async fn first(
    link: &NatsLink,
    subject: &str,
    from: From,
) -> Result<Option<FoundMessage>> {
    let query = serde_json::to_vec(&DirectGet { batch: 1, next_by_subj: subject, from });
    let query = query.map_err(PortError::unavailable)?;
    let request = Request::new().payload(query.into());
    let api = format!("$JS.API.DIRECT.GET.{}", link.names.stream());
    let answer = link.call(&link.meters.read, link.client.send_request(api, request)).await?;
    match answer.status {
        None => {
            let found = answer.headers.as_ref().and_then(read);
            found
                .map(Some)
                .ok_or_else(|| PortError::unavailable("JetStream: an answer lacks headers"))
        }
        Some(StatusCode::NOT_FOUND) => Ok(None),
        Some(status) => {
            let why = answer.description.as_deref().unwrap_or("no message comes");
            Err(PortError::unavailable(format!("JetStream: {why} ({status})")))
        }
    }
}

fn read(headers: &HeaderMap) -> Option<FoundMessage> {
    // The last, for a message may carry the same names itself.
    let text = |name: &str| headers.get_last(name).map(async_nats::HeaderValue::as_str);
    let following: u64 = text("Nats-Num-Pending")?.parse().ok()?;
    Some(FoundMessage {
        sequence: text("Nats-Sequence")?.parse().ok()?,
        stored: text("Nats-Time-Stamp")?.parse().ok()?,
        count: following.saturating_add(1),
    })
}
