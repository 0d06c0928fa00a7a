//! The operator's certificate, read anew when its files change: certificates are renewed every few weeks,
//! and a process lives for longer.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use anyhow::{Context as _, Result};
use rustls::{
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use trapline_app::metrics;
use trapline_model::Time;

use super::{certified_key, end_of};

/// Between two looks at the files, which are compared whole: a mounted secret is changed by a link.
const INTERVAL: Duration = Duration::from_secs(5);
/// The most bytes of a file that are read.
const MAX_BYTES: u64 = 1 << 20;

/// The certificate that the next TLS session is shown. Sessions under way keep theirs.
pub(crate) struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<CertifiedKey>>,
    last: Mutex<Result<Pair, String>>,
}

/// The bytes of both files.
#[derive(PartialEq, Eq)]
struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl CertificateFiles {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or hold no certificate and key that fit.
    pub(crate) fn open(certificate: &Path, key: &Path) -> Result<Arc<Self>> {
        let pair = Pair::read(certificate, key)?;
        let current = RwLock::new(Arc::new(pair.certified(certificate, key)?));
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        Ok(Arc::new(Self { certificate, key, current, last: Mutex::new(Ok(pair)) }))
    }

    /// When the certificate ends that is shown now, if it says so.
    pub(crate) fn ends(&self) -> Option<Time> {
        self.current().cert.first().and_then(end_of)
    }

    /// Looks at the files again and again, for ever.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let files = self.clone();
            if let Err(error) = tokio::task::spawn_blocking(move || files.look()).await {
                tracing::error!(%error, "the files of the certificate were not looked at");
            }
        }
    }

    /// Takes what is new. A pair that does not do is logged once, and the one before it stays.
    fn look(&self) {
        let pair = Pair::read(&self.certificate, &self.key).map_err(|error| format!("{error:#}"));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last == pair {
            return;
        }
        let certified = match &pair {
            Ok(pair) => pair.certified(&self.certificate, &self.key),
            Err(error) => Err(anyhow::anyhow!("{error}")),
        };
        match certified {
            Ok(certified) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
                if let Some(end) = self.ends() {
                    metrics::set_certificate_expiry(end);
                }
                tracing::info!("the certificate was read anew");
            }
            Err(error) => tracing::error!(
                error = format!("{error:#}"),
                "the files of the certificate have changed and do not do: the one before them stays"
            ),
        }
        *last = pair;
    }

    fn current(&self) -> Arc<CertifiedKey> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for CertificateFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateFiles")
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}

impl ResolvesServerCert for CertificateFiles {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

impl Pair {
    fn read(certificate: &Path, key: &Path) -> Result<Self> {
        let read =
            |path: &Path| bytes(path).with_context(|| format!("cannot read {}", path.display()));
        Ok(Self { certificate: read(certificate)?, key: read(key)? })
    }

    fn certified(&self, certificate: &Path, key: &Path) -> Result<CertifiedKey> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<Vec<_>, _>>()
            .with_context(|| format!("{} holds no certificates", certificate.display()))?;
        let secret = PrivateKeyDer::from_pem_slice(&self.key)
            .with_context(|| format!("{} holds no private key", key.display()))?;
        certified_key(chain, secret)
    }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
