#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use tokio::net::TcpListener;

use super::*;
use crate::{Config, mailroom::tests::Nobody};

#[tokio::test]
async fn an_idle_connection_costs_little() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let server = Server::new(Arc::new(Nobody), Config::new("mx.test"), None);
    let peer = IpAddr::from([127, 0, 0, 1]);
    let session = run(&server, stream, peer, Implicit::No, Shutdown::default());
    let size = size_of_val(&session);
    assert!(size < 4096, "{size} octets");
}
