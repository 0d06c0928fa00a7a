//! Certificates: whose hold, and for whom.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;
use trapline_worker::outbound::{Client, OutboundFailure};

use super::{
    LONG, SHORT, allowing, guard, post,
    receiver::{Receiver, read_request},
};

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn root(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    fn server(&self, name: &str, expired: bool) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if expired {
            params.not_before = rcgen::date_time_ymd(2001, 1, 1);
            params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        }
        let certificate = params.signed_by(&key, &self.0).unwrap().der().clone();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Accepts POSTs over TLS, and checks whom the client asks for.
async fn receiver(acceptor: TlsAcceptor) -> (Receiver, String) {
    let receiver = Receiver::new(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut tls) = acceptor.accept(stream).await else { return };
            assert_eq!(tls.get_ref().1.server_name(), Some("hook.example.com"));
            while read_request(&mut tls).await.is_some() {
                tls.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
            }
        }
    })
    .await;
    let url = receiver.url().replace("http://", "https://");
    (receiver, url)
}

fn client(roots: &[CertificateDer<'static>]) -> Client {
    Client::new(guard(allowing(&["127.0.0.0/8"]), &["127.0.0.1"]), roots).unwrap()
}

#[tokio::test]
async fn a_certificate_of_an_authority_that_the_operator_names_holds() {
    let authority = Authority::new();
    let (receiver, url) = receiver(authority.server("hook.example.com", false)).await;
    let client = client(&[authority.root()]);
    for _ in 0..3 {
        assert_eq!(post(&client, &url, LONG).await.status(), Some(204));
    }
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn a_bad_certificate_is_a_tls_error_that_may_pass() {
    let (known, unknown) = (Authority::new(), Authority::new());
    let servers = [
        unknown.server("hook.example.com", false),
        known.server("other.example.com", false),
        known.server("hook.example.com", true),
    ];
    let client = client(&[known.root()]);
    for server in servers {
        let (_receiver, url) = receiver(server).await;
        let failure = post(&client, &url, LONG).await.outcome.unwrap_err();
        assert_eq!((failure.code(), failure.is_final()), ("tls_error", false));
    }
}

#[tokio::test]
async fn what_does_not_speak_tls_is_a_tls_error_or_too_slow() {
    let plain = Receiver::new(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap_or_default();
    })
    .await;
    let url = plain.url().replace("http://", "https://");
    assert_eq!(post(&client(&[]), &url, LONG).await.outcome, Err(OutboundFailure::TlsError));

    let silent = Receiver::new(|stream| async move {
        let _stream = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let url = silent.url().replace("http://", "https://");
    let answer = post(&client(&[]), &url, SHORT).await;
    assert_eq!(answer.outcome, Err(OutboundFailure::ConnectTimeout));
}
