//! TLS as a client, and the certificate authorities that are trusted.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs, pki_types::CertificateDer};

/// TLS 1.2 and 1.3 with the system's certificate authorities (Mozilla's where the system has none),
/// and with `extra` ones.
pub(super) fn client_config(
    extra: &[CertificateDer<'static>],
) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    let (system, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if system == 0 {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for certificate in extra {
        roots.add(certificate.clone())?;
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
