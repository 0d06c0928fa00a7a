//! The SMTP edge (RFC 5321 and its extensions): a session without I/O, and a listener that drives
//! one session per connection. It knows nothing of inboxes; a [`Mailroom`] decides who may sign in,
//! which recipients exist and what becomes of a mail.

mod admission;
mod config;
mod connection;
mod envelopes;
mod listener;
mod mailroom;
mod memory;
mod network;
mod proxy;
mod reject;
pub mod session;
mod stream;

pub use config::{Config, Limits};
pub use listener::{Implicit, Server, bind, is_broken};
pub use mailroom::{Login, Mail, Mailroom, Observation, ProxyFault, Receipt, Refusal, Stage};
pub use memory::{BodyBuffer, Hold, Memory, Payers, Reservation};
pub use network::network;
pub use proxy::ProxyProtocol;
pub use reject::Reject;
