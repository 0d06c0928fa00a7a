//! Typed rows, written once over the ports. Every resource of a team lives under the team's id, so
//! that another team's id is simply not there.

mod access;
mod backlog;
mod forwarding;
mod heartbeat;
mod hourly;
mod inbox;
mod lease;
mod mail;
mod message;
mod outbox;
mod progress;
mod queue;
mod segment;
mod task;
mod upgrade;
mod webhook;

use trapline_model::{InboxId, TeamId};
use uuid::Uuid;

use crate::{Column, Key, Kind, Scan, Table, Value};

pub use access::{ApiKey, ApiKeyByHash, ApiKeyUse, FirstRun, KeyOrigin, SharedSecret, Team};
pub use backlog::BacklogEntry;
pub use forwarding::{Forward, ForwardAddress, ForwardRule, Verification};
pub use heartbeat::Heartbeat;
pub use hourly::{CHORES, HOURLY_OUTBOX};
pub use inbox::{Inbox, InboxEntry, InboxState, Login, Project};
pub use lease::Lease;
pub use mail::{Mail, MailFailure, MailSend};
pub use message::{Mark, Message};
pub use outbox::Outbox;
pub use progress::Progress;
pub use queue::{Position, Slice};
pub use segment::{Moved, SegmentAlias};
pub use task::{MaintenanceTask, Task, TaskQueue};
pub use upgrade::Upgrade;
pub use webhook::{Delivery, DeliveryBucket, DeliveryPayload, Webhook, WebhookStatus};

/// Every table of the product.
pub const TABLES: [&Table; 33] = [
    access::TEAM,
    access::API_KEY,
    access::API_KEY_BY_HASH,
    access::API_KEY_USE,
    access::FIRST_RUN,
    access::SHARED_SECRET,
    inbox::PROJECT,
    inbox::INBOX,
    inbox::INBOX_ENTRY,
    inbox::LOGIN,
    inbox::INBOX_STATE,
    message::MESSAGE,
    message::MARK,
    task::MAINTENANCE_TASK,
    lease::LEASE,
    outbox::OUTBOX,
    progress::PROGRESS,
    segment::ALIAS,
    webhook::WEBHOOK,
    webhook::WEBHOOK_STATUS,
    webhook::DELIVERY,
    webhook::DELIVERY_PAYLOAD,
    webhook::DELIVERY_BUCKET,
    backlog::WEBHOOK_BACKLOG,
    forwarding::FORWARD_RULE,
    forwarding::FORWARD_ADDRESS,
    forwarding::VERIFICATION,
    forwarding::FORWARD,
    mail::MAIL,
    mail::MAIL_SEND,
    mail::MAIL_FAILURE,
    heartbeat::HEARTBEAT,
    upgrade::UPGRADE,
];

/// Into how many partitions a minute's tasks and jobs are spread.
pub const SHARDS: i64 = 8;

fn shard_of(subject: &str) -> i64 {
    i64::from(crc32c::crc32c(subject.as_bytes())) % SHARDS
}

const fn uuid(name: &'static str) -> Column {
    Column { name, kind: Kind::Uuid }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}

const fn int(name: &'static str) -> Column {
    Column { name, kind: Kind::Int }
}

fn of_team(table: &'static Table, team: TeamId, id: Uuid) -> Key {
    Key { table, partition: vec![Value::Uuid(team.0)], sort: vec![Value::Uuid(id)] }
}

fn of_inbox(table: &'static Table, inbox: InboxId, id: Uuid) -> Key {
    Key { table, partition: vec![Value::Uuid(inbox.0)], sort: vec![Value::Uuid(id)] }
}

fn single(table: &'static Table, value: Value) -> Key {
    Key { table, partition: vec![value], sort: Vec::new() }
}

/// A team's rows of a table that is sorted by one id.
fn team_scan(table: &'static Table, team: TeamId, limit: usize) -> Scan {
    let Key { partition, .. } = of_team(table, team, Uuid::nil());
    Scan { table, partition, after: None, until: None, limit, keys_only: false }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::TABLES;

    #[test]
    fn every_table_and_column_has_a_name_of_its_own() {
        let tables: HashSet<_> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(tables.len(), TABLES.len());
        for table in TABLES {
            let keys = table.partition.iter().chain(table.sort).map(|column| column.name);
            // Every backend has these three beside the keys.
            let mut names: Vec<_> = keys.chain(["doc", "version", "expires"]).collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{}", table.name);
        }
    }
}
