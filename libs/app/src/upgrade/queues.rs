//! Jobs and tasks that waited in hours move to minutes.

use trapline_store::{
    Key, Op, Record as _, Row, Scan, Table, Value, When,
    records::{CHORES, HOURLY_OUTBOX, MaintenanceTask, Outbox, TaskQueue},
};

use super::Upgrades;
use crate::{Result, rows::write_all};

const PAGE_ROWS: usize = 200;

/// Moves every row of the queues by the hour. Documents stay as they are.
pub(super) async fn run(upgrades: &Upgrades) -> Result<()> {
    let tables = [CHORES, HOURLY_OUTBOX];
    upgrades.store.prepare(&tables).await?;
    for table in tables {
        for partition in upgrades.store.partitions(table).await? {
            move_partition(upgrades, table, &partition).await?;
        }
    }
    Ok(())
}

async fn move_partition(
    upgrades: &Upgrades,
    table: &'static Table,
    partition: &[Value],
) -> Result<()> {
    let store = &*upgrades.store;
    loop {
        let scan = Scan::of(table, partition.to_vec(), PAGE_ROWS);
        let rows = store.scan(scan).await?;
        if rows.is_empty() {
            return Ok(());
        }
        write_all(store, rows.iter().filter_map(|row| moved(upgrades, table, row)).collect())
            .await?;
        let delete = |row: Row| {
            let key = Key { table, partition: partition.to_vec(), sort: row.sort };
            Op::Delete { key, when: When::Always }
        };
        write_all(store, rows.into_iter().map(delete).collect()).await?;
    }
}

/// The row of a queue by the minute, due when it was, or now.
fn moved(upgrades: &Upgrades, table: &'static Table, row: &Row) -> Option<Op> {
    // The keys of both are of one form.
    let (due, name) = MaintenanceTask::place(row)?;
    let (due, doc) = (due.max(upgrades.clock.now()), row.doc.clone());
    if table == HOURLY_OUTBOX {
        return Some(Outbox::put_doc(Outbox::row(due, name), doc));
    }
    // What this release does not know waits beside the segments.
    let known = MaintenanceTask::of(row).map(|task| task.task.queue());
    Some(MaintenanceTask::put(known.unwrap_or(TaskQueue::Segments), due, name, doc))
}
