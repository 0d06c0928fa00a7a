//! The body of a delivery: a summary of the message, bounded, and never cut in the middle.

use serde::Serialize;
use trapline_model::{Address, EventName, InboxId, MessageId, Time};
use trapline_store::PortError;

/// What the address lists may take of a body, in bytes; with the rest it stays below 64 KiB.
const MAX_TO_BYTES: usize = 32 * 1024;
const MAX_ENVELOPE_TO_BYTES: usize = 8 * 1024;

/// What the body of an event says.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventPayload<'a> {
    pub(super) inbox: InboxId,
    pub(super) inbox_name: &'a str,
    pub(super) message: MessageId,
    pub(super) subject: &'a str,
    pub(super) from: Option<&'a Address>,
    pub(super) to: &'a [Address],
    pub(super) envelope_to: &'a [String],
}

#[derive(Serialize)]
struct PayloadJson<'a> {
    event: EventName,
    inbox: InboxJson<'a>,
    message: MessageJson<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    test: bool,
}

#[derive(Serialize)]
struct InboxJson<'a> {
    id: InboxId,
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageJson<'a> {
    id: MessageId,
    subject: &'a str,
    from: Address,
    to: &'a [Address],
    envelope_to: &'a [String],
    received_at: Time,
    url: String,
}

/// The JSON text; the same input gives the same bytes.
pub(super) fn payload(
    event: EventName,
    data: EventPayload<'_>,
    base_url: &str,
) -> Result<String, PortError> {
    let payload = PayloadJson {
        event,
        inbox: InboxJson { id: data.inbox, name: data.inbox_name },
        message: MessageJson {
            id: data.message,
            subject: data.subject,
            from: data.from.cloned().unwrap_or_default(),
            to: fitting(data.to, MAX_TO_BYTES)?,
            envelope_to: fitting(data.envelope_to, MAX_ENVELOPE_TO_BYTES)?,
            received_at: data.message.received_at(),
            url: format!("{base_url}/inboxes/{}?message={}", data.inbox, data.message),
        },
        test: event == EventName::WebhookTest,
    };
    text(&payload)
}

/// The first items, as many as their JSON leaves room for.
fn fitting<T: Serialize>(items: &[T], mut room: usize) -> Result<&[T], PortError> {
    for (place, item) in items.iter().enumerate() {
        let size = text(item)?.len() + 1;
        if size > room {
            return Ok(&items[..place]);
        }
        room -= size;
    }
    Ok(items)
}

fn text<T: Serialize>(value: &T) -> Result<String, PortError> {
    serde_json::to_string(value).map_err(|source| PortError::Corrupt { table: "delivery", source })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use uuid::Uuid;

    fn sample<'a>(to: &'a [Address], envelope_to: &'a [String]) -> EventPayload<'a> {
        let inbox = InboxId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));
        let uuid = Uuid::from_u128(0x019b_93cb_8f7b_7000_8000_0000_0000_0002);
        EventPayload {
            inbox,
            inbox_name: "Sign-up tests",
            message: MessageId { inbox, uuid },
            subject: "Verify your address",
            from: None,
            to,
            envelope_to,
        }
    }

    #[test]
    fn the_fields_are_those_of_the_contract_in_its_order() {
        let to = [Address { address: "ada@example.com".to_owned(), name: "Ada".to_owned() }];
        let envelope_to = ["ada@example.com".to_owned()];
        let data = sample(&to, &envelope_to);
        let (inbox, id) = (data.inbox, data.message);
        let wanted = format!(
            "{{\"event\":\"message.received\",\"inbox\":{{\"id\":\"{inbox}\",\"name\":\"Sign-up tests\"}},\
             \"message\":{{\"id\":\"{id}\",\"subject\":\"Verify your address\",\
             \"from\":{{\"address\":\"\",\"name\":\"\"}},\
             \"to\":[{{\"address\":\"ada@example.com\",\"name\":\"Ada\"}}],\
             \"envelopeTo\":[\"ada@example.com\"],\"receivedAt\":\"{}\",\
             \"url\":\"https://t.test/inboxes/{inbox}?message={id}\"}}}}",
            id.received_at(),
        );
        let text = payload(EventName::MessageReceived, data, "https://t.test").unwrap();
        assert_eq!(text, wanted);
        let tested = payload(EventName::WebhookTest, data, "https://t.test").unwrap();
        assert!(tested.ends_with(",\"test\":true}"), "{tested}");
        assert!(tested.starts_with("{\"event\":\"webhook.test\","), "{tested}");
    }

    #[test]
    fn a_body_stays_below_64_kib_and_whole() {
        let long = "\u{1}".repeat(1000);
        let to = vec![Address { address: long.clone(), name: long.clone() }; 200];
        let envelope_to = vec!["x".repeat(256); 1000];
        let subject = long.clone();
        let data =
            EventPayload { subject: &subject, from: Some(&to[0]), ..sample(&to, &envelope_to) };
        let text = payload(EventName::MessageReceived, data, "https://t.test").unwrap();
        assert!(text.len() <= 64 * 1024, "{}", text.len());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["message"]["to"].as_array().unwrap().len(), 2);
        assert_eq!(value["message"]["envelopeTo"].as_array().unwrap().len(), 31);
    }
}
