//! Actions that entries tell of, and their targets.

use trapline_model::TeamId;
use trapline_store::records;

macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident = $name:literal;)+) => {
        /// A change that the log tells of.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AuditAction { $($(#[$doc])* $action,)+ }

        impl AuditAction {
            /// Every action.
            pub const ALL: &[Self] = &[$(Self::$action),+];

            /// Its name in the log: the kind of its target and a verb.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$action => $name,)+ }
            }
        }
    };
}

actions! {
    /// A project was made.
    ProjectCreated = "project.created";
    /// A project was given another name.
    ProjectRenamed = "project.renamed";
    /// A project was removed; its inboxes stay.
    ProjectDeleted = "project.deleted";
    /// An inbox was made.
    InboxCreated = "inbox.created";
    /// An inbox's name, project, bound or end was changed.
    InboxUpdated = "inbox.updated";
    /// An inbox was given another SMTP password.
    InboxCredentialsRotated = "inbox.credentials_rotated";
    /// An inbox's messages were removed.
    InboxEmptied = "inbox.emptied";
    /// An inbox was removed, with its messages.
    InboxDeleted = "inbox.deleted";
    /// Some of an inbox's messages were removed together.
    InboxMessagesDeleted = "inbox.messages_deleted";
    /// A message was removed.
    MessageDeleted = "message.deleted";
    /// A message was sent on to addresses.
    MessageForwarded = "message.forwarded";
    /// A webhook was made.
    WebhookCreated = "webhook.created";
    /// A webhook's address, inbox or events were changed, or whether it is enabled.
    WebhookUpdated = "webhook.updated";
    /// A webhook was removed.
    WebhookDeleted = "webhook.deleted";
    /// A webhook's secret was shown, or those of all; told once an hour for each actor and webhook.
    WebhookSecretRead = "webhook.secret_read";
    /// A mock was made.
    MockCreated = "mock.created";
    /// A mock's name, address, project or settings were changed.
    MockUpdated = "mock.updated";
    /// A mock was given other credentials.
    MockCredentialsRotated = "mock.credentials_rotated";
    /// What a mock kept was cleared.
    MockCleared = "mock.cleared";
    /// A mock was removed.
    MockDeleted = "mock.deleted";
    /// An inbox's DNS zone was set or removed.
    DnsZoneUpdated = "dns_zone.updated";
    /// An inbox's automatic forwarding was set.
    ForwardingUpdated = "forwarding.updated";
    /// A forwarding address was added.
    ForwardAddressAdded = "forward_address.added";
    /// A forwarding address was confirmed by its owner.
    ForwardAddressVerified = "forward_address.verified";
    /// A forwarding address was removed.
    ForwardAddressDeleted = "forward_address.deleted";
    /// A mock identity provider was made.
    IdpCreated = "idp.created";
    /// A mock identity provider's settings were changed.
    IdpUpdated = "idp.updated";
    /// A mock identity provider was removed, with its users.
    IdpDeleted = "idp.deleted";
    /// The secret of a mock identity provider's client was rotated.
    IdpSecretRotated = "idp.secret_rotated";
    /// A mock identity provider's keys were rotated.
    IdpKeysRotated = "idp.keys_rotated";
    /// A mock identity provider's activity log was cleared.
    IdpEventsCleared = "idp.events_cleared";
    /// What a mock identity provider is to do wrong was changed.
    IdpFaultsChanged = "idp.faults_changed";
    /// A test user was added to a mock identity provider.
    IdpUserCreated = "idp_user.created";
    /// A test user was changed.
    IdpUserUpdated = "idp_user.updated";
    /// A test user was removed.
    IdpUserDeleted = "idp_user.deleted";
    /// An API key was made.
    ApiKeyCreated = "api_key.created";
    /// An API key was revoked.
    ApiKeyRevoked = "api_key.revoked";
    /// Somebody joined the team.
    MemberJoined = "member.joined";
    /// Somebody was given another role.
    MemberRoleChanged = "member.role_changed";
    /// Somebody of the team gave themselves another name.
    MemberRenamed = "member.renamed";
    /// Somebody of the team has another address.
    MemberAddressChanged = "member.address_changed";
    /// Somebody was removed from the team.
    MemberRemoved = "member.removed";
    /// Somebody left the team.
    MemberLeft = "member.left";
    /// Somebody was invited.
    InvitationCreated = "invitation.created";
    /// An invitation was taken back.
    InvitationDeleted = "invitation.deleted";
    /// The team was given another name.
    TeamRenamed = "team.renamed";
    /// The team has another owner.
    TeamTransferred = "team.transferred";
    /// The team was deleted.
    TeamDeleted = "team.deleted";
    /// Single sign-on was set up or changed.
    SsoUpdated = "sso.updated";
    /// Single sign-on was taken away.
    SsoDeleted = "sso.deleted";
    /// The operator verified a mail domain for single sign-on.
    SsoDomainVerified = "sso.domain_verified";
    /// Somebody signed in by single sign-on for the first time.
    MemberLinked = "member.linked";
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetKind {
    Team,
    Project,
    Inbox,
    Message,
    Webhook,
    Mock,
    ForwardAddress,
    ApiKey,
    Member,
    Invitation,
    Sso,
    Idp,
    IdpUser,
}

impl TargetKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Project => "project",
            Self::Inbox => "inbox",
            Self::Message => "message",
            Self::Webhook => "webhook",
            Self::Mock => "mock",
            Self::ForwardAddress => "forward_address",
            Self::ApiKey => "api_key",
            Self::Member => "member",
            Self::Invitation => "invitation",
            Self::Sso => "sso",
            Self::Idp => "idp",
            Self::IdpUser => "idp_user",
        }
    }
}

/// The target of an action.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) id: String,
    pub(crate) name: String,
}

impl Target {
    pub(crate) fn new(kind: TargetKind, id: &impl ToString, name: &str) -> Self {
        Self { kind, id: id.to_string(), name: name.to_owned() }
    }

    pub(crate) fn team(id: TeamId) -> Self {
        Self::new(TargetKind::Team, &id, "")
    }

    pub(crate) fn project(project: &records::Project) -> Self {
        Self::new(TargetKind::Project, &project.id, &project.name)
    }

    pub(crate) fn inbox(inbox: &records::Inbox) -> Self {
        Self::new(TargetKind::Inbox, &inbox.id, &inbox.name)
    }

    pub(crate) fn webhook(webhook: &records::Webhook) -> Self {
        Self::new(TargetKind::Webhook, &webhook.id, &webhook.url)
    }

    pub(crate) fn mock(mock: &records::Mock) -> Self {
        Self::new(TargetKind::Mock, &mock.id, &mock.name)
    }

    pub(crate) fn forward_address(address: &records::ForwardAddress) -> Self {
        Self::new(TargetKind::ForwardAddress, &address.id, &address.email)
    }

    pub(crate) fn idp(idp: &records::IdpRecord) -> Self {
        Self::new(TargetKind::Idp, &idp.id, &idp.name)
    }

    pub(crate) fn idp_user(user: &records::IdpUserRecord) -> Self {
        Self::new(TargetKind::IdpUser, &user.id, &user.email)
    }

    pub(crate) fn api_key(key: &records::ApiKey) -> Self {
        Self::new(TargetKind::ApiKey, &key.id, &key.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_action_has_a_word_of_its_own() {
        let words: HashSet<_> = AuditAction::ALL.iter().map(|action| action.name()).collect();
        assert_eq!(words.len(), AuditAction::ALL.len());
    }
}
