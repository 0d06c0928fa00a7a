//! Builds the webhook sender and the relay from the settings.

use std::{net::SocketAddr, path::Path, sync::Arc};

use anyhow::{Context, Result};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use trapline_app::{
    Authenticator, IdentityProvider, LinkVisitor, Relay, SpamEngine, SpamEngineChoice,
    WebhookSender,
};
use trapline_worker::{
    HttpLinkVisitor, HttpWebhookSender, IDENTITY_DEADLINE, MailAuthenticator, OidcProvider,
    RelayOptions, RspamdEngine, SmtpRelay, SpamdEngine, WEBHOOK_DEADLINE,
    outbound::{Client, Dns, Guard, GuardOptions, Url},
};

use crate::config::{RelayConfig, WebhookSettings};

/// The clients for addresses that users and their mail give: of webhooks, of identity providers, and of links.
pub(crate) struct OutboundClients {
    pub webhooks: Arc<dyn WebhookSender>,
    pub identity: Arc<dyn IdentityProvider>,
    pub links: Arc<dyn LinkVisitor>,
    pub authenticator: Arc<dyn Authenticator>,
}

/// Makes the clients for addresses that users give. A single process runs on its users' own network: unless a
/// setting says otherwise they may call private addresses, and complete names by the system's search domains.
pub(crate) fn outbound_clients(
    config: &WebhookSettings,
    base_url: &str,
    own_listeners: Vec<SocketAddr>,
    is_cluster: bool,
) -> Result<OutboundClients> {
    let own = Url::parse(base_url)
        .with_context(|| format!("--base-url or TRAPLINE_BASE_URL, {base_url}"))?;
    let allow_private = config.allow_private.unwrap_or(!is_cluster);
    let options = GuardOptions {
        allow_private,
        allow: config.allow.clone().unwrap_or_default(),
        own_hosts: vec![own],
        own_listeners,
        search_domains: allow_private && !is_cluster,
    };
    let roots = config.ca.as_deref().map(authorities).transpose()?.unwrap_or_default();
    let guard = Guard::new(options);
    let client =
        Client::new(guard.clone(), &roots).context("--webhook-ca or TRAPLINE_WEBHOOK_CA")?;
    let identity = OidcProvider::new(guard.clone(), client.clone(), IDENTITY_DEADLINE);
    Ok(OutboundClients {
        authenticator: Arc::new(MailAuthenticator::new(Dns::system())),
        links: Arc::new(HttpLinkVisitor::new(client.clone())),
        webhooks: Arc::new(HttpWebhookSender::new(guard, client, WEBHOOK_DEADLINE)),
        identity: Arc::new(identity),
    })
}

/// The spam engines of the setting; `None` is the one that is built in. The operator may put them wherever the
/// system's names lead.
pub(crate) fn spam_engines(
    chosen: &[SpamEngineChoice],
) -> Result<Vec<Option<Arc<dyn SpamEngine>>>> {
    let options =
        GuardOptions { allow_private: true, search_domains: true, ..GuardOptions::default() };
    let client = Client::new(Guard::new(options), &[])?;
    let engine = |choice: &SpamEngineChoice| -> Option<Arc<dyn SpamEngine>> {
        match choice {
            SpamEngineChoice::Builtin => None,
            SpamEngineChoice::Spamd(address) => Some(Arc::new(SpamdEngine::new(address.clone()))),
            SpamEngineChoice::Rspamd(address) => {
                Some(Arc::new(RspamdEngine::new(client.clone(), address.clone())))
            }
        }
    };
    Ok(chosen.iter().map(engine).collect())
}

/// The relay, if there is one. `ehlo_name` is the name that this server gives itself.
pub(crate) fn relay(
    config: Option<&RelayConfig>,
    ehlo_name: &str,
) -> Result<Option<Arc<dyn Relay>>> {
    let Some(config) = config else { return Ok(None) };
    let roots = config.ca.as_deref().map(authorities).transpose()?.unwrap_or_default();
    let relay = SmtpRelay::new(RelayOptions {
        tls: config.tls,
        credentials: config.credentials.clone(),
        ehlo_name: ehlo_name.to_owned(),
        authorities: roots.iter().map(|root| root.to_vec()).collect(),
        ..RelayOptions::new(&config.host, config.port)
    });
    Ok(Some(Arc::new(relay.context("--relay-ca or TRAPLINE_RELAY_CA")?)))
}

fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found = found.with_context(|| format!("{} is not PEM", path.display()))?;
    anyhow::ensure!(!found.is_empty(), "{} holds no certificates", path.display());
    Ok(found)
}
