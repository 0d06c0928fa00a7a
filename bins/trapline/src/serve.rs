//! One process: everything over a data folder, or some roles of a cluster.

mod background;
mod listen;

use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use rustix::process::{Resource, Rlimit};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use trapline_app::App;
use trapline_smtp::{Implicit, Server};
use trapline_store::Clock;

use crate::{
    backend::{Backend, Opened},
    banner::{banner, roles_banner},
    cluster::Service,
    config::{Config, Edge, Roles},
    http,
    identity::{self, Identity},
    mailroom::Inboxes,
    outbound,
    probes::{self, Readiness},
    settings::settings,
    telemetry,
};
pub(crate) use listen::Listeners;

/// Runs until SIGTERM or SIGINT, then drains.
pub(crate) async fn run(config: Config) -> Result<()> {
    telemetry::logs(&config.observe)?;
    allow_many_connections();
    let metrics = telemetry::metrics()?;
    let listeners = listen::listen(&config)?;
    let settings = settings(&config, &listeners)?;
    let (roles, is_cluster) = (config.roles(), config.is_cluster());
    let Config { backend, edge, api_key, webhooks, relay, observe, .. } = config;
    let clock = Clock::system();
    let Opened { backend, master, folder, lock } =
        Backend::open(backend, clock.clone(), true).await?;
    let shutdown = CancellationToken::new();
    let app = backend.start(clock, settings, &master, shutdown.clone()).await?;
    let caller =
        outbound::caller(&webhooks, &app.settings().base_url, listeners.addresses()?, is_cluster)?;
    app.call_webhooks_with(caller.clone());
    let relay = outbound::relay(relay.as_ref(), &app.settings().mail_domain)?;
    let start = if is_cluster { None } else { Some(app.first_run(api_key.as_deref()).await?) };
    let identity = if roles.api || roles.edge {
        Some(identity::load(&app, folder.as_ref(), edge.as_ref()).await?)
    } else {
        None
    };
    let probes = probes::router(Readiness::new(&backend, needs(roles), shutdown.clone()));
    let options = trapline_api::Options {
        metrics: Arc::new(move || {
            metrics.run_upkeep();
            metrics.render()
        }),
        metrics_token: observe.metrics_token,
        ca_certificate: identity.as_ref().and_then(|identity| identity.ca.clone()),
    };
    let router: Router = if roles.api {
        trapline_api::router(app.clone(), options)
    } else {
        trapline_api::metrics_router(app.clone(), options)
    };
    print!(
        "{}",
        match &start {
            Some(start) => banner(app.settings(), start),
            None => roles_banner(app.settings(), listeners.http_address()?, roles),
        }
    );
    let mut loops = background::start(&app, &backend, roles, &caller, relay.as_ref()).await;
    let mut servers = JoinSet::new();
    servers.spawn(http::serve(listeners.http, probes.merge(router), shutdown.clone()));
    if let (Some(edge), Some(identity)) = (edge, identity) {
        let server = smtp_server(&app, edge, &identity);
        let smtp = listeners.smtp.map(|listener| (listener, Implicit::No));
        let smtps = listeners.smtps.map(|listener| (listener, Implicit::Yes));
        for (listener, implicit) in smtp.into_iter().chain(smtps) {
            servers.spawn(server.clone().serve(listener, implicit, shutdown.clone()));
        }
    }

    stop_signal().await?;
    tracing::info!("draining");
    shutdown.cancel();
    while servers.join_next().await.is_some() {}
    while loops.join_next().await.is_some() {}
    drop(app);
    backend.close().await;
    drop(lock);
    Ok(())
}

/// What a role cannot do without. An API still lists and waits while the bytes of messages are out of
/// reach, and whatever needs no jobs goes on without the queue: their outage shall not take more away.
fn needs(roles: Roles) -> Vec<Service> {
    let mut needs = vec![Service::Cql];
    if roles.edge {
        needs.push(Service::Blobs);
    }
    if roles.worker {
        needs.extend([Service::Blobs, Service::Nats]);
    }
    needs
}

fn smtp_server(app: &Arc<App>, edge: Edge, identity: &Identity) -> Arc<Server<Inboxes>> {
    let mailroom = Arc::new(Inboxes(app.clone()));
    Arc::new(Server::new(mailroom, edge.config, Some(identity.config.clone())))
}

/// Each connection needs a descriptor, and many systems allow only 1,024 until a process asks.
fn allow_many_connections() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = rustix::process::setrlimit(Resource::Nofile, wanted) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}

async fn stop_signal() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
