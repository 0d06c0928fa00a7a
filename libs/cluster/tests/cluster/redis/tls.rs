//! Passwords and TLS.

use std::{fs, path::Path};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use trapline_cluster::redis::{Redis, RedisOptions};
use trapline_store::Clock;

use super::servers::{Server, connect, event, free_port, hears, inbox, publish};

/// Writes `ca.pem`, and `cert.pem` and `key.pem` for 127.0.0.1.
fn certificates(folder: &Path) {
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &ca).unwrap();
    fs::write(folder.join("ca.pem"), ca.pem()).unwrap();
    fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
    fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
}

fn tls_server() -> Server {
    let (port, folder) = (free_port(), TempDir::new().unwrap());
    certificates(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (port_text, ca, cert, key) =
        (port.to_string(), path("ca.pem"), path("cert.pem"), path("key.pem"));
    let arguments = [
        "--port",
        "0",
        "--tls-port",
        &port_text,
        "--tls-auth-clients",
        "no",
        "--tls-ca-cert-file",
        &ca,
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &key,
        "--requirepass",
        "s3cr@t",
    ];
    Server::with(port, folder, &arguments)
}

async fn refused(url: &str) -> String {
    let (url, namespace) = (url.to_owned(), "test".to_owned());
    let options = RedisOptions { url, namespace, clock: Clock::system() };
    let error = Redis::connect(&options).await.err().unwrap();
    format!("{error} {error:?}")
}

#[tokio::test]
async fn tls_and_a_password() {
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    let server = tls_server();
    let (port, folder) = (server.port, server.folder.path().display());
    let url = format!("rediss://:s3cr%40t@127.0.0.1:{port}?ca={folder}/ca.pem");
    let redis = connect(&url, Clock::system()).await;
    let bus = redis.bus();
    let mut signals = bus.subscribe(inbox(1)).await.unwrap();
    publish(&*bus, inbox(1), event(1)).await;
    hears(&mut signals, &event(1)).await;
    for wrong in [
        format!("rediss://:hunter2@127.0.0.1:{port}?ca={folder}/ca.pem"),
        format!("rediss://:hunter2@127.0.0.1:{port}?ca={folder}/key.pem"),
        format!("rediss://:hunter2@127.0.0.1:{port}"),
        format!("redis://:hunter2@127.0.0.1:{port}"),
        format!("redis://:hunter2@127.0.0.1:{}", free_port()),
    ] {
        let told = refused(&wrong).await;
        assert!(told.contains("Redis") && !told.contains("hunter2"), "{wrong}: {told}");
        println!("{told}");
    }
}
