//! Counting a lane's jobs: four requests at most, whatever their number.

use std::time::Duration;

use tokio::try_join;
use trapline_model::Time;
use trapline_store::{Clock, Lane, LaneStats, Result};

use super::{
    JetStreamQueue,
    direct::{self, From},
};

/// How long a job may be due before it counts as overdue.
const OVERDUE_AFTER: Duration = Duration::from_mins(1);

impl JetStreamQueue {
    /// Counts that are exact in a quiet queue, and near each other in a busy one. A lease that ran
    /// out counts as leased until the job is taken again.
    pub(super) async fn count(&self, lane: Lane) -> Result<LaneStats> {
        let (link, consumer) = (&self.link, self.lanes.of(lane)?);
        let (ready, delayed) = (link.names.ready(lane), link.names.all_delayed(lane));
        let now = Clock::system().now();
        let cutoff = earlier(now, link.clock.real(OVERDUE_AFTER));
        let (info, delayed, newer) = try_join!(
            link.call(&link.meters.read, consumer.get_info()),
            direct::first(link, &delayed, From::Sequence(1)),
            direct::first(link, &ready, From::Time(cutoff)),
        )?;
        // Jobs are delivered in the stream's order, so what lies beyond the last delivery is ready.
        let next = info.delivered.stream_sequence.saturating_add(1);
        let newer = newer
            .map_or(0, |newer| if newer.sequence < next { info.num_pending } else { newer.count });
        let mut stats = LaneStats {
            ready: info.num_pending,
            leased: u64::try_from(info.num_ack_pending).unwrap_or(u64::MAX),
            delayed: delayed.map_or(0, |first| first.count),
            overdue: info.num_pending.saturating_sub(newer),
            oldest_overdue: None,
        };
        if stats.overdue > 0 {
            let oldest = direct::first(link, &ready, From::Sequence(next)).await?;
            let age = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest.stored));
            stats.oldest_overdue = Some(by_clock(&link.clock, age).max(OVERDUE_AFTER));
        }
        Ok(stats)
    }
}

/// The instant that lies `by` before `time`.
fn earlier(time: Time, by: Duration) -> Time {
    let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    Time::from_millis(time.millis().saturating_sub(by))
}

/// How long `real`, a span of the server's, is by a clock that may run faster.
fn by_clock(clock: &Clock, real: Duration) -> Duration {
    let hour = Duration::from_hours(1);
    let factor = hour.div_duration_f64(clock.real(hour));
    if factor.is_finite() { real.mul_f64(factor) } else { real }
}
