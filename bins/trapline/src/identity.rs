//! The TLS identity of a process: the operator's certificate, or one under a CA that is made once and kept in
//! the data folder or, sealed, in the store of a cluster.

use std::{net::IpAddr, sync::Arc};

use anyhow::{Context, Result};
use rustls::{ServerConfig, server::ResolvesServerCert};
use trapline_app::{App, Settings, Supervisor, metrics};
use trapline_model::Time;
use trapline_worker::outbound::Url;

use crate::{
    config::CertificatePaths,
    folder::{AUTHORITY_FILE, Folder},
    tls::{self, CertificateFiles, ServerIdentity},
};

const SHARED_SECRET: &str = "smtp_ca";
/// What the HTTP server speaks, for clients that ask (RFC 7301, section 6).
const HTTP_PROTOCOL: &[u8] = b"http/1.1";

/// What the listeners with TLS show, and the CA that clients must trust.
pub(crate) struct TlsIdentity {
    resolver: Arc<dyn ResolvesServerCert>,
    /// When what it shows ends, if that is known.
    ends: Option<Time>,
    /// The CA's certificate in PEM; `None` where nobody is shown anything under it.
    pub ca: Option<String>,
    /// The files of the operator's own certificate, which somebody must watch.
    files: Option<Arc<CertificateFiles>>,
    is_shown: bool,
}

/// The listeners of a process that show its identity.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TlsListeners {
    pub smtp: bool,
    /// The address under which HTTPS is reached.
    pub https: Option<IpAddr>,
}

/// Finds or makes the identity. Where SMTP is another process's, so may its certificate be, and the CA is found too.
pub(crate) async fn load(
    app: &App,
    folder: Option<&Folder>,
    certificate: Option<&CertificatePaths>,
    listeners: TlsListeners,
) -> Result<TlsIdentity> {
    let open = |paths: &CertificatePaths| CertificateFiles::open(&paths.certificate, &paths.key);
    let files = certificate.map(open).transpose()?;
    let (made, ca) = match &files {
        Some(files) if listeners.smtp => (tls::from_files(files), None),
        _ => {
            let names = names(app.settings(), listeners.https);
            let (made, ca) = tls::issue(&authority(app, folder).await?, names)?;
            (files.as_ref().map_or(made, tls::from_files), Some(ca))
        }
    };
    let ServerIdentity { resolver, ends } = made;
    let is_shown = listeners.smtp || listeners.https.is_some();
    Ok(TlsIdentity { resolver, ends, ca, files, is_shown })
}

impl TlsIdentity {
    /// How SMTP shakes hands.
    pub(crate) fn smtp(&self) -> Arc<ServerConfig> {
        Arc::new(self.config())
    }

    /// How HTTPS does.
    pub(crate) fn https(&self) -> Arc<ServerConfig> {
        let mut config = self.config();
        config.alpn_protocols = vec![HTTP_PROTOCOL.to_vec()];
        Arc::new(config)
    }

    fn config(&self) -> ServerConfig {
        ServerConfig::builder().with_no_client_auth().with_cert_resolver(self.resolver.clone())
    }

    /// Has its end measured, and its files read anew when they change, where a listener shows it.
    pub(crate) fn keep(&self, tasks: &Supervisor, app: &App) {
        if !self.is_shown {
            return;
        }
        if let Some(end) = self.ends {
            metrics::set_certificate_expiry(end);
        }
        if let Some(files) = self.files.clone() {
            let shutdown = app.shutdown().clone();
            tasks.spawn("certificate", async move {
                shutdown.run_until_cancelled(files.watch()).await;
            });
        }
    }
}

/// The names of a certificate that is made: this machine's own, those under which mail and the API are reached, and
/// those of mocks.
fn names(settings: &Settings, https: Option<IpAddr>) -> Vec<String> {
    let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let mail = [settings.mail_domain.clone(), settings.smtp_host.clone()];
    let base = host_of(&settings.base_url);
    let mocks = settings.mock_domain.as_ref().map(|domain| format!("*.{domain}"));
    let listens = https.map(|address| address.to_string());
    let mut names = Vec::new();
    for name in own.into_iter().chain(mail).chain(base).chain(mocks).chain(listens) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The host of a URL, as a certificate names it.
fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    Some(url.host_str()?.trim_matches(['[', ']']).to_owned())
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

/// The CA with its key, which the first process makes.
async fn authority(app: &App, folder: Option<&Folder>) -> Result<String> {
    if let Some(folder) = folder {
        return in_folder(folder);
    }
    let shared = app.access().shared_secret(SHARED_SECRET, &tls::new_authority()?).await;
    shared.context("the CA is not in the store")
}

fn in_folder(folder: &Folder) -> Result<String> {
    if let Some(authority) = folder.text(AUTHORITY_FILE)? {
        return Ok(authority);
    }
    folder.write_once(AUTHORITY_FILE, &tls::new_authority()?)?;
    folder.text(AUTHORITY_FILE)?.context("the CA was not kept")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_certificate_names_all_that_clients_may_use() {
        let settings = Settings {
            base_url: "https://Trapline.example:8443/t".to_owned(),
            mock_domain: Some("mocks.example".to_owned()),
            smtp_host: "trapline.test".to_owned(),
            ..Settings::default()
        };
        let wanted = [
            "localhost",
            "127.0.0.1",
            "::1",
            "trapline.test",
            "trapline.example",
            "*.mocks.example",
            "192.0.2.7",
        ];
        assert_eq!(names(&settings, Some([192, 0, 2, 7].into())), wanted);
    }

    #[test]
    fn a_base_url_has_a_host() {
        for (url, wanted) in [
            ("http://127.0.0.1:8025", Some("127.0.0.1")),
            ("http://[::1]:8025/t", Some("::1")),
            ("https://[2001:db8::1]", Some("2001:db8::1")),
            ("https://mail.example", Some("mail.example")),
            ("http://trapline_api:80", Some("trapline_api")),
            ("http://a%20b", None),
            ("http://:80", None),
        ] {
            assert_eq!(host_of(url).as_deref(), wanted, "{url}");
        }
    }
}
