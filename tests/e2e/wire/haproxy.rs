//! A real load balancer in front, which says by the PROXY protocol who the client is.

use std::{
    fs::{self, File},
    net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener},
    process::Stdio,
};

use tokio::process::{Child, Command};
use trapline_tests::{Deployment, Mail, Smtp, eventually, tls_connector};

use super::only_raw;

/// A load balancer with a port for each way to one process.
struct HaProxy {
    _process: Child,
    _folder: tempfile::TempDir,
}

impl HaProxy {
    /// Starts one: who connects to the first address of a pair is led to the second, and introduced in
    /// this way.
    async fn start(ways: &[(SocketAddr, SocketAddr, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = "defaults\n  mode tcp\n  timeout connect 10s\n  timeout client 1m\n  \
                          timeout server 1m\n"
            .to_owned();
        for (number, (here, there, how)) in ways.iter().enumerate() {
            let way = format!("listen way{number}\n  bind {here}\n  server s {there} {how}\n");
            config.push_str(&way);
        }
        let file = folder.path().join("haproxy.cfg");
        fs::write(&file, config).unwrap();
        let process = Command::new("haproxy")
            .arg("-db")
            .arg("-f")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join("log")).unwrap())
            .kill_on_drop(true)
            .spawn()
            .expect("run tests/setup.sh first");
        for (here, ..) in ways {
            eventually("HAProxy", async || tokio::net::TcpStream::connect(here).await.ok()).await;
        }
        Self { _process: process, _folder: folder }
    }
}

/// A port on this address that nobody has.
fn free(address: IpAddr) -> Option<SocketAddr> {
    TcpListener::bind((address, 0)).ok()?.local_addr().ok()
}

const REQUIRED: [&str; 6] = [
    "--smtp-proxy-protocol",
    "required",
    "--smtp-proxy-from",
    "127.0.0.1/32",
    "--smtp-per-address",
    "1",
];

/// The session, unless its client has too many.
async fn greeted(mut session: Smtp) -> Option<Smtp> {
    (session.try_reply().await?.code == 220).then_some(session)
}

#[tokio::test]
async fn mail_comes_in_through_haproxy_and_limits_are_the_clients() {
    let server = Deployment::with(&REQUIRED);
    let rest = server.rest();
    let tls = tls_connector(rest.get("/api/smtp/ca.pem").await.expect(200).text());
    let (smtp, smtps) = (server.smtp()[0], server.smtps()[0]);
    let mut ways = Vec::new();
    for how in ["send-proxy", "send-proxy-v2"] {
        let local = IpAddr::from([127, 0, 0, 1]);
        // A machine may have no IPv6.
        for address in [local, Ipv6Addr::LOCALHOST.into()] {
            if let (Some(plain), Some(sealed)) = (free(address), free(address)) {
                ways.push((plain, smtp, how));
                ways.push((sealed, smtps, how));
            }
        }
    }
    let _haproxy = HaProxy::start(&ways).await;
    for pair in ways.chunks(2) {
        let [(plain, ..), (sealed, ..)] = pair else { panic!("a port of each kind") };
        let inbox = rest.inbox().await;
        let mut session =
            eventually("a place", async || greeted(Smtp::dial(*plain).await).await).await;
        session.ask("EHLO client.test", 250).await;
        session.ask("STARTTLS", 220).await;
        let mut session = session.encrypted(&tls).await;
        session.ask("EHLO client.test", 250).await;
        session.login(&inbox.username, &inbox.password).await;
        let raw = Mail::new("balanced", "x").bytes();
        session.transact("a@example.test", &["b@example.test"], &raw).await;
        assert_eq!(only_raw(&rest, &inbox).await, raw);
        session.quit().await;
        eventually("a place", async || {
            let session = Smtp::dial(*sealed).await.try_encrypted(&tls).await.ok()?;
            greeted(session).await
        })
        .await
        .quit()
        .await;
    }
    let way = ways[0].0;
    let [one, other] = [2, 3].map(|last| IpAddr::from([127, 0, 0, last]));
    let _only =
        eventually("a place", async || greeted(Smtp::dial_from(one, way).await).await).await;
    let mut second = Smtp::dial_from(one, way).await;
    assert_eq!(second.closed().await, [421]);
    Smtp::connect_from(other, way).await.quit().await;
}
