//! A shutdown loses no mail and waits for nobody for ever.

use std::time::Duration;

use trapline_smtp::Observation;

use crate::recorder::{Running, config};

#[tokio::test]
async fn sessions_between_commands_get_421() {
    let running = Running::new(config());
    let (mut idle, mut busy) = (running.connect().await, running.hello().await);
    busy.envelope().await;
    running.shutdown.cancel();
    for client in [&mut idle, &mut busy] {
        assert!(client.rest().await.starts_with("421 4.3.2 "));
    }
    drop((idle, busy));
    running.serving.await.unwrap();
    assert!(tokio::net::TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn a_mail_that_has_begun_is_finished() {
    let running = Running::new(config());
    let (mut data, mut chunks) = (running.data().await, running.hello().await);
    chunks.envelope().await;
    chunks.converse(&[("BDAT 5\r\none", "250")]).await;
    running.shutdown.cancel();
    data.send("text\r\n.\r\nNOOP\r\n").await;
    chunks.send("BDAT 3 LAST\r\ntwo").await;
    for client in [&mut data, &mut chunks] {
        let rest = client.rest().await;
        assert!(rest.starts_with("250 2.0.0 accepted"), "{rest}");
        assert!(rest.lines().last().unwrap().starts_with("421 4.3.2 "), "{rest}");
    }
    drop((data, chunks));
    running.serving.await.unwrap();
    let mut bodies = running.recorder.bodies();
    bodies.sort();
    assert_eq!(bodies, [&b"one\r\ntwo"[..], b"text\r\n"]);
}

#[tokio::test]
async fn a_mail_that_does_not_finish_is_cut() {
    let mut config = config();
    config.drain = Duration::from_millis(50);
    let running = Running::new(config);
    let mut client = running.data().await;
    client.send("half a mail").await;
    running.shutdown.cancel();
    running.serving.await.unwrap();
    assert_eq!(client.rest().await, "");
    assert!(running.recorder.bodies().is_empty());
    assert_eq!(running.server.memory_reserved(), 0);
    let events = running.recorder.events.lock().unwrap();
    assert!(matches!(events[..], [Observation::SessionOpened, Observation::SessionClosed(_)]));
}
