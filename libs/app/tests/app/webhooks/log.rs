//! The delivery log.

use std::time::Duration;

use super::answer;
use crate::support::Bench;

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn the_log_is_newest_first_over_hours_and_ends_after_30_days() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    let hook = bench.hook().await;
    let mut sent = Vec::new();
    for pause in [0, 1, 1, 5, 30, 2, 100, 26] {
        bench.clock.advance(HOUR * pause);
        for _ in 0..2 {
            // Within a millisecond there is no order.
            bench.clock.advance(Duration::from_millis(1));
            sent.push(bench.deliver(&inbox, "hello").await);
        }
        bench.fan_out().await;
        bench.call_due(|_| answer(200)).await;
    }
    sent.reverse();
    let listed = async |limit| {
        let log = bench.app.deliveries(bench.team, hook.id, limit).await.unwrap();
        log.into_iter().filter_map(|it| it.message_id).collect::<Vec<_>>()
    };
    for limit in [1, 2, 3, 7, 15, 16, 200] {
        assert_eq!(listed(limit).await, sent[..sent.len().min(limit)], "{limit}");
    }
    // A silent webhook answers from its last busy day.
    bench.clock.advance(HOUR * 24 * 20);
    assert_eq!(listed(4).await, sent[..4]);
    // 758 hours after the first, those of the first 38 hours are more than 30 days old.
    bench.clock.advance(HOUR * (758 - 165 - 480));
    assert_eq!(listed(200).await, sent[..6]);
    bench.clock.advance(HOUR * 24 * 30);
    assert_eq!(listed(200).await, []);
}

#[tokio::test]
async fn what_waits_is_listed_before_any_attempt() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    bench.deliver(&inbox, "hello").await;
    bench.fan_out().await;
    bench.clock.advance(HOUR * 3);
    let delivery = bench.delivery(&hook).await;
    assert_eq!((delivery.attempts, delivery.completed_at), (0, None));
    assert_eq!(delivery.next_attempt_at, Some(delivery.created_at));
}
