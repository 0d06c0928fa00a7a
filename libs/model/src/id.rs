//! Ids: opaque, URL-safe, time-ordered text over UUIDv7 (RFC 9562, section 5.7).
//!
//! The text form is lower-case base32hex (RFC 4648, section 7) without padding, whose order is the
//! order of the bytes.

use std::{fmt, str::FromStr, sync::LazyLock};

use data_encoding::{Encoding, Specification};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use uuid::Uuid;

use crate::Time;

static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut form = Specification::new();
    form.symbols.push_str("0123456789abcdefghijklmnopqrstuv");
    form.encoding().unwrap_or(data_encoding::BASE32HEX_NOPAD)
});

/// Text that is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct InvalidId;

fn decode<const N: usize>(text: &str) -> Result<[u8; N], InvalidId> {
    let bytes = BASE32.decode(text.as_bytes()).map_err(|_| InvalidId)?;
    bytes.try_into().map_err(|_| InvalidId)
}

macro_rules! text_form {
    ($name:ident, $length:literal, $pattern:literal) => {
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(D::Error::custom)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .min_length(Some($length))
                    .max_length(Some($length))
                    .pattern(Some($pattern))
                    .description(Some("Opaque, URL-safe, time-ordered id."))
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&BASE32.encode(self.0.as_bytes()))
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                decode::<16>(text).map(|bytes| Self(Uuid::from_bytes(bytes)))
            }
        }

        // Its last letter stands for the 3 bits that are left of 128.
        text_form!($name, 26, "^[0-9a-v]{25}[048cgkos]$");
    };
}

id!(
    /// A team, the owner of every other resource.
    TeamId
);

impl TeamId {
    /// Owns what the service keeps for itself. There is no such team, so nobody can be in it.
    pub const SERVICE: Self = Self(Uuid::nil());
}

id!(
    /// A group of inboxes.
    ProjectId
);
id!(
    /// An inbox.
    InboxId
);
id!(
    /// An API key.
    ApiKeyId
);
id!(
    /// A person who signs in.
    PersonId
);
id!(
    /// An entry of a team's audit log.
    AuditEntryId
);
id!(
    /// An invitation to a team.
    InvitationId
);
id!(
    /// A webhook.
    WebhookId
);
id!(
    /// One event on its way to one webhook; the time in it says in which bucket of the log it is.
    DeliveryId
);
id!(
    /// An address that mail may be forwarded to.
    ForwardAddressId
);
id!(
    /// A message on its way to one recipient.
    ForwardId
);
id!(
    /// A mail that the service itself sends.
    MailId
);
id!(
    /// A mock identity provider.
    IdpId
);
id!(
    /// A test user of a mock identity provider.
    IdpUserId
);
id!(
    /// Something that a mock identity provider was asked to do wrong.
    IdpFaultId
);
id!(
    /// An entry of the activity log of a mock identity provider.
    IdpEventId
);
id!(
    /// A mock of a provider's API.
    MockId
);
id!(
    /// A call of a mock.
    MockCallId
);
id!(
    /// An event on its way from a mock to an app.
    MockDeliveryId
);

/// A message: its inbox and its own UUIDv7, so that the id alone says where the message is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    /// The inbox that holds the message.
    pub inbox: InboxId,
    /// Time-ordered within the inbox.
    pub uuid: Uuid,
}

impl MessageId {
    /// When the message was received, to the millisecond: the time in its UUIDv7.
    #[must_use]
    pub fn received_at(&self) -> Time {
        Time::of_uuid(self.uuid)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(self.inbox.0.as_bytes());
        bytes[16..].copy_from_slice(self.uuid.as_bytes());
        f.write_str(&BASE32.encode(&bytes))
    }
}

impl FromStr for MessageId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let bytes = decode::<32>(text)?;
        let half = |from: usize| Uuid::from_slice(&bytes[from..from + 16]).map_err(|_| InvalidId);
        Ok(Self { inbox: InboxId(half(0)?), uuid: half(16)? })
    }
}

// Its last letter stands for the one bit that is left of 256.
text_form!(MessageId, 52, "^[0-9a-v]{51}[0g]$");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_is_reversible_and_keeps_order(a: u128, b: u128) {
            let (a, b) = (InboxId(Uuid::from_u128(a)), InboxId(Uuid::from_u128(b)));
            prop_assert_eq!(a.to_string().parse(), Ok(a));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            let message = MessageId { inbox: a, uuid: b.0 };
            prop_assert_eq!(message.to_string().parse(), Ok(message));
        }

        #[test]
        fn any_other_text_is_refused(text in "\\PC{0,60}") {
            if let Ok(id) = text.parse::<MessageId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
