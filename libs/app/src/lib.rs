//! The use cases: receive, list, wait, watch, read, delete, authenticate, clean up. Everything here is
//! written once over the ports and knows neither HTTP nor SMTP nor any backend.
#![warn(clippy::missing_errors_doc)]

mod access;
mod announce;
mod app;
mod arrivals;
mod audit;
mod body_memory;
mod checks;
mod cpu;
mod error;
mod filter;
mod forwarding;
mod heartbeats;
mod idps;
mod ids;
mod in_flight;
mod inbox_versions;
mod inboxes;
mod installation;
mod jobs;
mod keyed_locks;
mod leases;
mod limits;
mod live;
mod log_throttle;
mod mail;
mod maintenance;
mod message_scans;
mod messages;
pub mod metrics;
mod mocks;
mod onboarding;
mod parts;
mod people;
mod plans;
mod read_marks;
mod receive;
mod row_counts;
mod rows;
mod secrets;
mod segment_reviews;
mod settings;
mod spam_engine;
mod sso;
mod sso_problem;
mod status;
mod storage_room;
mod supervisor;
mod team_cache;
mod teams;
mod upgrade;
mod usage;
mod webhooks;

pub use access::{AccessControl, ApiKeyDetails, DeliveryTarget, LoginRefused, NewKey};
pub use app::App;
pub use arrivals::Arrivals;
pub use audit::{AuditAction, AuditLog, KeptLog};
pub use body_memory::{AnswerReservation, BodyMemory, ClientShare, HandledRequest, MemoryHold};
pub use checks::{
    AuthDns, AuthMail, AuthQuery, AuthUnreadable, Authenticator, Checks, LinkAnswer, LinkFailure,
    LinkVisit, LinkVisitor,
};
pub use cpu::CpuPool;
pub use error::{Error, Fault, Forbidden, Issue, Result, Unauthenticated};
pub use filter::Filter;
pub use forwarding::{AddedAddress, Confirmation, ForwardAttempt, Forwarding};
pub use idps::{
    CODE_LIFETIME, EventQuery, FaultProtocol, FaultScenario, FaultUse, IdpChange, IdpHandle,
    IdpRotation, IdpSession, IdpUserChange, Idps, NewIdp, NewIdpEvent, NewIdpFault, NewIdpUser,
    Redeemed, RefreshToken, Refreshed, SamlKey, SamlSession, web_url_problem,
};
pub use inboxes::{
    InboxChange, InboxPage, InboxQuery, Inboxes, NewInbox, ProjectPage, ProjectQuery,
};
pub use installation::{Installation, Start};
pub use jobs::{Claimed, Jobs, MissingCapability};
pub use live::{Feed, FeedEvent, LiveUpdates, Waited};
pub use mail::{
    MailAttempt, MailHealth, OutboundMail, OutgoingMail, Relay, RelayError, RelayStage,
};
pub use maintenance::{Health, Maintenance};
pub use messages::{
    Download, ListQuery, Messages, Original, Page, Pieces, PreviewUrl, RenderedHtml, Signature,
};
pub use mocks::{
    CallQuery, DeliveryQuery, MockAddress, MockAnswer, MockChange, MockPageAddress,
    MockPageDecided, Mocks, NewMock,
};
pub use onboarding::FirstSteps;
pub use people::{
    LinkInput, LinkKind, LinkRequest, NewSession, People, SignUp, SignedIn, SignedUp, Visitor,
};
pub use plans::{Plan, PlanCatalog, PlanFeature, PlanLimit, Plans};
pub use receive::{Incoming, MailReceiver};
pub use secrets::MasterKey;
pub use settings::{Outbound, Settings};
pub use spam_engine::{
    SpamEngine, SpamEngineAddress, SpamEngineChoice, SpamEngineFailure, SpamJudgement, SpamMail,
};
pub use sso::{
    Authorization, ExternalAccount, IdentityProvider, ProviderAnswer, ProviderClient, SingleSignOn,
    SsoAnswer, SsoSettings, SsoStart,
};
pub use sso_problem::{ProviderFailure, SsoProblem};
pub use status::{Probe, ProbeMail, QueueProbe, Status, StorageProbe, WebhookProbe};
pub use supervisor::Supervisor;
pub use teams::Teams;
pub use upgrade::Upgrades;
pub use usage::{TeamUsage, UsageReport};
pub use webhooks::{
    NewWebhook, RequestSigner, WebhookChange, WebhookFailure, WebhookOutcome, WebhookReply,
    WebhookRequest, WebhookSender, Webhooks,
};

pub use trapline_checks::html::Dataset as MailClientData;
pub use trapline_mime::escape_html;
pub use trapline_mocks::{HostedPage, InjectedFault, MockCall, MockReply, slug_of_credential};
pub use trapline_store::records::{IdpCode, IdpGrant, IdpSignIn, IdpUserRecord};
pub use trapline_store::{Job, Lane, Lease, PortError, Rate, RateDecision};
