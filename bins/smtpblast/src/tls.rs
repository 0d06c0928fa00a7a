//! The client's side of TLS.

use std::sync::Arc;

use anyhow::Context;
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio_rustls::TlsConnector;

use crate::args::{Args, Tls};

/// When TLS begins, and what with.
#[derive(Clone)]
pub(crate) enum Security {
    /// No TLS.
    None,
    /// After STARTTLS.
    StartTls(Identity),
    /// From the first byte.
    Implicit(Identity),
}

/// Whom to expect, and how to check it.
#[derive(Clone)]
pub(crate) struct Identity {
    /// The name in the certificate.
    pub(crate) name: ServerName<'static>,
    /// Trust and ciphers.
    pub(crate) connector: TlsConnector,
}

impl Security {
    /// By the command line.
    ///
    /// # Errors
    /// An unreadable certificate file, or a target that is no name for TLS.
    pub(crate) fn new(args: &Args) -> anyhow::Result<Self> {
        Ok(match args.tls {
            Tls::None => Self::None,
            Tls::Starttls => Self::StartTls(Identity::new(args)?),
            Tls::Implicit => Self::Implicit(Identity::new(args)?),
        })
    }
}

impl Identity {
    fn new(args: &Args) -> anyhow::Result<Self> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let config = if args.insecure {
            let verifier = Arc::new(AnyCertificate(provider));
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        } else {
            builder.with_root_certificates(roots(args)?).with_no_client_auth()
        };
        let (host, _) = args.target.rsplit_once(':').context("the target has no port")?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { name: ServerName::try_from(host)?, connector: Arc::new(config).into() })
    }
}

fn roots(args: &Args) -> anyhow::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = &args.ca {
        let context = || format!("read {}", path.display());
        for certificate in CertificateDer::pem_file_iter(path).with_context(context)? {
            roots.add(certificate.with_context(context)?)?;
        }
    }
    Ok(roots)
}

/// Takes any certificate, for `--insecure`; signatures are still checked, as a client would.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
