//! Memory for mail bodies is bounded over all sessions.

use std::iter::repeat_n;

use futures_util::future::join_all;
use trapline_tests::{Deployment, Inbox, Smtp, is_cluster, memory_of};

const MIB: u64 = 1 << 20;

/// What the server may take for mail bodies in the test below.
const MAIL_MEMORY: u64 = 128 * MIB;

/// What it may take beside them at its peak: the process itself with its sessions (50 MiB), the group
/// that is being written (a message of 25 MiB on top of a group's 8 MiB, in its segment, and as pages
/// of the database), and what the allocator keeps back.
const BESIDE: u64 = 144 * MIB;

const CLIENTS: usize = 200;
/// Every so many clients end their message; the others break off before its last line, so that the
/// disk does not get 5 GB. All of them send all of it.
const ENDS: usize = 8;

/// What a client counts as its answer that was put off in the middle of its message: the connection
/// may end before it has read the 421.
const PUT_OFF: u16 = 421;

/// Sends 25 MB, and returns the code of the last reply; 0 when the client broke off.
async fn client(server: &Deployment, inbox: &Inbox, line: &[u8], number: usize) -> u16 {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    smtp.write(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n").await;
    for code in [250, 250] {
        smtp.expect(code).await;
    }
    let begun = smtp.patient_reply().await;
    if begun.code != 354 {
        return begun.code;
    }
    let head = format!("Subject: {number}\r\n\r\n").into_bytes();
    for part in [&head[..]].into_iter().chain(repeat_n(line, 25_000_000 / line.len())) {
        if smtp.patient_write(part).await.is_err() {
            return PUT_OFF;
        }
    }
    if !number.is_multiple_of(ENDS) {
        return 0;
    }
    if smtp.patient_write(b".\r\n").await.is_err() {
        return PUT_OFF;
    }
    smtp.try_reply().await.map_or(PUT_OFF, |reply| reply.code)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_large_messages_at_once_take_bounded_memory() {
    let server = Deployment::with(&["--smtp-memory", "128MiB"]);
    let inbox = server.rest().inbox().await;
    let mut line = "0123456789abcdef".repeat(4_096).into_bytes();
    line.extend_from_slice(b"\r\n");
    let clients = (0..CLIENTS).map(|number| client(&server, &inbox, &line, number));
    let codes = join_all(clients).await;
    let accepted = codes.iter().filter(|code| **code == 250).count();
    let temporary = codes.iter().filter(|code| (400..500).contains(*code)).count();
    let broken_off = codes.iter().filter(|code| **code == 0).count();
    assert_eq!(accepted + temporary + broken_off, CLIENTS, "{codes:?}");
    assert!(accepted > 0, "{codes:?}");
    let (stored, _) = server.rest().subjects(&inbox).await;
    assert_eq!(stored, accepted as u64);
    let peak = memory_of(server.smtp_process_ids()[0], "VmHWM").unwrap();
    assert!(peak < MAIL_MEMORY + BESIDE, "{} MiB", peak / MIB);
}

/// What a parked wait may take at most: the kernel's part of its connection is not in it.
const PARKED_WAIT: u64 = 10 * 1024;
/// The same with what the drivers needed for the reads before, which the allocator gives back within a
/// minute.
const PARKED_WAIT_OF_CLUSTER: u64 = 20 * 1024;
const WAITS: usize = 1_000;

/// What the processes that serve the API have in memory, in bytes.
fn resident(server: &Deployment) -> u64 {
    server.api_process_ids().into_iter().map(|id| memory_of(id, "VmRSS").unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_waits_take_little_memory() {
    let server = Deployment::with(&["--metrics-token", "metrics"]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let path = inbox.path("/messages/wait?timeout=120&subject=none");
    let park = |waits: usize| -> Vec<_> {
        let wait = |_| {
            let (rest, path) = (rest.clone(), path.clone());
            tokio::spawn(async move { rest.get(&path).await.status })
        };
        (0..waits).map(wait).collect()
    };
    // The first ones warm the process up.
    let first = park(WAITS / 10);
    server.until_parked(first.len()).await;
    let before = resident(&server);
    let waits = park(WAITS);
    server.until_parked(first.len() + waits.len()).await;
    let each = resident(&server).saturating_sub(before) / WAITS as u64;
    let most = if is_cluster() { PARKED_WAIT_OF_CLUSTER } else { PARKED_WAIT };
    assert!(each < most, "{each} bytes for each");
    for wait in first.into_iter().chain(waits) {
        wait.abort();
    }
}
