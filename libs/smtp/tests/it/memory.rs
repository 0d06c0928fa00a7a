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
    config.limits.data_total = Duration::from_secs(1);
    config.limits.data_idle = Duration::from_mins(1);
    let running = Running::new(config);
    running.recorder.deliveries.forget_permits(usize::MAX);
    let mut holder = running.data().await;
    holder.send("x\r\n.\r\n").await;
    let mut client = running.hello().await;
    client.envelope().await;
    client.converse(&[("DATA", "354"), ("x", "421 4.3.1")]).await;
    assert!(running.recorder.saw(Observation::OutOfMemory));
    running.recorder.deliveries.add_permits(1);
    assert!(holder.reply().await.starts_with("250"));
}

/// A server with room for one mail, and clients of it that wait.
fn narrow() -> Running {
    let mut config = config();
    config.limits.memory = 1;
    config.limits.contended_idle = Duration::from_millis(20);
    config.limits.data_idle = Duration::from_mins(10);
    Running::new(config)
}

#[tokio::test]
async fn a_promise_takes_no_memory() {
    let running = narrow();
    let mut silent = [running.data().await, running.hello().await, running.hello().await];
    silent[1].envelope().await;
    silent[1].send("BDAT 1000\r\n").await;
    silent[2].converse(&[("AUTH CRAM-MD5", "334")]).await;
    let mut client = running.data().await;
    client.converse(&[("x\r\n.", "250")]).await;
    for client in &mut silent[..1] {
        client.converse(&[("late\r\n.", "250")]).await;
    }
    silent[1].send("x".repeat(1000)).await;
    assert!(silent[1].reply().await.starts_with("250"));
    assert!(!running.recorder.saw(Observation::TooSlow));
}

#[tokio::test]
async fn who_is_slow_is_ended_when_others_wait() {
    for begin in ["half a mail", "BDAT 1000\r\nx", "BDAT 1\r\nx"] {
        let running = narrow();
        let mut slow = running.hello().await;
        slow.envelope().await;
        if begin.starts_with("BDAT") {
            slow.send(begin).await;
        } else {
            slow.converse(&[("DATA", "354")]).await;
            slow.send(begin).await;
        }
        while running.server.memory_reserved() == 0 {
            tokio::task::yield_now().await;
        }
        let mut client = running.data().await;
        client.converse(&[("x\r\n.", "250")]).await;
        let rest = slow.rest().await;
        assert!(rest.lines().last().unwrap().starts_with("421 4.3.1 too slow"), "{rest}");
        assert!(running.recorder.saw(Observation::TooSlow));
    }
}

#[tokio::test]
async fn nobody_is_ended_while_nobody_waits() {
    let running = narrow();
    let mut slow = running.data().await;
    slow.send("half a mail").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    slow.converse(&[("\r\n.", "250")]).await;
    running.data().await.converse(&[("x\r\n.", "250")]).await;
}
