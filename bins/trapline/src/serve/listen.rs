//! The sockets of a process.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use tokio::net::TcpListener;

use crate::config::Config;

const BACKLOG: u32 = 4096;

/// Bound before anything else starts, so that a taken port is the first thing told.
pub(crate) struct Listeners {
    pub http: TcpListener,
    pub https: Option<TcpListener>,
    pub smtp: Option<TcpListener>,
    pub smtps: Option<TcpListener>,
}

impl Listeners {
    pub(crate) fn http_address(&self) -> Result<SocketAddr> {
        Ok(self.http.local_addr()?)
    }

    pub(crate) fn https_address(&self) -> Result<Option<SocketAddr>> {
        Ok(self.https.as_ref().map(TcpListener::local_addr).transpose()?)
    }

    pub(crate) fn smtp_address(&self) -> Result<Option<SocketAddr>> {
        Ok(self.smtp.as_ref().map(TcpListener::local_addr).transpose()?)
    }

    pub(crate) fn smtps_address(&self) -> Result<Option<SocketAddr>> {
        Ok(self.smtps.as_ref().map(TcpListener::local_addr).transpose()?)
    }

    /// Every address that this process listens on.
    pub(crate) fn addresses(&self) -> Result<Vec<SocketAddr>> {
        let http = [Some(self.http_address()?), self.https_address()?];
        let smtp = [self.smtp_address()?, self.smtps_address()?];
        Ok(http.into_iter().chain(smtp).flatten().collect())
    }
}

pub(super) fn listen(config: &Config) -> Result<Listeners> {
    let bind = |flag: &str, address: SocketAddr| {
        let variable = flag.to_ascii_uppercase();
        trapline_smtp::bind(address, BACKLOG).with_context(|| {
            format!("cannot listen on {address} (--{flag} or TRAPLINE_{variable} names another)")
        })
    };
    let edge = config.edge.as_ref();
    let smtps = edge.and_then(|edge| edge.settings.smtps);
    Ok(Listeners {
        http: bind("http", config.http)?,
        https: config.https.map(|address| bind("https", address)).transpose()?,
        smtp: edge.map(|edge| bind("smtp", edge.settings.smtp)).transpose()?,
        smtps: smtps.map(|address| bind("smtps", address)).transpose()?,
    })
}
