//! What issuers say of themselves, read again after a while.

use std::sync::Arc;

use openidconnect::{IssuerUrl, core::CoreProviderMetadata};
use tokio::time::Instant;
use trapline_app::ProviderFailure;

use super::{Http, OidcProvider, failure::of_discovery_error};

/// An issuer's addresses and keys.
pub(super) struct Issuer {
    pub(super) metadata: CoreProviderMetadata,
    pub(super) read_at: Instant,
}

impl OidcProvider {
    /// The issuer as it was at most 10 minutes ago.
    pub(super) async fn issuer(
        &self,
        issuer: &str,
        until: Instant,
    ) -> Result<Arc<Issuer>, ProviderFailure> {
        match self.known.get(issuer) {
            Some(known) => Ok(known),
            None => self.issuer_anew(issuer, until).await,
        }
    }

    /// The issuer as it is now: its document must name it by the very same identifier (`OpenID` Connect
    /// Discovery, section 4.3).
    pub(super) async fn issuer_anew(
        &self,
        issuer: &str,
        until: Instant,
    ) -> Result<Arc<Issuer>, ProviderFailure> {
        let url = IssuerUrl::new(issuer.to_owned()).map_err(|_| ProviderFailure::NotAProvider)?;
        let http = Http { provider: self, until };
        let metadata = CoreProviderMetadata::discover_async(url, &http).await;
        let metadata = metadata.map_err(|error| of_discovery_error(&error))?;
        let anew = Arc::new(Issuer { metadata, read_at: Instant::now() });
        self.known.insert(issuer.to_owned(), anew.clone());
        Ok(anew)
    }
}
