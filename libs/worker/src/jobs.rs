//! The kinds of jobs, each a file with a type that is registered with a [`Worker`](crate::Worker).

mod housekeeping;
mod mocks;
mod outgoing;
mod received;
mod webhooks;

pub use housekeeping::Housekeeping;
pub use mocks::MockDeliveries;
pub use outgoing::{ForwardMessage, SendMail};
pub use received::ReceivedMail;
pub use webhooks::WebhookDeliveries;
