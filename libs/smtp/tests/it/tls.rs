//! STARTTLS and implicit TLS.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{PrivateKeyDer, ServerName},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use trapline_smtp::{Implicit, Observation};

use crate::{
    client::Client,
    recorder::{Running, config},
};

/// A server's settings with a certificate of its own, and a client that trusts it.
fn identity() -> (Arc<ServerConfig>, TlsConnector) {
    let signed = rcgen::generate_simple_self_signed(["mx.test".to_owned()]).unwrap();
    let certificate = signed.cert.der().clone();
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (Arc::new(server), TlsConnector::from(Arc::new(client)))
}

async fn encrypt(stream: TcpStream, connector: &TlsConnector) -> Client<TlsStream<TcpStream>> {
    let name = ServerName::try_from("mx.test").unwrap();
    Client::new(connector.connect(name, stream).await.unwrap())
}

#[tokio::test]
async fn starttls_starts_over() {
    let (tls, connector) = identity();
    let running = Running::with(config(), Implicit::No, Some(tls));
    let mut client = running.connect().await;
    assert!(client.ask("EHLO client.test\r\n").await.contains("250-STARTTLS"));
    client.converse(&[("MAIL FROM:<clear@b.test>", "250"), ("STARTTLS", "220 2.0.0")]).await;
    let mut client = encrypt(client.into_inner(), &connector).await;
    client.converse(&[("MAIL FROM:<a@b.test>", "503")]).await;
    assert!(!client.ask("EHLO client.test\r\n").await.contains("STARTTLS"));
    client.converse(&[("STARTTLS", "503")]).await;
    client.envelope().await;
    client.converse(&[("DATA", "354"), ("x\r\n.", "250"), ("QUIT", "221")]).await;
    assert_eq!(client.rest().await, "", "closed with a close_notify");
    let mails = running.recorder.mails.lock().unwrap();
    assert!(mails[0].tls && mails[0].from == "a@b.test");
}

#[tokio::test]
async fn what_follows_starttls_in_the_clear_is_dropped() {
    let (tls, connector) = identity();
    let running = Running::with(config(), Implicit::No, Some(tls));
    let mut client = running.hello().await;
    client.converse(&[("STARTTLS\r\nEHLO evil.test\r\nMAIL FROM:<evil@x.test>", "220")]).await;
    let mut client = encrypt(client.into_inner(), &connector).await;
    client.converse(&[("RCPT TO:<c@d.test>", "503"), ("MAIL FROM:<>", "503")]).await;
}

#[tokio::test]
async fn implicit_tls() {
    let (tls, connector) = identity();
    let running = Running::with(config(), Implicit::Yes, Some(tls));
    let stream = TcpStream::connect(running.address).await.unwrap();
    let mut client = encrypt(stream, &connector).await;
    assert!(client.reply().await.starts_with("220 "));
    assert!(!client.ask("EHLO client.test\r\n").await.contains("STARTTLS"));
    client.envelope().await;
    client.converse(&[("DATA", "354")]).await;
    client.send(vec![b'x'; 1 << 20]).await;
    client.converse(&[("\r\n.", "250")]).await;
    assert_eq!(running.recorder.bodies()[0].len(), (1 << 20) + 2);
}

#[tokio::test]
async fn a_failed_handshake_ends_the_connection() {
    let (tls, _) = identity();
    let running = Running::with(config(), Implicit::No, Some(tls));
    let mut client = running.hello().await;
    client.converse(&[("STARTTLS", "220")]).await;
    client.send("this is no handshake at all\r\n").await;
    let mut answer = Vec::new();
    let mut stream = client.into_inner();
    tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut answer).await.ok();
    assert!(running.recorder.saw(Observation::HandshakeFailed));
}

#[tokio::test]
async fn a_handshake_is_not_waited_for_long() {
    let (tls, _) = identity();
    let mut config = config();
    config.limits.handshake = std::time::Duration::from_millis(20);
    let running = Running::with(config, Implicit::Yes, Some(tls));
    let mut client = Client::connect(running.address).await;
    assert_eq!(client.rest().await, "");
    assert!(running.recorder.saw(Observation::HandshakeFailed));
}
