//! What calls of mocks may take of a server.

use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use trapline_tests::{Deployment, Rest};

use super::mock;

/// Half of the memory that the test gives to mocks.
const BODY: usize = 1 << 20;

/// A call that says how long its body is, and sends none of it.
async fn stalled(mock: &serde_json::Value) -> TcpStream {
    let base = mock["baseUrl"].as_str().unwrap();
    let (host, path) = base.trim_start_matches("http://").split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let head = format!(
        "POST /{path}/v1/customers HTTP/1.1\r\nHost: {host}\r\nContent-Length: {BODY}\r\n\r\nx"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn large_bodies_wait_for_memory_and_small_calls_do_not() {
    let server = Deployment::alone(&["--mock-memory", "2MiB"]);
    let mock = mock(&server.rest(), "stripe").await;
    let secret = mock["credentials"]["secretKey"].as_str();
    let rest = Rest::new(mock["baseUrl"].as_str().unwrap(), secret);
    let held = [stalled(&mock).await, stalled(&mock).await];
    let large = || rest.request("POST", "/v1/customers").body("x".repeat(BODY)).send();
    trapline_tests::eventually("a call without room", async || {
        (large().await.unwrap().status().as_u16() == 503).then_some(())
    })
    .await;
    rest.get("/v1/customers").await.expect(200);
    server.rest().post("/api/projects", json!({ "name": "P" })).await.expect(201);
    drop(held);
    trapline_tests::eventually("room again", async || {
        (large().await.unwrap().status().as_u16() != 503).then_some(())
    })
    .await;
}
