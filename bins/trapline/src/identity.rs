//! Whom clients of the SMTP edge must trust: the operator's certificate, or a CA of our own that is
//! made once, in the data folder or, sealed, in the store of a cluster.

use std::sync::Arc;

use anyhow::{Context, Result};
use rustls::ServerConfig;
use trapline_app::App;
use trapline_model::Time;

use crate::{
    config::Edge,
    folder::{AUTHORITY_FILE, Folder},
    tls::{self, Shown},
};

const IN_STORE: &str = "smtp_ca";

/// What the SMTP edge shows, and whom clients must trust for it.
pub(crate) struct Identity {
    pub config: Arc<ServerConfig>,
    /// When what it shows ends, if that is known.
    pub ends: Option<Time>,
    /// PEM; `None` when the operator brought a certificate.
    pub ca: Option<String>,
}

/// Finds or makes the identity. Without an edge in this process only the CA matters.
pub(crate) async fn load(
    app: &App,
    folder: Option<&Folder>,
    edge: Option<&Edge>,
) -> Result<Identity> {
    if let Some((certificate, key)) = edge.and_then(Edge::certificate) {
        let Shown { config, ends } = tls::configured(certificate, key)?;
        return Ok(Identity { config, ends, ca: None });
    }
    let authority = match folder {
        Some(folder) => in_folder(folder)?,
        None => app
            .access()
            .shared_secret(IN_STORE, &tls::new_authority()?)
            .await
            .context("the SMTP CA is not in the store")?,
    };
    let settings = app.settings();
    let mut names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
        settings.mail_domain.clone(),
    ];
    if !names.contains(&settings.smtp_host) {
        names.push(settings.smtp_host.clone());
    }
    let (Shown { config, ends }, ca) = tls::made(&authority, names)?;
    Ok(Identity { config, ends, ca: Some(ca) })
}

fn in_folder(folder: &Folder) -> Result<String> {
    if let Some(authority) = folder.text(AUTHORITY_FILE)? {
        return Ok(authority);
    }
    folder.keep(AUTHORITY_FILE, &tls::new_authority()?)?;
    folder.text(AUTHORITY_FILE)?.context("the SMTP CA was not kept")
}
