//! What calls of mocks may take of a server.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::future::join_all;
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use trapline_tests::{Deployment, Rest, memory_of, proofs_are_full};

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

/// Just below the longest body of a call with files.
const UPLOAD: usize = 31 << 20;
/// What a server may take for the bodies of uploads, by default, and beside them: the process itself, and what is made
/// of a body while its call is answered.
const MEMORY: u64 = 128 << 20;
const BESIDE: u64 = 256 << 20;

/// A form with a file, as applications send it to Onfido.
fn form(applicant: &str) -> Bytes {
    let part = |name: &str| format!("--xx\r\nContent-Disposition: form-data; name=\"{name}\"");
    let mut form = format!(
        "{}\r\n\r\n{applicant}\r\n{}\r\n\r\npassport\r\n{}; filename=\"a.png\"\r\n\r\n",
        part("applicant_id"),
        part("type"),
        part("file")
    )
    .into_bytes();
    form.resize(UPLOAD, b'x');
    form.extend_from_slice(b"\r\n--xx--\r\n");
    form.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_at_once_take_bounded_memory() {
    let server = Deployment::alone(&[]);
    let mock = mock(&server.rest(), "onfido").await;
    let rest = Rest::new(mock["baseUrl"].as_str().unwrap(), None);
    let token = format!("Token token={}", mock["credentials"]["apiToken"].as_str().unwrap());
    let ask = |method, path| rest.request(method, path).header("authorization", &token);
    let person = json!({ "first_name": "Ada", "last_name": "Lovelace" });
    let applicant = ask("POST", "/v3.6/applicants").json(&person).send().await.unwrap();
    let applicant: serde_json::Value = applicant.json().await.unwrap();
    let form = form(applicant["id"].as_str().unwrap());
    let upload = || {
        let request = ask("POST", "/v3.6/documents").body(form.clone());
        request.header("content-type", "multipart/form-data; boundary=xx").send()
    };
    let uploads = if proofs_are_full() { 200 } else { 40 };
    let mut statuses = BTreeMap::new();
    for answer in join_all((0..uploads).map(|_| upload())).await {
        // Whoever is refused while its body is still coming may find the connection closed.
        let status = answer.map_or(503, |answer| answer.status().as_u16());
        *statuses.entry(status).or_insert(0) += 1;
    }
    // Onfido takes files of up to 10 MB, which is known once all of one was read.
    assert!(statuses.contains_key(&422), "{statuses:?}");
    assert!(statuses.keys().all(|status| [422, 503].contains(status)), "{statuses:?}");
    for process in server.api_process_ids() {
        let peak = memory_of(process, "VmHWM").unwrap();
        assert!(peak < MEMORY + BESIDE, "{} MiB", peak >> 20);
    }
    let listed = ask("GET", "/v3.6/applicants").send().await.unwrap();
    assert_eq!(listed.status().as_u16(), 200);
}
