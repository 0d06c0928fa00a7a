//! The TLS identity of the SMTP edge: the operator's certificate, or one under a CA that is made once and
//! kept in the data folder or, sealed, in the store of a cluster.

use std::sync::Arc;

use anyhow::{Context, Result};
use rustls::ServerConfig;
use trapline_app::App;
use trapline_model::Time;

use crate::{
    config::Edge,
    folder::{AUTHORITY_FILE, Folder},
    tls::{self, CertificateFiles, ServerIdentity},
};

const SHARED_SECRET: &str = "smtp_ca";

/// The TLS configuration of the SMTP edge, and the CA that clients must trust.
pub(crate) struct TlsIdentity {
    pub config: Arc<ServerConfig>,
    /// When what it shows ends, if that is known.
    pub ends: Option<Time>,
    /// The CA's certificate in PEM; `None` with the operator's own certificate.
    pub ca: Option<String>,
    /// The files of the operator's own certificate, which somebody must watch.
    pub files: Option<Arc<CertificateFiles>>,
}

/// Finds or makes the identity. Without an edge in this process only the CA matters.
pub(crate) async fn load(
    app: &App,
    folder: Option<&Folder>,
    edge: Option<&Edge>,
) -> Result<TlsIdentity> {
    if let Some((certificate, key)) = edge.and_then(Edge::certificate_and_key) {
        let files = CertificateFiles::open(certificate, key)?;
        let ServerIdentity { config, ends } = tls::from_files(&files);
        return Ok(TlsIdentity { config, ends, ca: None, files: Some(files) });
    }
    let authority = match folder {
        Some(folder) => in_folder(folder)?,
        None => app
            .access()
            .shared_secret(SHARED_SECRET, &tls::new_authority()?)
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
    let (ServerIdentity { config, ends }, ca) = tls::issue(&authority, names)?;
    Ok(TlsIdentity { config, ends, ca: Some(ca), files: None })
}

/// Gives a restored installation the CA that clients of the archive's trust: the archive's file, or what is
/// sealed among the rows that came from a cluster.
pub(crate) async fn restore(app: &App, folder: Option<&Folder>, file: Option<&str>) -> Result<()> {
    match (folder, file) {
        (Some(folder), Some(authority)) => folder.write_once(AUTHORITY_FILE, authority),
        (Some(folder), None) => match app.access().existing_shared_secret(SHARED_SECRET).await? {
            Some(authority) => folder.write_once(AUTHORITY_FILE, &authority),
            None => Ok(()),
        },
        (None, Some(authority)) => {
            Ok(app.access().shared_secret(SHARED_SECRET, authority).await.map(drop)?)
        }
        (None, None) => Ok(()),
    }
}

fn in_folder(folder: &Folder) -> Result<String> {
    if let Some(authority) = folder.text(AUTHORITY_FILE)? {
        return Ok(authority);
    }
    folder.write_once(AUTHORITY_FILE, &tls::new_authority()?)?;
    folder.text(AUTHORITY_FILE)?.context("the SMTP CA was not kept")
}
