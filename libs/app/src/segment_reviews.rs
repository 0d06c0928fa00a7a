//! Plans reviews of segments with deleted messages: a review checks a segment within half a day, whenever
//! its next regular check is. They are planned where messages are removed, never where they are received.

use std::{collections::BTreeSet, time::Duration};

use trapline_model::{InboxId, Time};
use trapline_store::{
    Op, Result, Row, Scan, Store, Value,
    records::{MaintenanceTask, Message, TaskKind},
    segment::{self, Class},
};

use crate::{
    message_scans::message_keys,
    rows::{Pages, write_all},
};

/// Rows read at a time.
const PAGE_ROWS: usize = 500;
/// How long a removal may take until every process sees it, which a review counts on.
const VISIBLE_AFTER: Duration = Duration::from_mins(10);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// How long after it was made a segment has its first check: one without an end soon, one of a retention
/// class when everything in it is past its time.
pub(crate) fn first_check(class: Class) -> Duration {
    match class {
        Class::H1 | Class::Keep => HOUR,
        Class::D1 => DAY,
        Class::D7 => 7 * DAY,
    }
}

/// Plans reviews of the segments of an inbox's messages behind `after`, which are about to be removed.
pub(crate) async fn plan_reviews(
    store: &dyn Store,
    inbox: InboxId,
    after: Option<Vec<Value>>,
    now: Time,
) -> Result<()> {
    let segments = segments_in(store, inbox, after).await?;
    write_all(store, reviews(&segments, now)?).await
}

/// Plans that the messages of an inbox are taken out of their segments within a day, however much else
/// is in these. It comes before the removal of the messages.
pub(crate) async fn plan_erasures(store: &dyn Store, inbox: InboxId, now: Time) -> Result<()> {
    let due = |segment: &String| {
        let at = MaintenanceTask::erase_at(segment, now.after(VISIBLE_AFTER));
        MaintenanceTask::new(at, segment.clone(), TaskKind::EraseSegment {}).planned()
    };
    let segments = segments_in(store, inbox, None).await?;
    write_all(store, segments.iter().map(due).collect::<Result<_>>()?).await
}

/// The writes that plan reviews of these segments, made before their messages are removed. A segment is
/// reviewed once in half a day, however many of its messages are removed in that time.
pub(crate) fn reviews(segments: &BTreeSet<String>, now: Time) -> Result<Vec<Op>> {
    let due = |segment: &String| {
        let at = MaintenanceTask::review_at(segment, now.after(VISIBLE_AFTER));
        MaintenanceTask::new(at, segment.clone(), TaskKind::ReviewSegment {}).planned()
    };
    segments.iter().filter(|segment| !is_checked_soon(segment, now)).map(due).collect()
}

/// The plans to look at the segments of these messages, which are about to be removed.
pub(crate) fn reviews_of<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    now: Time,
) -> Result<Vec<Op>> {
    reviews(&segments_of(rows).collect(), now)
}

/// Whether the first check of a segment is still to come, and within a day.
fn is_checked_soon(segment: &str, now: Time) -> bool {
    let (Some(class), Some(made)) = (segment::class_of(segment), segment::created_at(segment))
    else {
        return false;
    };
    let first = first_check(class);
    first <= DAY && made.after(first) > now.after(VISIBLE_AFTER)
}

/// The segments of these messages. A row that does not decode is left out: its segment has its regular
/// check.
fn segments_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> impl Iterator<Item = String> {
    let messages = rows.into_iter().filter_map(|row| Message::of(row).ok());
    messages.map(|message| message.blob.segment)
}

/// The segments of an inbox's messages behind `after`, newest first.
async fn segments_in(
    store: &dyn Store,
    inbox: InboxId,
    after: Option<Vec<Value>>,
) -> Result<BTreeSet<String>> {
    let scan = Scan { after, keys_only: false, ..message_keys(inbox, PAGE_ROWS) };
    let (mut found, mut pages) = (BTreeSet::new(), Pages::of(store, scan));
    while let Some(rows) = pages.next().await? {
        found.extend(segments_of(&rows));
    }
    Ok(found)
}
