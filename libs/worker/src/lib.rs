//! The worker: takes jobs from the queue's lanes and does the input and output that they ask for. What
//! is to be done, and what follows from how it went, the use cases decide.

mod attempted;
mod checks;
mod handler;
mod identity;
mod jobs;
mod lane;
pub mod outbound;
mod probe_receiver;
mod relay;
mod webhook_sender;
mod worker;

pub use attempted::AttemptedJob;
pub use checks::{HttpLinkVisitor, MailAuthenticator, RspamdEngine, SpamdEngine};
pub use handler::{JobFailure, JobHandler, JobOutcome, Retry};
pub use identity::{IDENTITY_DEADLINE, OidcProvider};
pub use jobs::{
    ForwardMessage, Housekeeping, MockDeliveries, ReceivedMail, SendMail, WebhookDeliveries,
};
pub use lane::{run_lane, run_once};
pub use relay::{RelayConfigError, RelayOptions, RelayTls, SmtpRelay};
pub use webhook_sender::{HttpWebhookSender, WEBHOOK_DEADLINE};
pub use worker::Worker;
