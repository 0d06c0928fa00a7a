//! STARTTLS (RFC 3207) and implicit TLS (RFC 8314), under the CA that the API hands out.

use std::{fs, path::Path};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio_rustls::TlsConnector;
use trapline_tests::{Deployment, Mail, Rest, Smtp, eventually, shared, tls_connector};

use super::only_raw;

/// A connector that trusts the server's own CA.
async fn connector(rest: &Rest) -> TlsConnector {
    let answer = rest.get("/api/smtp/ca.pem").await.expect(200);
    assert!(!answer.text().contains("PRIVATE KEY"));
    tls_connector(answer.text())
}

#[tokio::test]
async fn mail_comes_in_over_starttls_and_implicit_tls() {
    let server = shared();
    let rest = server.rest();
    let tls = connector(&rest).await;
    let mut smtp = Smtp::connect(server.smtp()[0]).await;
    let hello = smtp.ask("EHLO client.test", 250).await;
    assert!(hello.lines.iter().any(|line| line == "STARTTLS"), "{hello}");
    smtp.ask("STARTTLS", 220).await;
    let mut smtp = smtp.encrypted(&tls).await;
    let hello = smtp.ask("EHLO client.test", 250).await;
    assert!(!hello.lines.iter().any(|line| line == "STARTTLS"), "{hello}");
    let implicit = Smtp::hello_tls(server.smtps()[0], &tls).await;
    for mut smtp in [smtp, implicit] {
        let inbox = rest.inbox().await;
        smtp.ask("STARTTLS", 503).await;
        smtp.login(&inbox.username, &inbox.password).await;
        let raw = Mail::new("sealed", "x").bytes();
        smtp.transact("a@example.test", &["b@example.test"], &raw).await;
        assert_eq!(only_raw(&rest, &inbox).await, raw);
    }
}

#[tokio::test]
async fn what_came_before_the_handshake_is_forgotten() {
    let server = shared();
    let rest = server.rest();
    let tls = connector(&rest).await;
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    smtp.ask("MAIL FROM:<a@example.test>", 250).await;
    // Somebody on the way appends commands to the packet.
    smtp.write(b"STARTTLS\r\nEHLO evil.test\r\nMAIL FROM:<evil@example.test>\r\n").await;
    smtp.expect(220).await;
    let mut smtp = smtp.encrypted(&tls).await;
    // Neither the greeting nor the transaction nor the sign-in lives on, and nothing injected ran.
    smtp.ask("MAIL FROM:<a@example.test>", 503).await;
    smtp.ask("EHLO client.test", 250).await;
    smtp.ask("RCPT TO:<b@example.test>", 503).await;
    smtp.login(&inbox.username, &inbox.password).await;
    smtp.quit().await;
}

/// Writes the files of a new certificate for 127.0.0.1, and returns it.
fn renew(certificate: &Path, key: &Path) -> String {
    let made = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let CertifiedKey { cert, signing_key } = made;
    fs::write(certificate, cert.pem()).unwrap();
    fs::write(key, signing_key.serialize_pem()).unwrap();
    cert.pem()
}

/// Whether each process that takes mail shows this certificate, to a client that it has not seen before.
async fn is_shown(server: &Deployment, certificate: &str) -> bool {
    for address in server.smtps() {
        let tls = tls_connector(certificate);
        if Smtp::dial(address).await.try_encrypted(&tls).await.is_err() {
            return false;
        }
    }
    true
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["tls.crt", "tls.key"].map(|name| folder.path().join(name));
    let old = renew(&certificate, &key);
    let flags = ["--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = Deployment::with(&flags);
    let mut under_way = Smtp::hello_tls(server.smtps()[0], &tls_connector(&old)).await;
    // A pair that does not do is told, and the one before it stays.
    fs::write(&key, "half of a key").unwrap();
    eventually("a line in the log", async || {
        server.log().contains("holds no private key").then_some(())
    })
    .await;
    assert!(is_shown(&server, &old).await);
    let new = renew(&certificate, &key);
    eventually("the new certificate", async || is_shown(&server, &new).await.then_some(())).await;
    assert!(!is_shown(&server, &old).await);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    under_way.login(&inbox.username, &inbox.password).await;
    under_way.quit().await;
}
