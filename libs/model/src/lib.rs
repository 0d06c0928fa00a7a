//! What the whole product speaks of: ids, times, addresses, resources. No I/O.

mod access;
mod address;
mod id;
mod inbox;
mod message;
mod time;
mod webhook;

pub use access::{Access, Caller, KEY_PREFIX};
pub use address::Address;
pub use id::{ApiKeyId, DeliveryId, InboxId, InvalidId, MessageId, ProjectId, TeamId, WebhookId};
pub use inbox::{Inbox, Project, SmtpAccess};
pub use message::{Attachment, Envelope, Header, Link, Message, NearMiss, Summary, Warning};
pub use time::{InvalidTime, Time};
pub use webhook::{Delivery, DeliveryStatus, EventName, Subscription, Webhook};
