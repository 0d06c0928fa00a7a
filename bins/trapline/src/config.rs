//! Settings: each a flag and an environment variable, declared once in `groups`; everything that is
//! wrong with them is reported at once.

mod args;
mod assemble;
mod environment;
mod errors;
mod groups;
mod secret_file;
mod setting;
mod values;

use std::{net::SocketAddr, time::Duration};

use trapline_app::MasterKey;
use trapline_smtp::ProxyProtocol;

use crate::http;
pub(crate) use args::{
    Cli, Command, KeyCommand, LinkArgs, ListKeysArgs, NewKeyArgs, PlanCommand, RevokeKeyArgs,
    SsoCommand, TeamCommand,
};
pub(crate) use environment::CommandLine;
pub(crate) use errors::ConfigErrors;
pub(crate) use groups::{
    CertificatePaths, ClusterUrls, DataFolder, Observability, PlanSettings, PublicAddresses,
    RelayConfig, SmtpSettings, WebhookSettings,
};

/// What a process does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roles {
    pub api: bool,
    pub edge: bool,
    pub worker: bool,
}

impl Roles {
    /// The roles' names, as commands have them.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let roles = [(self.api, "api"), (self.edge, "smtp"), (self.worker, "worker")];
        roles.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name).collect()
    }
}

/// Settings of a process that passed the check.
pub(crate) struct Config {
    pub http: SocketAddr,
    /// `None` serves the API without TLS only.
    pub https: Option<SocketAddr>,
    /// `None` has one made for the listeners with TLS.
    pub certificate: Option<CertificatePaths>,
    pub http_limits: http::Limits,
    /// How long everything goes on after a stop signal.
    pub shutdown_delay: Duration,
    /// Whether nothing is printed at the start.
    pub quiet: bool,
    pub public: PublicAddresses,
    pub backend: Backend,
    /// The API's limits; `None` serves no API.
    pub api: Option<trapline_app::Settings>,
    /// `None` takes no mail.
    pub edge: Option<Edge>,
    /// Whether jobs are worked on.
    pub worker: bool,
    pub plans: PlanSettings,
    pub api_key: Option<String>,
    pub webhooks: WebhookSettings,
    /// `None` sends no mail.
    pub relay: Option<RelayConfig>,
    /// `None` makes no backups.
    pub backups: Option<Backups>,
    pub observe: Observability,
    /// What an operator should know of the settings, a sentence each; the log begins with them.
    pub warnings: Vec<String>,
}

/// The backups that one process makes of itself.
pub(crate) struct Backups {
    /// A folder or a prefix of a bucket.
    pub to: String,
    pub every: Duration,
    pub keep: usize,
}

impl Config {
    /// What the process is to do.
    pub(crate) fn roles(&self) -> Roles {
        Roles { api: self.api.is_some(), edge: self.edge.is_some(), worker: self.worker }
    }

    /// Whether several processes share the backend.
    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.backend, Backend::Cluster(_))
    }
}

/// The SMTP edge.
pub(crate) struct Edge {
    pub settings: SmtpSettings,
    /// Whether mail without AUTH to an unknown address lands in an inbox of the first team.
    pub catch_all: bool,
    pub limits: trapline_smtp::Limits,
}

impl Edge {
    /// Which load balancers introduce clients; `None` where none does.
    pub(crate) fn proxy_protocol(&self) -> Option<ProxyProtocol> {
        let from = self.settings.proxy_from.clone().unwrap_or_default();
        self.settings.proxy_protocol.then_some(ProxyProtocol { from })
    }

    /// What the SMTP server wants to know. It greets with the name `hostname`.
    pub(crate) fn server(self, hostname: &str) -> trapline_smtp::Config {
        trapline_smtp::Config {
            proxy_protocol: self.proxy_protocol(),
            hostname: hostname.to_owned(),
            auth_requires_tls: self.settings.auth_requires_tls,
            require_auth: self.settings.require_auth,
            limits: self.limits,
            drain: self.settings.drain,
        }
    }
}

/// Where the data is.
pub(crate) enum Backend {
    Folder(Folder),
    Cluster(Cluster),
}

/// One process's folder.
pub(crate) struct Folder {
    pub settings: DataFolder,
    /// The key behind every secret; the folder's own when there is none.
    pub secret_key: Option<MasterKey>,
}

/// The services that many processes share.
pub(crate) struct Cluster {
    pub urls: ClusterUrls,
    pub secret_key: MasterKey,
}

/// Settings of `migrate`.
pub(crate) struct Migration {
    pub public: PublicAddresses,
    pub api_key: Option<String>,
    pub cluster: Cluster,
    pub observe: Observability,
    /// Nothing is printed, so that no collector of logs keeps the first key.
    pub quiet: bool,
    /// What an operator should know of the settings, a sentence each; the log begins with them.
    pub warnings: Vec<String>,
}

#[cfg(test)]
mod tests;
