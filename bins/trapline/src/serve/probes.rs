//! The probes that this process takes: of its own listeners over the wire, and of what its roles use.

mod api;
mod smtp;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Result;
use trapline_app::{App, Probe, QueueProbe, StorageProbe, Supervisor, WebhookProbe};

use self::{api::ApiProbe, smtp::SmtpProbe};
use super::{background::instance, listen::Listeners};
use crate::{
    config::{Edge, Roles},
    settings::reachable,
};

/// How often a process that serves the API shows that it lives.
const BEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Where a process reaches its own listeners.
pub(super) struct OwnListeners {
    http: SocketAddr,
    smtp: Option<SocketAddr>,
    /// Whether SMTP wants to be told who a client is.
    is_proxied: bool,
}

impl OwnListeners {
    pub(super) fn of(listeners: &Listeners, edge: Option<&Edge>) -> Result<Self> {
        let http = reachable(listeners.http_address()?);
        let is_proxied = edge.is_some_and(|edge| edge.settings.proxy_protocol);
        Ok(Self { http, smtp: listeners.smtp_address()?.map(reachable), is_proxied })
    }
}

/// Starts to take probes.
pub(super) fn start(
    tasks: &Supervisor,
    app: &Arc<App>,
    roles: Roles,
    is_cluster: bool,
    own: &OwnListeners,
) {
    let (status, holder) = (app.status().clone(), instance());
    let mut probes: Vec<Arc<dyn Probe>> = Vec::new();
    if let Some(listener) = own.smtp {
        probes.push(Arc::new(SmtpProbe {
            status: status.clone(),
            listener,
            is_proxied: own.is_proxied,
        }));
    }
    if roles.api {
        probes.push(Arc::new(ApiProbe { listener: own.http }));
    }
    if roles.api || roles.worker {
        probes.push(Arc::new(StorageProbe(status.clone())));
    }
    if roles.worker {
        probes.push(Arc::new(QueueProbe(status.clone())));
        probes.push(Arc::new(WebhookProbe(status.clone())));
    }
    if roles.api && is_cluster {
        tasks.spawn("api beat", api_beats(app.clone(), holder.clone()));
    }
    tasks.spawn("probes", async move { status.run_probes(&holder, probes).await });
}

async fn api_beats(app: Arc<App>, instance: String) {
    let beats = async {
        loop {
            app.maintenance().beat("api", &instance).await;
            tokio::time::sleep(BEAT_INTERVAL).await;
        }
    };
    app.shutdown().run_until_cancelled(beats).await;
}
