//! The worker: takes jobs from the queue's lanes and does the input and output that they ask for. What
//! is to be done, and what follows from how it went, the use cases decide.

mod arrivals;
mod housekeeping;
mod lanes;
pub mod outbound;
mod outgoing;
mod relay;
mod webhooks;

pub use arrivals::Arrivals;
pub use housekeeping::Housekeeping;
pub use lanes::{Ended, Handler, run_lane, start};
pub use outgoing::outgoing_handlers;
pub use relay::{BadRelay, RelayOptions, RelayTls, SmtpRelay};
pub use webhooks::{DEADLINE, WebhookCaller, webhook_handlers};
