//! Who caught mail is forwarded to, and what became of each forward.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{
    ForwardAddressId, ForwardId, ForwardMatch, ForwardStatus, InboxId, MessageId, TeamId, Time,
};
use uuid::Uuid;

use super::{of_team, single, team_scan, text, uuid};
use crate::{Key, Order, Record, RowOwner, Scan, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[FORWARD_RULE, FORWARD_ADDRESS, VERIFICATION, FORWARD];

const FORWARD_RULE: &Table = &Table {
    name: "forward_rule",
    partition: &[uuid("team_id")],
    sort: &[uuid("inbox_id")],
    owner: RowOwner::Team,
    about: "The automatic forwarding of an inbox.",
    ..Table::PLAIN
};

const FORWARD_ADDRESS: &Table = &Table {
    name: "forward_address",
    partition: &[uuid("team_id")],
    sort: &[uuid("address_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "An address that may get caught mail, once it is verified.",
    ..Table::PLAIN
};

const VERIFICATION: &Table = &Table {
    name: "verification",
    partition: &[text("token_sha256")],
    about: "Which address the token of a verification link is for.",
    ..Table::PLAIN
};

/// By message: whoever knows the message and the recipient knows the row.
const FORWARD: &Table = &Table {
    name: "forward",
    partition: &[uuid("inbox_id"), uuid("message_id")],
    sort: &[uuid("forward_id")],
    order: Order::NewestFirst,
    owner: RowOwner::Message,
    about: "A message on its way to an address; kept for 30 days.",
    ..Table::PLAIN
};

/// An inbox's automatic forwarding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForwardRule {
    /// The team.
    pub team: TeamId,
    /// The inbox.
    pub inbox: InboxId,
    /// Whether mail is forwarded as it arrives.
    pub enabled: bool,
    /// The addresses, as the team has them.
    pub to: Vec<String>,
    /// The condition on mail that is forwarded; `None` is all mail.
    pub matching: Option<ForwardMatch>,
}

impl ForwardRule {
    /// The inbox's row.
    #[must_use]
    pub fn row(team: TeamId, inbox: InboxId) -> Key {
        of_team(FORWARD_RULE, team, inbox.0)
    }

    /// A team's rules, by inbox.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(FORWARD_RULE, team, limit)
    }

    /// Whether mail to an inbox is this rule's business.
    #[must_use]
    pub fn wants(&self, inbox: InboxId) -> bool {
        self.enabled && self.inbox == inbox && !self.to.is_empty()
    }
}

impl Record for ForwardRule {
    const TABLE: &'static Table = FORWARD_RULE;
    fn key(&self) -> Key {
        Self::row(self.team, self.inbox)
    }
}

/// An address that a team may forward to once its owner has agreed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForwardAddress {
    /// The same for the same team and address.
    pub id: ForwardAddressId,
    /// The team.
    pub team: TeamId,
    /// The address, its domain in lower case.
    pub email: String,
    /// When its owner confirmed it.
    pub verified_at: Option<Time>,
    /// When it was added.
    pub created_at: Time,
}

impl ForwardAddress {
    /// The address's row.
    #[must_use]
    pub fn row(team: TeamId, id: ForwardAddressId) -> Key {
        of_team(FORWARD_ADDRESS, team, id.0)
    }

    /// A team's addresses, in no order that means anything.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(FORWARD_ADDRESS, team, limit)
    }
}

impl Record for ForwardAddress {
    const TABLE: &'static Table = FORWARD_ADDRESS;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// What a confirmation link stands for. Only a hash of the link's token is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// SHA-256 of the token, in hex.
    pub sha256: String,
    /// The team that asked.
    pub team: TeamId,
    /// The address that is to be confirmed.
    pub address: ForwardAddressId,
    /// When that address was added: a link does not hold for one that was removed and added again.
    pub added_at: Time,
}

impl Verification {
    /// How long a verification link works.
    pub const VALID: Duration = Duration::from_hours(7 * 24);

    /// The row of a token with this hash.
    #[must_use]
    pub fn row(sha256: &str) -> Key {
        single(VERIFICATION, Value::Text(sha256.to_owned()))
    }
}

impl Record for Verification {
    const TABLE: &'static Table = VERIFICATION;
    fn key(&self) -> Key {
        Self::row(&self.sha256)
    }
}

/// One message on its way to one recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// The forward's id.
    pub id: ForwardId,
    /// The team.
    pub team: TeamId,
    /// The message.
    pub message: MessageId,
    /// The recipient.
    pub to: String,
    /// Whether nobody asked for it but a rule.
    pub automatic: bool,
    /// The state of the forward.
    pub status: ForwardStatus,
    /// Why the last attempt failed, a stable word.
    pub error: Option<String>,
    /// Attempts that have ended.
    pub attempts: u32,
    /// When the next attempt is due; `None` once there is none.
    pub next_attempt_at: Option<Time>,
    /// The end of the forward, for better or worse; `None` while it goes on.
    pub completed_at: Option<Time>,
}

impl Forward {
    /// How long it is known that a message was forwarded.
    pub const KEPT: Duration = Duration::from_hours(30 * 24);

    /// What became of a message, newest first.
    #[must_use]
    pub fn of_message(message: MessageId, limit: usize) -> Scan {
        let Key { table, partition, .. } = Self::row(message, ForwardId(Uuid::nil()));
        Scan::of(table, partition, limit)
    }

    /// The forward's row.
    #[must_use]
    pub fn row(message: MessageId, id: ForwardId) -> Key {
        Key {
            table: FORWARD,
            partition: vec![Value::Uuid(message.inbox.0), Value::Uuid(message.uuid)],
            sort: vec![Value::Uuid(id.0)],
        }
    }
}

impl Record for Forward {
    const TABLE: &'static Table = FORWARD;
    fn key(&self) -> Key {
        Self::row(self.message, self.id)
    }
}
