//! One endpoint's trouble is its own.

use std::time::Duration;

use trapline_model::DeliveryStatus;

use crate::{
    bench::Bench,
    receiver::{Act, Receiver},
};

#[tokio::test]
async fn an_endpoint_that_never_answers_holds_nobody_up() {
    let bench = Bench::new(Duration::from_hours(1)).await;
    let (dead, healthy) =
        (Receiver::start(&[Act::Hang]).await, Receiver::start(&[Act::Answer(200, "")]).await);
    let (dead_inbox, dead_hook) = bench.hook(&dead.url()).await;
    let (inbox, hook) = bench.hook(&healthy.url()).await;
    for _ in 0..100 {
        bench.deliver(&dead_inbox).await;
    }
    for _ in 0..20 {
        bench.deliver(&inbox).await;
    }
    bench.when(&hook, 20, |delivery| delivery.status == DeliveryStatus::Succeeded).await;
    // Four calls hang; the rest waits for its turn.
    bench.when(&dead_hook, 100, |delivery| delivery.status == DeliveryStatus::Pending).await;
    assert_eq!(dead.requests().len(), 4);
}

#[tokio::test]
async fn a_burst_for_one_endpoint_is_delivered_whole() {
    let bench = Bench::new(Duration::from_secs(10)).await;
    let receiver = Receiver::start(&[Act::Answer(200, "")]).await;
    let (inbox, hook) = bench.hook(&receiver.url()).await;
    let sending = (0..150).map(|_| bench.deliver(&inbox));
    futures_util::future::join_all(sending).await;
    let waiting = async {
        loop {
            // What was put off comes when its time is there.
            bench.clock.advance(Duration::from_millis(20));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let succeeded = |status| status == DeliveryStatus::Succeeded;
    tokio::select! {
        () = waiting => {}
        log = bench.when(&hook, 150, |delivery| succeeded(delivery.status)) => {
            assert!(log.iter().all(|delivery| delivery.attempts == 1));
        }
    }
    assert_eq!(receiver.requests().len(), 150);
}
