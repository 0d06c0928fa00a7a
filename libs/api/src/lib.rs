//! The REST API under `/api`: what is asked, by whom, and how the answer is written. The use cases
//! are the application's.

mod allowance;
mod answer_cache;
mod api_keys;
mod audit;
mod auth;
mod body_memory;
mod checks;
mod confirmation;
mod deferred;
mod disposition;
mod docs;
mod error;
mod extract;
mod forwarding;
mod html_page;
mod idps;
mod inbox_page;
mod inboxes;
mod layers;
mod live;
mod messages;
mod nearest_path;
mod onboarding;
mod openapi;
mod people;
mod people_page;
mod prefix;
mod preview;
mod projects;
mod reply;
mod router;
mod service;
mod sso;
mod sso_page;
mod state;
mod status;
mod team;
mod usage;
mod webhooks;

pub use deferred::{deferred, deferred_response};
pub use layers::{ContentPolicy, ResponseFuture, secure};
pub use openapi::openapi;
pub use router::{metrics_router, router};
pub use state::{Client, Console, Options};
