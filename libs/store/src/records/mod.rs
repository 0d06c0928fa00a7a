//! Typed rows, written once over the ports. Every resource of a team lives under the team's id, so
//! that another team's id is simply not there.

mod access;
mod audit;
mod backlog;
mod dns_zone;
mod forwarding;
mod heartbeat;
mod hourly;
mod idp;
mod idp_event;
mod idp_fault;
mod idp_sign_in;
mod idp_user;
mod inbox;
mod invitation;
mod lease;
mod mail;
mod message;
mod mock;
mod outbox;
mod person;
mod progress;
mod purge;
mod queue;
mod segment;
mod session;
mod sso;
mod status;
mod task;
mod upgrade;
mod usage;
mod webhook;

use trapline_model::{InboxId, TeamId};
use uuid::Uuid;

use crate::{Column, Key, Kind, Scan, Table, Value};

pub use hourly::{CHORES, HOURLY_OUTBOX};
pub use purge::{
    parts_of_team, removal_of_deliveries, removal_of_inbox, removal_of_message, removal_of_mock,
    removal_of_rows,
};
pub use queue::{Position, Slice};

/// A record is its file, of which each has a list of tables, and the file's name here.
macro_rules! records {
    ($($file:ident)+) => {
        $(pub use $file::*;)+

        /// Every table of the product.
        pub const TABLES: [&Table; 0 $(+ $file::TABLES.len())+] = joined(&[$($file::TABLES),+]);
    };
}

records! {
    access inbox message task lease outbox progress segment webhook backlog forwarding mail heartbeat
    upgrade person session audit usage status invitation sso idp idp_user idp_event idp_sign_in idp_fault
    mock dns_zone
}

const fn joined<const COUNT: usize>(
    lists: &[&'static [&'static Table]],
) -> [&'static Table; COUNT] {
    let mut tables = [lists[0][0]; COUNT];
    let (mut list, mut count) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            tables[count] = lists[list][index];
            (count, index) = (count + 1, index + 1);
        }
        list += 1;
    }
    tables
}

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
    Scan::of(table, partition, limit)
}

#[cfg(test)]
mod tests;
