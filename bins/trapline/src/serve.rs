//! One process: everything over a data folder, or some roles of a cluster.

mod background;
mod descriptors;
mod listen;
mod probes;

use std::{fs::File, sync::Arc, time::Duration};

use anyhow::{Result, anyhow};
use axum::Router;
use tokio::{
    net::TcpListener,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use trapline_app::{App, Start, Supervisor, WebhookSender, metrics};
use trapline_smtp::{Implicit, Server};

use crate::{
    backend::{Backend, Opened},
    backup::RegularBackups,
    banner::{banner, roles_banner},
    clock::clock,
    cluster::Service,
    config::{Config, Edge, Observability, Roles, WebhookSettings},
    http::{HttpServer, Limits},
    identity::{self, TlsIdentity, TlsListeners},
    mailroom::InboxMailroom,
    outbound::{self, OutboundClients},
    output,
    probes::{self as liveness, Readiness},
    settings::{reachable, settings},
    stop::Stop,
    telemetry,
};
pub(crate) use listen::Listeners;

/// How long the drain of all tasks may take; it is longer than the drain of each part.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(28);

/// A started process.
struct Running {
    app: Arc<App>,
    backend: Backend,
    tasks: Supervisor,
    /// Keeps other servers away from the folder.
    _lock: Option<File>,
}

/// Runs until SIGTERM or SIGINT, or until a task ends early, then drains.
pub(crate) async fn run(config: Config, mut stop: Stop) -> Result<()> {
    let _flush = telemetry::start_log(&config.observe, &config.warnings)?;
    let (delay, shutdown) = (config.shutdown_delay, CancellationToken::new());
    // Ends with the shutdown too, whatever that is for.
    let draining = shutdown.child_token();
    let running = tokio::select! {
        running = start(config, shutdown.clone(), draining.clone()) => running.inspect_err(|_| shutdown.cancel())?,
        () = stop.requested() => {
            tracing::info!("stopped before everything was started");
            shutdown.cancel();
            return Ok(());
        }
    };
    let outcome = tokio::select! {
        () = end_requested(&mut stop, &draining, delay) => Ok(()),
        part = running.first_failure() => {
            Err(anyhow!("{part} ended before its time, and nothing works without it"))
        }
    };
    tracing::info!("draining");
    shutdown.cancel();
    running.drain().await;
    outcome
}

/// Returns `delay` after a signal has come, or with the next one. Meanwhile the process is not ready any
/// more, and all else goes on.
async fn end_requested(stop: &mut Stop, draining: &CancellationToken, delay: Duration) {
    stop.requested().await;
    draining.cancel();
    if !delay.is_zero() {
        tracing::info!(?delay, "not ready any more, and draining after a delay");
    }
    tokio::select! {
        () = tokio::time::sleep(delay) => {}
        () = stop.requested() => {}
    }
}

impl Running {
    /// Waits for the first task that ends early, and returns its name.
    async fn first_failure(&self) -> &'static str {
        tokio::select! {
            task = self.tasks.first_failure() => task,
            task = self.app.tasks().first_failure() => task,
            () = self.backend.ended() => {
                tracing::error!("the backend's own task ended before its time");
                "the backend"
            }
        }
    }

    async fn drain(self) {
        let Self { app, backend, tasks, _lock } = self;
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        let mut is_drained = timeout_at(deadline, tasks.wait_for_all()).await.is_ok();
        // What the last connections stored is counted, too.
        app.usage().flush().await;
        // And announced: that goes on beside their answers, and ends once there is no mail to come.
        let behind = app.tasks().clone();
        drop(app);
        is_drained &= timeout_at(deadline, behind.wait_for_all()).await.is_ok();
        if !is_drained {
            tracing::warn!("not everything ended in time");
        }
        backend.close().await;
    }
}

/// Starts everything, the listeners for clients last.
async fn start(
    mut config: Config,
    shutdown: CancellationToken,
    draining: CancellationToken,
) -> Result<Running> {
    let descriptors = descriptors::allow_many();
    let smtp = config.edge.as_mut().map(|edge| &mut edge.limits);
    descriptors::share(descriptors, &mut config.http_limits, smtp);
    let metrics = telemetry::install_metrics()?;
    let listeners = listen::listen(&config)?;
    let settings = settings(&config, &listeners)?;
    let own = probes::OwnListeners::of(&listeners, config.edge.as_ref())?;
    let (roles, is_cluster) = (config.roles(), config.is_cluster());
    let Config {
        backend,
        edge,
        certificate,
        api_key,
        webhooks,
        relay,
        backups,
        observe,
        http_limits,
        quiet,
        ..
    } = config;
    let clock = clock();
    let Opened { backend, master, folder, lock } =
        Backend::open(backend, clock.clone(), true).await?;
    let app =
        backend.start(clock.clone(), settings, &master, !is_cluster, shutdown.clone()).await?;
    let sender = set_clients(&app, &webhooks, &listeners, is_cluster)?;
    let relay = outbound::relay(relay.as_ref(), &app.settings().mail_domain)?;
    let first =
        if is_cluster { None } else { Some(app.installation().start(api_key.as_deref()).await?) };
    let shown = tls_listeners(&listeners, roles)?;
    let identity = match shown {
        Some(shown) => {
            Some(identity::load(&app, folder.as_ref(), certificate.as_ref(), shown).await?)
        }
        None => None,
    };
    let tasks = Supervisor::new(shutdown.clone());
    metrics::streams_limit(app.settings().max_streams);
    tasks.spawn("metrics", until_shutdown(&shutdown, telemetry::upkeep(metrics.clone())));
    tasks.spawn("process", until_shutdown(&shutdown, telemetry::measure()));
    let liveness = liveness::router(Readiness::new(&backend, required_services(roles), draining));
    let router = router(&app, roles, metrics, observe, identity.as_ref());
    if let Some(identity) = &identity {
        identity.keep(&tasks, &app);
    }
    if !quiet {
        print_banner(&app, first.as_ref(), api_key.is_some(), &listeners, roles)?;
    }
    if first.is_some() {
        app.installation().shown().await?;
    }
    background::start(&tasks, &app, &backend, roles, sender, relay).await;
    let Listeners { http, https, smtp, smtps } = listeners;
    if let (Some(edge), Some(identity)) = (edge, &identity) {
        start_smtp(&tasks, &app, edge, identity, [smtp, smtps]).await;
    }
    probes::start(&tasks, &app, roles, is_cluster, &own);
    if let (Some(backups), Some(folder), Backend::Folder(embedded)) = (backups, folder, &backend) {
        let regular = RegularBackups::of(&backups)?;
        let runs = regular.run(embedded.clone(), folder, master, clock);
        tasks.spawn("backups", until_shutdown(&shutdown, runs));
    }
    let https = https.zip(identity.as_ref());
    start_http(&tasks, &app, liveness.merge(router), http_limits, http, https);
    Ok(Running { app, backend, tasks, _lock: lock })
}

/// Gives the use cases their clients for addresses that others name. Returns the one that sends webhooks.
fn set_clients(
    app: &App,
    webhooks: &WebhookSettings,
    listeners: &Listeners,
    is_cluster: bool,
) -> Result<Arc<dyn WebhookSender>> {
    let (base_url, own) = (&app.settings().base_url, listeners.addresses()?);
    let OutboundClients { webhooks: sender, identity: provider, links, authenticator } =
        outbound::outbound_clients(webhooks, base_url, own, is_cluster)?;
    app.webhooks().set_sender(sender.clone());
    app.sso().set_provider(provider);
    app.checks().set_engines(outbound::spam_engines(&app.settings().spam_engines)?);
    app.checks().set_visitor(links);
    app.checks().set_authenticator(authenticator);
    Ok(sender)
}

/// The listeners that show a certificate; nothing in a process that does not even hand out the CA.
fn tls_listeners(listeners: &Listeners, roles: Roles) -> Result<Option<TlsListeners>> {
    let https = listeners.https_address()?.map(|address| reachable(address).ip());
    Ok((roles.api || roles.edge).then_some(TlsListeners { smtp: roles.edge, https }))
}

/// Serves the routes by both listeners, within the same bounds.
fn start_http(
    tasks: &Supervisor,
    app: &App,
    router: Router,
    limits: Limits,
    http: TcpListener,
    https: Option<(TcpListener, &TlsIdentity)>,
) {
    let (memory, shutdown) = (app.body_memory().clone(), app.shutdown().clone());
    let server = HttpServer::new(router, limits, memory, shutdown);
    tasks.spawn("HTTP", server.clone().serve(http));
    if let Some((listener, identity)) = https {
        tasks.spawn("HTTPS", server.serve_tls(listener, identity.https()));
    }
}

/// Starts the SMTP edge over its listeners, of which the second one is for implicit TLS.
async fn start_smtp(
    tasks: &Supervisor,
    app: &Arc<App>,
    edge: Edge,
    identity: &TlsIdentity,
    [smtp, smtps]: [Option<TcpListener>; 2],
) {
    let shutdown = app.shutdown();
    metrics::smtp_limits(edge.limits.connections, edge.limits.memory);
    let server = smtp_server(app, edge, identity);
    let measure = background::measure_smtp(server.clone());
    tasks.spawn("SMTP memory", until_shutdown(shutdown, measure));
    let smtp = smtp.map(|listener| ("SMTP", listener, Implicit::No));
    let smtps = smtps.map(|listener| ("SMTPS", listener, Implicit::Yes));
    for (name, listener, implicit) in smtp.into_iter().chain(smtps) {
        tasks.spawn(name, server.clone().serve(listener, implicit, shutdown.clone()));
    }
    tasks.spawn("smtp beat", background::smtp_heartbeats(app, server).await);
}

fn router(
    app: &Arc<App>,
    roles: Roles,
    metrics: metrics_exporter_prometheus::PrometheusHandle,
    observe: Observability,
    identity: Option<&TlsIdentity>,
) -> Router {
    let options = trapline_api::Options {
        metrics: Arc::new(move || metrics.render()),
        metrics_token: observe.metrics_token,
        ca_certificate: identity.and_then(|identity| identity.ca.clone()),
        console: roles.api.then(console).flatten(),
    };
    if roles.api {
        let idps = trapline_idp::router(app.clone(), team_session(app));
        trapline_api::router(app.clone(), options, idps)
    } else {
        trapline_api::metrics_router(app.clone(), options)
    }
}

/// Says to mock identity providers for which team somebody is signed in at this service.
fn team_session(app: &Arc<App>) -> trapline_idp::TeamSession {
    let asked = app.clone();
    Arc::new(move |headers, extensions| {
        let app = asked.clone();
        Box::pin(async move { trapline_api::signed_in_team(&app, &headers, &extensions).await })
    })
}

/// The web console, if it was built in.
fn console() -> Option<trapline_api::Console> {
    let console = trapline_console::Console::embedded()?;
    Some(Arc::new(move |request, prefix| console.answer(request, prefix)))
}

/// Prints the banner. A standard output that takes nothing is only logged.
fn print_banner(
    app: &App,
    first: Option<&Start>,
    has_key: bool,
    listeners: &Listeners,
    roles: Roles,
) -> Result<()> {
    let (http, https) = (listeners.http_address()?, listeners.https_address()?);
    let text = match first {
        Some(start) => banner(app.settings(), start, has_key, https),
        None => roles_banner(app.settings(), http, https, roles),
    };
    if let Err(error) = output::print(&text) {
        tracing::warn!(%error, "the standard output takes nothing");
    }
    Ok(())
}

/// The work, ended by the shutdown.
fn until_shutdown(
    shutdown: &CancellationToken,
    work: impl Future<Output = ()> + Send + 'static,
) -> impl Future<Output = ()> + Send + 'static {
    let shutdown = shutdown.clone();
    async move {
        shutdown.run_until_cancelled(work).await;
    }
}

/// The services without which a role is not ready. An API still lists and waits without the bytes of
/// messages, and whatever needs no jobs works without the queue.
fn required_services(roles: Roles) -> Vec<Service> {
    let mut required_services = vec![Service::Cql];
    if roles.edge {
        required_services.push(Service::Blobs);
    }
    if roles.worker {
        required_services.extend([Service::Blobs, Service::Nats]);
    }
    required_services
}

fn smtp_server(app: &Arc<App>, edge: Edge, identity: &TlsIdentity) -> Arc<Server<InboxMailroom>> {
    let mailroom = Arc::new(InboxMailroom::new(app.clone(), edge.settings.auth_failures));
    let config = edge.server(&app.settings().mail_domain);
    Arc::new(Server::new(mailroom, config, Some(identity.smtp())))
}
