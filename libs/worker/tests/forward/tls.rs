//! Relays that want TLS and a password.

use rcgen::CertifiedKey;
use trapline_app::{OutgoingMail, Relay as _};
use trapline_relay_testkit::MailServer;
use trapline_worker::{RelayOptions, RelayTls, SmtpRelay};

/// A server with a certificate of its own for `localhost`, and that certificate.
fn server(folder: &tempfile::TempDir) -> (MailServer, Vec<u8>) {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert_path, key_path) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert_path, cert.pem()).unwrap();
    std::fs::write(&key_path, signing_key.serialize_pem()).unwrap();
    (MailServer::secured(&cert_path, &key_path), cert.der().to_vec())
}

fn mail() -> OutgoingMail {
    OutgoingMail {
        from: "no-reply@mail.example".to_owned(),
        to: "ada@example.com".to_owned(),
        content: vec![b"Subject: a\r\n\r\nhello\r\n".as_slice().into()],
        utf8_header: false,
    }
}

#[tokio::test]
async fn a_relay_with_tls_and_a_password_takes_mail() {
    let folder = tempfile::tempdir().unwrap();
    let (server, certificate) = server(&folder);
    let signed_in = |password: &str, authorities: Vec<Vec<u8>>| RelayOptions {
        tls: RelayTls::Starttls,
        credentials: Some(("ada".to_owned(), password.to_owned())),
        authorities,
        ..RelayOptions::new("localhost", server.address().port())
    };
    let trusted = vec![certificate];
    let relay = SmtpRelay::new(signed_in("pa55", trusted.clone())).unwrap();
    assert_eq!(relay.send(&mail()).await, Ok(()));
    assert_eq!(server.received().len(), 1);
    let cases = [
        // The operator can mend a password, so that no mail is given up for it.
        (signed_in("wrong", trusted.clone()), "refused_5xx"),
        (signed_in("pa55", Vec::new()), "tls_error"),
        (RelayOptions { host: "127.0.0.1".to_owned(), ..signed_in("pa55", trusted) }, "tls_error"),
    ];
    for (options, code) in cases {
        let error = SmtpRelay::new(options).unwrap().send(&mail()).await.unwrap_err();
        assert_eq!((error.code, error.is_final), (code, false));
    }
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_relay_without_tls_gets_nothing_where_it_is_wanted() {
    let server = MailServer::start();
    let options =
        |tls| RelayOptions { tls, ..RelayOptions::new("127.0.0.1", server.address().port()) };
    let relay = SmtpRelay::new(options(RelayTls::Starttls)).unwrap();
    assert_eq!(relay.send(&mail()).await.unwrap_err().code, "not_offered");
    assert!(server.received().is_empty());
    let relay = SmtpRelay::new(options(RelayTls::Opportunistic)).unwrap();
    assert_eq!(relay.send(&mail()).await, Ok(()));
    assert_eq!((server.received().len(), server.sessions()), (1, 3));
}
