//! The certificate of the listeners with TLS: the operator's, or one made at each start under a CA.

mod files;

use std::sync::Arc;

use anyhow::{Context, Result};
use jiff::{ToSpan, civil::Date, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::{
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::ResolvesServerCert,
    sign::{CertifiedKey, SingleCertAndKey},
};

use trapline_model::Time;
use trapline_store::Clock;
use x509_parser::{certificate::X509Certificate, prelude::FromDer as _};

pub(crate) use files::CertificateFiles;

/// A server's certificate with its key.
pub(crate) struct ServerIdentity {
    pub(crate) resolver: Arc<dyn ResolvesServerCert>,
    /// When the first certificate of the chain ends, if it says so.
    pub(crate) ends: Option<Time>,
}

/// The operator's certificate, which [`CertificateFiles::watch`] renews.
pub(crate) fn from_files(files: &Arc<CertificateFiles>) -> ServerIdentity {
    ServerIdentity { resolver: files.clone(), ends: files.ends() }
}

/// Makes a certificate for `names` under a CA, and returns the CA's certificate in PEM too.
pub(crate) fn issue(authority: &str, names: Vec<String>) -> Result<(ServerIdentity, String)> {
    let key = authority.find("-----BEGIN PRIVATE KEY").context("the CA has no key")?;
    let (ca, ca_key) = authority.split_at(key);
    let issuer = Issuer::new(authority_params(), KeyPair::from_pem(ca_key)?);
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = name("Trapline");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    valid_for_two_years(&mut params);
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let leaf = params.signed_by(&key, &issuer)?;
    let secret = PrivateKeyDer::try_from(key.serialize_der())
        .map_err(|error| anyhow::anyhow!("the new key does not read back: {error}"))?;
    let chain = vec![leaf.der().clone(), CertificateDer::from_pem_slice(ca.as_bytes())?];
    Ok((server(chain, secret)?, ca.to_owned()))
}

/// A new CA: certificate and key in one text, so that neither is ever there without the other.
pub(crate) fn new_authority() -> Result<String> {
    let key = KeyPair::generate()?;
    let ca = authority_params().self_signed(&key)?.pem();
    Ok(format!("{ca}{}", key.serialize_pem()))
}

/// What every CA that is kept somewhere was made from: to change it is to break their chains.
fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = name("Trapline test CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// Some clients refuse a certificate that is valid for more than 825 days.
fn valid_for_two_years(params: &mut CertificateParams) {
    let today =
        jiff::Timestamp::from(Clock::system().now()).to_zoned_datetime(TimeZone::UTC).date();
    let day = |date: Date| {
        let part = |part: i8| part.unsigned_abs();
        date_time_ymd(date.year().into(), part(date.month()), part(date.day()))
    };
    params.not_before = day(today.saturating_sub(1.day()));
    params.not_after = day(today.saturating_add(730.days()));
}

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

fn server(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerIdentity> {
    let ends = chain.first().and_then(end_of);
    let certified = certified_key(chain, key)?;
    Ok(ServerIdentity { resolver: Arc::new(SingleCertAndKey::from(certified)), ends })
}

fn certified_key(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<CertifiedKey> {
    let provider = CryptoProvider::get_default().context("there is no cryptography")?;
    CertifiedKey::from_der(chain, key, provider).context("the certificate and its key do not fit")
}

fn end_of(certificate: &CertificateDer<'_>) -> Option<Time> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let seconds = certificate.validity().not_after.timestamp();
    Some(Time::from_millis(seconds.saturating_mul(1000)))
}
