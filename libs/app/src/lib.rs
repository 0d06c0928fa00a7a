//! The use cases: receive, list, wait, watch, read, delete, authenticate, clean up. Everything here is
//! written once over the ports and knows neither HTTP nor SMTP nor any backend.

mod answers;
mod api_keys;
mod app;
mod attempts;
mod catch_all;
mod claims;
mod counts;
mod cpu;
mod error;
mod feed;
mod filter;
mod first_run;
mod forwarding;
mod health;
mod housekeeping;
mod ids;
mod inboxes;
mod janitor;
mod jobs;
mod lanes;
mod leases;
mod limits;
mod logins;
mod mail;
mod master_key_check;
mod messages;
pub mod metrics;
mod preview;
mod projects;
mod receive;
mod repeated;
mod retention;
mod room;
mod sample;
mod secrets;
mod settings;
mod shared_secret;
mod skew;
mod streams;
mod supervisor;
mod team_rows;
mod upgrade;
mod versions;
mod wait;
mod webhooks;

pub use answers::{Answer, AnswerMemory, Room, Share};
pub use api_keys::{KnownKey, NewKey};
pub use app::App;
pub use cpu::CpuPool;
pub use error::{Error, Fault, Forbidden, Issue, Result, Unauthenticated};
pub use feed::{Feed, FeedEvent};
pub use filter::Filter;
pub use first_run::Start;
pub use forwarding::{Added, Confirmation, ForwardAttempt};
pub use health::Health;
pub use inboxes::{InboxChange, InboxPage, InboxQuery, NewInbox};
pub use janitor::run_janitor;
pub use jobs::Begun;
pub use logins::{LoginRefused, Mailbox};
pub use mail::{MailAttempt, MailHealth, Parcel, Relay, Stage, Trouble};
pub use messages::{Download, ListQuery, Original, Page, Pieces};
pub use preview::{PreviewUrl, RenderedHtml, Signature};
pub use projects::{ProjectPage, ProjectQuery};
pub use receive::Incoming;
pub use secrets::MasterKey;
pub use settings::{Outbound, Settings};
pub use supervisor::Supervisor;
pub use wait::Waited;
pub use webhooks::{
    Attempt, Called, Caller, Failure, NewWebhook, Outcome, Reply, Secrecy, WebhookChange,
};

pub use trapline_mime::escape_html;
pub use trapline_store::{Job, Lane, Lease, PortError, Rate, Verdict};
