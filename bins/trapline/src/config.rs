//! Settings: each a flag and an environment variable; every bad one is reported, not just the first.

mod args;
mod check;
mod environment;
mod faults;
mod parse;

use std::{net::SocketAddr, path::PathBuf};

use trapline_app::MasterKey;
use trapline_embedded::Durability;
use trapline_model::Address;
use trapline_store::Rate;
use trapline_worker::{RelayTls, outbound::Cidr};

use crate::http::Limits;
pub(crate) use args::{
    Cli, Command, KeyCommand, ListKeysArgs, NewKeyArgs, RevokeKeyArgs, TeamCommand,
};
pub(crate) use environment::Given;
pub(crate) use faults::BadSettings;

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

/// Settings of a process that passed the check.
pub(crate) struct Config {
    pub http: SocketAddr,
    pub http_limits: Limits,
    /// Whether nothing is printed at the start.
    pub quiet: bool,
    pub public: Public,
    pub backend: Backend,
    /// `None` serves no API.
    pub api: Option<Api>,
    /// `None` takes no mail.
    pub edge: Option<Edge>,
    /// Whether jobs are worked on.
    pub worker: bool,
    pub api_key: Option<String>,
    pub webhooks: Webhooks,
    /// `None` sends no mail.
    pub relay: Option<Relay>,
    pub observe: Observe,
}

/// What clients are told.
pub(crate) struct Public {
    pub base_url: Option<String>,
    pub mail_domain: String,
    pub smtp_host: Option<String>,
    pub smtp_port: Option<u16>,
    pub smtps_port: Option<u16>,
}

/// The API's limits.
pub(crate) struct Api {
    pub rate: Option<Rate>,
    pub inbox_rate: Option<Rate>,
    pub max_streams: usize,
    pub answer_memory: usize,
    pub max_streams_per_team: usize,
    pub max_overdue_jobs: u64,
    pub preview_frame_ancestors: String,
}

/// The SMTP edge.
pub(crate) struct Edge {
    pub smtp: SocketAddr,
    pub smtps: Option<SocketAddr>,
    pub catch_all: bool,
    pub catch_all_inbox: String,
    /// Failed sign-ins of an address before the answers to further ones are delayed.
    pub auth_failures: u32,
    pub certificate: Option<(PathBuf, PathBuf)>,
    pub config: trapline_smtp::Config,
}

/// Requests to addresses that users give.
#[derive(Default)]
pub(crate) struct Webhooks {
    /// Whether private networks may be reached; the default of the mode when absent.
    pub allow_private: Option<bool>,
    /// Reachable although not public.
    pub allow: Vec<Cidr>,
    /// Authorities to trust beside the system's, in PEM.
    pub ca: Option<PathBuf>,
}

/// The relay that mail goes out through.
#[derive(Clone)]
pub(crate) struct Relay {
    pub host: String,
    pub port: u16,
    pub tls: RelayTls,
    pub credentials: Option<(String, String)>,
    pub from: Address,
    pub bounces: Option<String>,
    /// Authorities to trust beside Mozilla's, in PEM.
    pub ca: Option<PathBuf>,
}

/// Logs and metrics.
pub(crate) struct Observe {
    pub metrics_token: Option<String>,
    pub log: String,
    pub json_logs: bool,
    /// What an operator should know of the settings, a sentence each; the log begins with them.
    pub warnings: Vec<String>,
}

/// Where the data is.
pub(crate) enum Backend {
    Folder(Folder),
    Cluster(Cluster),
}

/// One process's folder, and how it keeps its word.
pub(crate) struct Folder {
    pub data: PathBuf,
    /// What mail leaves free on the disk, in bytes.
    pub disk_margin: u64,
    pub durability: Durability,
    pub secret_key: Option<MasterKey>,
}

/// The services that many processes share.
pub(crate) struct Cluster {
    pub cql: String,
    pub keyspace: String,
    pub blobs: String,
    pub nats: String,
    pub redis: String,
    /// There is one once the settings are checked.
    pub secret_key: Option<MasterKey>,
}

/// Settings of `migrate`.
pub(crate) struct Migration {
    pub public: Public,
    pub api_key: Option<String>,
    pub cluster: Cluster,
    pub observe: Observe,
}

#[cfg(test)]
mod tests;
