//! Mocks of other providers' APIs, what they keep, what they were asked, and what they send.
//!
//! All that a mock keeps is one partition, so that what one call changes is one write. Clearing a mock begins a new
//! epoch: nothing reads the partitions of the old one again.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use trapline_model::{
    DeliveryStatus, MockCallId, MockCallSummary, MockDeliveryId, MockHeader, MockId, MockTransfer,
    ProjectId, TeamId, Time,
};
use uuid::Uuid;

use super::{int, of_team, single, team_scan, text, uuid};
use crate::{Key, Op, Order, Record, Row, RowOwner, Scan, Storage, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] =
    &[MOCK, MOCK_BY_SLUG, MOCK_STATE, MOCK_LOG, MOCK_CALL, MOCK_CALL_BODY, MOCK_DELIVERY];

const MOCK: &Table = &Table {
    name: "mock",
    partition: &[uuid("team_id")],
    sort: &[uuid("mock_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "A mock of a provider's API; its credentials are sealed.",
    ..Table::PLAIN
};

const MOCK_BY_SLUG: &Table = &Table {
    name: "mock_by_slug",
    partition: &[text("slug")],
    writes: Writes::Guarded,
    about: "Which mock an address means.",
    ..Table::PLAIN
};

const MOCK_STATE: &Table = &Table {
    name: "mock_state",
    partition: &[uuid("mock_id"), int("epoch")],
    sort: &[text("item")],
    order: Order::NewestFirst,
    writes: Writes::Guarded,
    owner: RowOwner::Mock,
    about: "What a mock keeps: objects by kind, keys of calls, counters, and what is to be sent.",
    ..Table::PLAIN
};

const MOCK_LOG: &Table = &Table {
    name: "mock_log",
    partition: &[uuid("mock_id"), int("epoch")],
    sort: &[uuid("entry_id")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(24), ttl: MockEpoch::KEPT },
    owner: RowOwner::Mock,
    about: "What a mock keeps and no call reads, such as events of analytics.",
    ..Table::PLAIN
};

const MOCK_CALL: &Table = &Table {
    name: "mock_call",
    partition: &[uuid("mock_id"), int("epoch")],
    sort: &[uuid("call_id")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(24), ttl: MockCallRow::KEPT },
    owner: RowOwner::Mock,
    about: "Calls of a mock, as they are listed.",
    ..Table::PLAIN
};

const MOCK_CALL_BODY: &Table = &Table {
    name: "mock_call_body",
    partition: &[uuid("mock_id"), int("epoch")],
    sort: &[uuid("call_id")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(24), ttl: MockCallRow::KEPT },
    owner: RowOwner::Mock,
    about: "Headers and bodies of calls of a mock.",
    ..Table::PLAIN
};

const MOCK_DELIVERY: &Table = &Table {
    name: "mock_delivery",
    partition: &[uuid("mock_id"), int("epoch")],
    sort: &[uuid("delivery_id")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(24), ttl: MockDeliveryRow::KEPT },
    owner: RowOwner::Mock,
    about: "What a mock sends, and where that stands.",
    ..Table::PLAIN
};

/// A mock.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mock {
    /// The mock's id.
    pub id: MockId,
    /// The team it belongs to.
    pub team: TeamId,
    /// What people call it.
    pub name: String,
    /// The provider's id.
    pub provider: String,
    /// What it is called by in addresses.
    pub slug: String,
    /// Where it sends what happens.
    pub webhook_url: Option<String>,
    /// Statuses with which that address has answered the provider's handshake since it was set, where they were right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handshake: Vec<u16>,
    /// The project that it is grouped under.
    pub project: Option<ProjectId>,
    /// The settings that somebody set.
    pub settings: Json,
    /// How often these were changed.
    pub revision: i64,
    /// When they were last changed.
    pub settings_at: Time,
    /// Its credentials by name, each sealed.
    pub credentials: BTreeMap<String, String>,
    /// How often it was cleared.
    pub epoch: i64,
    /// When it goes.
    pub expires_at: Option<Time>,
    /// The time of creation.
    pub created_at: Time,
}

impl Mock {
    /// The mock's row.
    #[must_use]
    pub fn row(team: TeamId, id: MockId) -> Key {
        of_team(MOCK, team, id.0)
    }

    /// A team's mocks, oldest first.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(MOCK, team, limit)
    }
}

impl Record for Mock {
    const TABLE: &'static Table = MOCK;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// Which mock a slug means. No two mocks have the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MockBySlug {
    /// The slug.
    pub slug: String,
    /// Whose the mock is.
    pub team: TeamId,
    /// The mock.
    pub mock: MockId,
}

impl MockBySlug {
    /// The row of a slug.
    #[must_use]
    pub fn row(slug: &str) -> Key {
        single(MOCK_BY_SLUG, Value::Text(slug.to_owned()))
    }
}

impl Record for MockBySlug {
    const TABLE: &'static Table = MOCK_BY_SLUG;
    fn key(&self) -> Key {
        Self::row(&self.slug)
    }
}

/// Where all is kept that a mock has since it was last cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MockEpoch {
    /// The mock.
    pub mock: MockId,
    /// How often it was cleared before.
    pub epoch: i64,
}

impl MockEpoch {
    /// How long what a mock keeps stays after it was last written.
    pub const KEPT: Duration = Duration::from_hours(30 * 24);

    fn partition(self) -> Vec<Value> {
        vec![Value::Uuid(self.mock.0), Value::Int(self.epoch)]
    }

    fn of(self, table: &'static Table, id: Uuid) -> Key {
        Key { table, partition: self.partition(), sort: vec![Value::Uuid(id)] }
    }

    /// The row of something that is kept; `kind` has no slash.
    #[must_use]
    pub fn item(self, kind: &str, id: &str) -> Key {
        let sort = vec![Value::Text(format!("{kind}/{id}"))];
        Key { table: MOCK_STATE, partition: self.partition(), sort }
    }

    /// What is kept of one kind, the largest id first.
    #[must_use]
    pub fn items(self, kind: &str, limit: usize) -> Scan {
        let bound = |end: char| Some(vec![Value::Text(format!("{kind}{end}"))]);
        // The character behind the slash.
        let (after, until) = (bound('0'), bound('/'));
        Scan { after, until, ..self.all_items(limit) }
    }

    /// All that is kept.
    #[must_use]
    pub fn all_items(self, limit: usize) -> Scan {
        Scan::of(MOCK_STATE, self.partition(), limit)
    }

    /// The row of something that is kept and that no call reads; the id begins with its time.
    #[must_use]
    pub fn entry(self, id: Uuid) -> Key {
        self.of(MOCK_LOG, id)
    }

    /// What is kept and no call reads, newest first.
    #[must_use]
    pub fn entries(self, limit: usize) -> Scan {
        Scan::of(MOCK_LOG, self.partition(), limit)
    }

    /// The calls, newest first.
    #[must_use]
    pub fn calls(self, limit: usize) -> Scan {
        Scan::of(MOCK_CALL, self.partition(), limit)
    }

    /// The deliveries, newest first.
    #[must_use]
    pub fn deliveries(self, limit: usize) -> Scan {
        Scan::of(MOCK_DELIVERY, self.partition(), limit)
    }

    /// The keys of the newest calls, of the newest deliveries, and of the newest that no call reads.
    #[must_use]
    pub fn logs(self, limit: usize) -> [Scan; 3] {
        let logs = [self.calls(limit), self.deliveries(limit), self.entries(limit)];
        logs.map(|log| Scan { keys_only: true, ..log })
    }

    /// The writes that remove a row of one of the [`logs`](Self::logs) and all that are older; of calls also what
    /// they sent and were answered.
    #[must_use]
    pub fn removal_until(self, log: &Scan, row: &Row) -> Vec<Op> {
        let bodies = (log.table.name == MOCK_CALL.name).then_some(MOCK_CALL_BODY);
        let until = |table| Key { table, partition: self.partition(), sort: row.sort.clone() };
        let tables = [Some(log.table), bodies].into_iter().flatten();
        tables.map(|table| Op::DeleteUntil { until: until(table) }).collect()
    }

    /// The tables whose rows of an epoch go by one range delete.
    pub(super) fn log_tables(self) -> [Key; 4] {
        [MOCK_LOG, MOCK_CALL, MOCK_CALL_BODY, MOCK_DELIVERY]
            .map(|table| self.of(table, Uuid::max()))
    }
}

/// A call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MockCallRow {
    /// Where it is kept.
    pub of: MockEpoch,
    /// The call.
    pub call: MockCallSummary,
}

impl MockCallRow {
    /// How long a call is listed.
    pub const KEPT: Duration = Duration::from_hours(7 * 24);

    /// The call's row.
    #[must_use]
    pub fn row(of: MockEpoch, id: MockCallId) -> Key {
        of.of(MOCK_CALL, id.0)
    }
}

impl Record for MockCallRow {
    const TABLE: &'static Table = MOCK_CALL;
    fn key(&self) -> Key {
        Self::row(self.of, self.call.id)
    }
}

/// What a call sent and was answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MockCallBody {
    /// Where it is kept.
    pub of: MockEpoch,
    /// The call.
    pub id: MockCallId,
    /// What was sent.
    pub request: MockTransfer,
    /// What was answered.
    pub response: MockTransfer,
}

impl MockCallBody {
    /// The row of a call's bodies.
    #[must_use]
    pub fn row(of: MockEpoch, id: MockCallId) -> Key {
        of.of(MOCK_CALL_BODY, id.0)
    }
}

impl Record for MockCallBody {
    const TABLE: &'static Table = MOCK_CALL_BODY;
    fn key(&self) -> Key {
        Self::row(self.of, self.id)
    }
}

/// An event on its way from a mock to an app.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MockDeliveryRow {
    /// Where it is kept.
    pub of: MockEpoch,
    /// The delivery's id.
    pub id: MockDeliveryId,
    /// What is sent, and what the settings make of it; the engine's own form.
    pub event: Json,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// The status of the last answer.
    pub http_status: Option<u16>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// Attempts that have ended.
    pub attempts: u32,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// When the next attempt is due; `None` once there is none.
    pub next_attempt_at: Option<Time>,
    /// The end of the delivery; `None` while it goes on.
    pub completed_at: Option<Time>,
    /// The delivery that this one sends again.
    pub replay_of: Option<MockDeliveryId>,
    /// The headers of the last attempt.
    pub headers: Vec<MockHeader>,
}

impl MockDeliveryRow {
    /// How long a delivery is listed.
    pub const KEPT: Duration = Duration::from_hours(30 * 24);

    /// The delivery's row.
    #[must_use]
    pub fn row(of: MockEpoch, id: MockDeliveryId) -> Key {
        of.of(MOCK_DELIVERY, id.0)
    }
}

impl Record for MockDeliveryRow {
    const TABLE: &'static Table = MOCK_DELIVERY;
    fn key(&self) -> Key {
        Self::row(self.of, self.id)
    }
}
