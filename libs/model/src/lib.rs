//! What the whole product speaks of: ids, times, addresses, resources. No I/O.

mod access;
mod address;
mod api_key;
mod audit;
mod checks;
mod forwarding;
mod id;
mod idp;
mod idp_event;
mod inbox;
mod link_check;
mod mail_auth;
mod message;
mod mock;
mod onboarding;
mod person;
mod sso;
mod status;
mod team;
mod time;
mod webhook;

pub use access::{Access, Actor, KEY_PREFIX, Principal, Role};
pub use address::Address;
pub use api_key::{KeyMaker, ListedApiKey};
pub use audit::{ActorKind, AuditActor, AuditEntry, AuditTarget};
pub use checks::{
    ChecksOverview, ClientScore, ClientSupport, FeatureKind, FeatureNote, FindingSeverity,
    HtmlCheckInfo, HtmlDataset, HtmlIssue, HtmlLocation, HtmlReport, MailClient, MatchedRule,
    SpamCheckInfo, SpamEngineInfo, SpamReport, SupportLevel, SupportShares, UnsubscribeFinding,
    UnsubscribeReport, UnsubscribeUri,
};
pub use forwarding::{
    Forward, ForwardAddress, ForwardMatch, ForwardStatus, Forwarding, ForwardingStatus,
    InboxForwarding,
};
pub use id::{
    ApiKeyId, AuditEntryId, DeliveryId, ForwardAddressId, ForwardId, IdpEventId, IdpFaultId, IdpId,
    IdpUserId, InboxId, InvalidId, InvitationId, MailId, MessageId, MockCallId, MockDeliveryId,
    MockId, PersonId, ProjectId, TeamId, WebhookId,
};
pub use idp::{
    Idp, IdpClientType, IdpEndpoints, IdpKey, IdpUser, NameIdFormat, RefreshTokenPolicy, SamlSign,
    SigningAlg,
};
pub use idp_event::{IdpEvent, IdpEventError, IdpEventKind, IdpFault};
pub use inbox::{Inbox, Project, SmtpAccess};
pub use link_check::{CheckedLink, LinkCheckReport, LinkRedirect, LinkUse, OneClickReport};
pub use mail_auth::{
    AuthFinding, AuthReport, DkimVerdict, DmarcVerdict, DnsRecord, DnsRecordType, DnsSource,
    DnsZone, SpfVerdict,
};
pub use message::{Attachment, Envelope, Header, Link, Message, NearMiss, Summary, Warning};
pub use mock::{
    ApiMock, MockAddresses, MockCallDetails, MockCallPage, MockCallSummary, MockCategory,
    MockDecline, MockDelivery, MockDeliveryDetails, MockHappened, MockHeader, MockObject,
    MockOwnSetting, MockProvider, MockSdk, MockSnippet, MockStep, MockTransfer,
};
pub use onboarding::{Onboarding, OnboardingStep};
pub use person::{Me, OwnSession, OwnTeam, Person, SignInOptions};
pub use sso::{ClaimedDomain, SsoConnection};
pub use status::{
    Component, ComponentStatus, DayStatus, JobBacklog, ServiceState, ServiceStatus, StatusIncident,
};
pub use team::{Member, OpenInvitation, RemovedMember, TeamProfile};
pub use time::{InvalidTime, Time};
pub use webhook::{Delivery, DeliveryStatus, EventName, Subscription, Webhook};
