//! Deliveries that had their payload in each row, in partitions of an hour, become two rows each.

use serde::{Deserialize, Serialize};
use trapline_store::{
    Column, Key, Kind, Op, Order, Row, Scan, Table, Value, When,
    records::{Delivery, DeliveryPayload},
};

use super::Upgrades;
use crate::{
    Result,
    rows::{Pages, write_all},
};

pub(super) const OLD: &Table = &Table {
    name: "delivery",
    partition: &[
        Column { name: "webhook_id", kind: Kind::Uuid },
        Column { name: "hour", kind: Kind::Int },
    ],
    sort: &[Column { name: "delivery_id", kind: Kind::Uuid }],
    order: Order::NewestFirst,
    ..Table::PLAIN
};

/// Deliveries that are moved together; each has up to 64 KiB.
const PAGE_ROWS: usize = 100;

/// A delivery of an earlier release.
#[derive(Serialize, Deserialize)]
struct OldDelivery {
    #[serde(flatten)]
    delivery: Delivery,
    payload: String,
}

pub(super) async fn run(upgrades: &Upgrades) -> Result<()> {
    upgrades.store.prepare(&[OLD]).await?;
    for partition in upgrades.store.partitions(OLD).await? {
        let scan = Scan::of(OLD, partition.clone(), PAGE_ROWS);
        let mut pages = Pages::of(&*upgrades.store, scan);
        while let Some(rows) = pages.next().await? {
            move_rows(upgrades, &partition, &rows).await?;
        }
    }
    Ok(())
}

async fn move_rows(upgrades: &Upgrades, partition: &[Value], rows: &[Row]) -> Result<()> {
    let (mut puts, mut gone, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let OldDelivery { delivery, payload } = match serde_json::from_str(&row.doc) {
            Ok(old) => old,
            Err(error) => {
                tracing::error!(%error, delivery = ?row.sort, "a delivery cannot be read, and stays behind");
                continue;
            }
        };
        let payload = DeliveryPayload { webhook: delivery.webhook, id: delivery.id, payload };
        puts.extend(upgrades.webhooks.new_delivery_rows(&delivery, &payload)?);
        let key = Key { table: OLD, partition: partition.to_vec(), sort: row.sort.clone() };
        gone.push(Op::Delete { key, when: When::Always });
        moved.push(delivery);
    }
    write_all(&*upgrades.store, puts).await?;
    for delivery in &moved {
        upgrades.webhooks.bucket_written(delivery);
    }
    Ok(write_all(&*upgrades.store, gone).await?)
}
