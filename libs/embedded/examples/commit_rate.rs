//! How fast mail can be committed: `cargo run --release --example commit_rate [mails]`.
//!
//! Groups of mails of 6 KB with a row of 700 bytes each go to 200 inboxes; two groups are in
//! flight, as on the receiving path. Prints, for both durabilities and several group sizes, mails a
//! second, processor time and file bytes for each mail, and the time that reading one takes.
#![expect(clippy::print_stdout, reason = "what the program is for")]

use std::{
    error::Error,
    fs,
    ops::Range,
    time::{Duration, Instant},
};

use trapline_embedded::{Durability, Embedded, Options};
use trapline_model::{InboxId, MessageId};
use trapline_store::{
    Column, Group, Key, Kind, Op, Order, Ports, Scan, Storage, Table, Value, When, Writes,
    segment::{Builder, Class, name},
};
use uuid::{Builder as Ids, Uuid};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const INBOXES: u64 = 200;
/// The instant of the first mail, in milliseconds since 1970.
const START: u64 = 1_790_000_000_000;
/// Where the numbers of the second half begin.
const OTHER_HALF: u64 = 1 << 40;
const READS: u32 = 2000;

static MESSAGES: Table = Table {
    name: "message",
    partition: &[Column { name: "inbox_id", kind: Kind::Uuid }],
    sort: &[Column { name: "message_id", kind: Kind::Uuid }],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

#[tokio::main]
async fn main() -> Outcome {
    let mails = std::env::args().nth(1).map_or(Ok(20_000), |text| text.parse())?;
    for durability in [Durability::Power, Durability::Process] {
        for size in [1, 4, 16, 64] {
            // Groups of one wait for the disk each time: fewer of them say as much.
            run(durability, size, mails / if size == 1 { 5 } else { 1 }).await?;
        }
    }
    Ok(())
}

async fn run(durability: Durability, size: u64, mails: u64) -> Outcome {
    let folder = tempfile::tempdir()?;
    let embedded = Embedded::open(Options { durability, ..Options::new(folder.path()) }).await?;
    let ports = embedded.ports();
    ports.store.prepare(&[&MESSAGES]).await?;
    let (started, used) = (Instant::now(), processor_micros()?);
    let half = mails / 2;
    let (one, other) =
        tokio::try_join!(commit(&ports, 0, size, half), commit(&ports, OTHER_HALF, size, half),)?;
    let (wall, used) = (started.elapsed(), processor_micros()? - used);
    let (rate, each) = (ratio(mails, 1) / wall.as_secs_f64(), ratio(used, mails));
    let slowest = one.max(other);
    print!("{durability:?}, groups of {size}: {rate:.0} mails/s, {each:.0} µs processor, ");
    print!("slowest commit {slowest:.0?}, ");
    read(&ports, half).await?;
    embedded.close().await;
    let file = fs::metadata(folder.path().join("trapline.db"))?;
    println!("{:.0} bytes", ratio(file.len(), mails));
    Ok(())
}

/// Commits one group after the other; returns the longest time that one took.
async fn commit(ports: &Ports, base: u64, size: u64, mails: u64) -> Outcome<Duration> {
    let mut slowest = Duration::ZERO;
    for first in (0..mails).step_by(usize::try_from(size)?) {
        let group = group(base + first..base + (first + size).min(mails))?;
        let started = Instant::now();
        ports.intake.commit(group).await?;
        slowest = slowest.max(started.elapsed());
    }
    Ok(slowest)
}

fn group(numbers: Range<u64>) -> Outcome<Group> {
    let (segment, mut builder) = (name(Class::Keep, uuid(numbers.start)), Builder::new());
    let mut rows = Vec::new();
    for id in numbers.map(message) {
        let placed = builder.add(&[id], &[b'm'; 6000]);
        let blob = placed.within(&segment);
        let doc = format!("{}{}", serde_json::to_string(&blob)?, "d".repeat(580));
        rows.push(Op::Put { key: key(id), doc, ttl: None, when: When::Always });
    }
    Ok(Group { segment, bytes: builder.finish(), before: Vec::new(), rows, job: None })
}

/// Times single rows, and the first page of an inbox.
async fn read(ports: &Ports, mails: u64) -> Outcome {
    let started = Instant::now();
    for number in 0..READS {
        ports.store.get(&key(message(u64::from(number) % mails))).await?;
    }
    let get = started.elapsed() / READS;
    let started = Instant::now();
    for number in 0..READS {
        let partition = key(message(number.into())).partition;
        let (after, until, limit, keys_only) = (None, None, 50, false);
        let scan = Scan { table: &MESSAGES, partition, after, until, limit, keys_only };
        ports.store.scan(scan).await?;
    }
    print!("get {get:.1?}, page of 50 {:.0?}, ", started.elapsed() / READS);
    Ok(())
}

fn message(number: u64) -> MessageId {
    let inbox = InboxId(Uuid::from_u128(u128::from(number % INBOXES) << 64));
    MessageId { inbox, uuid: uuid(number) }
}

fn key(id: MessageId) -> Key {
    let (partition, sort) = (vec![Value::Uuid(id.inbox.0)], vec![Value::Uuid(id.uuid)]);
    Key { table: &MESSAGES, partition, sort }
}

/// A UUIDv7, one millisecond after that of the number before.
fn uuid(number: u64) -> Uuid {
    let millis = START + (number & 0xffff_ffff);
    let mut random = [0; 10];
    random[2..].copy_from_slice(&number.to_be_bytes());
    Ids::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// What the process has used in user and kernel, of which Linux counts hundredths of a second.
fn processor_micros() -> Outcome<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let times = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
    Ok(times.sum::<Result<u64, _>>()? * 10_000)
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people")]
fn ratio(amount: u64, count: u64) -> f64 {
    amount as f64 / count as f64
}
