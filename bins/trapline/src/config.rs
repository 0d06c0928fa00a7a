//! Settings: each a flag and an environment variable; every bad one is reported, not just the first.

mod args;
mod check;
mod parse;

use std::{net::SocketAddr, path::PathBuf};

use trapline_app::MasterKey;
use trapline_embedded::Durability;
use trapline_store::Rate;

pub(crate) use args::{Cli, Command, KeyCommand, NewKeyArgs, ServeArgs, StoreArgs, TeamCommand};

/// Settings that passed the check.
pub(crate) struct Config {
    pub http: SocketAddr,
    pub smtp: SocketAddr,
    pub smtps: Option<SocketAddr>,
    pub store: StoreConfig,
    pub base_url: Option<String>,
    pub mail_domain: String,
    pub smtp_host: Option<String>,
    pub api_key: Option<String>,
    pub catch_all: bool,
    pub metrics_token: Option<String>,
    pub max_overdue_jobs: u64,
    pub api_rate: Option<Rate>,
    pub max_streams: usize,
    pub preview_frame_ancestors: String,
    pub certificate: Option<(PathBuf, PathBuf)>,
    pub edge: trapline_smtp::Config,
    pub log: String,
    pub json_logs: bool,
}

/// Where the embedded store is, and how it keeps its word.
pub(crate) struct StoreConfig {
    pub data: PathBuf,
    pub durability: Durability,
    pub secret_key: Option<MasterKey>,
}

#[cfg(test)]
mod tests;
