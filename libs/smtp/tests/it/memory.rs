//! Memory for bodies is bounded, and everyone gets their turn.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;
use trapline_smtp::Observation;

use crate::recorder::{Running, config};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_large_mails_at_once_all_arrive() {
    const BOUND: usize = 4 << 20;
    let mut config = config();
    config.limits.memory = BOUND;
    config.limits.message_size = 1 << 20;
    let running = Arc::new(Running::new(config));
    let mut senders = JoinSet::new();
    for sender in 0..40 {
        let running = Arc::clone(&running);
        senders.spawn(async move {
            let mut client = running.data().await;
            for _ in 0..sender % 8 * 15 {
                client.send(vec![b'x'; 8 << 10]).await;
                assert!(running.server.memory_reserved() <= BOUND);
                tokio::task::yield_now().await;
            }
            client.converse(&[("\r\n.", "250 2.0.0")]).await;
        });
    }
    senders.join_all().await;
    assert_eq!(running.recorder.bodies().len(), 40);
    assert_eq!(running.server.memory_reserved(), 0);
}

#[tokio::test]
async fn a_mail_in_delivery_counts() {
    let running = Running::new(config());
    running.recorder.deliveries.forget_permits(usize::MAX);
    let mut client = running.data().await;
    client.send("x\r\n.\r\n").await;
    while running.recorder.bodies().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(running.server.memory_reserved() > 0);
    running.recorder.deliveries.close();
    assert!(client.reply().await.starts_with("451 4.3.0"));
    assert_eq!(running.server.memory_reserved(), 0);
}

#[tokio::test]
async fn who_waits_too_long_is_told() {
    let mut config = config();
    config.limits.memory = 1;
    config.limits.message_size = 1 << 20;
    config.limits.data_total = Duration::from_millis(50);
    config.limits.data_idle = Duration::from_mins(1);
    let running = Running::new(config);
    running.recorder.deliveries.forget_permits(usize::MAX);
    let mut holder = running.data().await;
    holder.send("x\r\n.\r\n").await;
    let mut client = running.hello().await;
    client.envelope().await;
    client.converse(&[("DATA", "421 4.3.1")]).await;
    assert!(running.recorder.saw(Observation::OutOfMemory));
    running.recorder.deliveries.add_permits(1);
    assert!(holder.reply().await.starts_with("250"));
}
