//! The one way out to an address that a user gave.
//!
//! Whoever may name an address that this service connects to could name one behind the firewall
//! (server-side request forgery). So every such request goes through [`Client`]: its [`Guard`] looks
//! at the address as it is written, resolves the name once, refuses the target if any answer is not
//! public, and the connection is made to the very addresses that were checked.
//!
//! It stands on hyper-util's client with a connector of its own, and not on reqwest: there is then
//! nothing to switch off (redirects, proxies from the environment, decompression, cookies), literal
//! addresses and names pass the same check, and the connector sees every byte that an answer costs.

mod address;
mod blocklist;
mod bounded_connection;
mod client;
mod connect;
mod dns;
mod failure;
mod fetch;
mod guard;
mod refusal;
mod retry_after;
mod tls;
mod visit;

pub use client::{Client, ClientError, Response, TimedResponse};
pub use dns::{Dns, Resolver};
pub use failure::OutboundFailure;
pub use guard::{Guard, GuardOptions};
pub use http::{HeaderName, HeaderValue};
pub use ipnet::IpNet as Cidr;
pub use refusal::Refusal;
pub use retry_after::RetryAfter;
pub use url::Url;
pub use visit::VisitHead;
