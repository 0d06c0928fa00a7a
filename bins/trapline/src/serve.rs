//! `trapline serve`: everything in one process over one data folder.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use trapline_app::{App, MasterKey, Settings};
use trapline_embedded::{Embedded, Options};
use trapline_smtp::{Implicit, Server};
use trapline_store::Clock;

use crate::{
    banner::banner,
    config::{Config, ServeArgs},
    folder::Folder,
    http,
    mailroom::Inboxes,
    telemetry,
    tls::{self, Identity},
};

const BACKLOG: u32 = 4096;
const BEAT: Duration = Duration::from_secs(10);
const SWEEP: Duration = Duration::from_secs(30);
/// Rows that one sweep removes at most.
const SWEPT: usize = 10_000;

/// The janitor's name in a folder that one server at a time has: what a killed one held, the next has.
const ALONE: &str = "serve";

struct Listeners {
    http: TcpListener,
    smtp: TcpListener,
    smtps: Option<TcpListener>,
}

/// Runs until SIGTERM or SIGINT, then drains.
pub(crate) async fn serve(args: &ServeArgs) -> Result<()> {
    let mut config = args.check()?;
    if args.check_config {
        println!("The settings are good.");
        return Ok(());
    }
    telemetry::logs(&config.log, config.json_logs)?;
    allow_many_connections();
    let metrics = telemetry::metrics()?;
    let folder = Folder::open(&config.store.data)?;
    let lock = folder.lock()?;
    let master = folder.master_key(config.store.secret_key.take())?;
    let listeners = listen(&config)?;
    let settings = settings(&config, &listeners)?;
    let identity = identity(&config, &folder, &settings)?;
    let clock = Clock::system();
    let options = Options {
        durability: config.store.durability,
        clock: clock.clone(),
        ..Options::new(folder.path())
    };
    let embedded = Embedded::open(options).await?;
    let shutdown = CancellationToken::new();
    let app = start(&embedded, clock, settings, &master, &shutdown).await?;
    let start = app.first_run(config.api_key.as_deref()).await?;

    let api = trapline_api::Options {
        metrics: Arc::new(move || {
            metrics.run_upkeep();
            metrics.render()
        }),
        metrics_token: config.metrics_token.clone(),
        ca_certificate: identity.ca.clone(),
    };
    let edge = smtp_server(&app, config, &identity);
    let router = trapline_api::router(app.clone(), api);
    let mut servers = JoinSet::new();
    servers.spawn(http::serve(listeners.http, router, shutdown.clone()));
    servers.spawn(edge.clone().serve(listeners.smtp, Implicit::No, shutdown.clone()));
    if let Some(smtps) = listeners.smtps {
        servers.spawn(edge.clone().serve(smtps, Implicit::Yes, shutdown.clone()));
    }
    let embedded = Arc::new(embedded);
    app.beat("smtp", &instance()).await;
    app.beat("worker", &instance()).await;
    let mut loops = background(&app, &embedded);
    print!("{}", banner(app.settings(), &start));

    stop_signal().await?;
    tracing::info!("draining");
    shutdown.cancel();
    while servers.join_next().await.is_some() {}
    while loops.join_next().await.is_some() {}
    drop((app, edge));
    if let Some(embedded) = Arc::into_inner(embedded) {
        embedded.close().await;
    }
    drop(lock);
    Ok(())
}

fn listen(config: &Config) -> Result<Listeners> {
    let bind = |flag: &str, address: SocketAddr| {
        trapline_smtp::bind(address, BACKLOG)
            .with_context(|| format!("--{flag} {address}: cannot listen there"))
    };
    Ok(Listeners {
        http: bind("http", config.http)?,
        smtp: bind("smtp", config.smtp)?,
        smtps: config.smtps.map(|address| bind("smtps", address)).transpose()?,
    })
}

/// What clients are told, from where the listeners really are.
fn settings(config: &Config, listeners: &Listeners) -> Result<Settings> {
    let http = listeners.http.local_addr()?;
    let smtp = listeners.smtp.local_addr()?;
    let smtp_tls = listeners.smtps.as_ref().map(TcpListener::local_addr).transpose()?;
    Ok(Settings {
        base_url: config.base_url.clone().unwrap_or_else(|| format!("http://{}", reachable(http))),
        mail_domain: config.mail_domain.clone(),
        smtp_host: config.smtp_host.clone().unwrap_or_else(|| reachable(smtp).ip().to_string()),
        smtp_port: smtp.port(),
        smtp_tls_port: smtp_tls.map(|address| address.port()),
        catch_all: config.catch_all,
        api_rate: config.api_rate,
        max_streams: config.max_streams,
        max_overdue_jobs: config.max_overdue_jobs,
        preview_frame_ancestors: config.preview_frame_ancestors.clone(),
    })
}

/// An address that listens everywhere is reached on this machine.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if !ip.is_unspecified() => address,
        std::net::IpAddr::V4(_) => ([127, 0, 0, 1], address.port()).into(),
        std::net::IpAddr::V6(_) => (std::net::Ipv6Addr::LOCALHOST, address.port()).into(),
    }
}

fn identity(config: &Config, folder: &Folder, settings: &Settings) -> Result<Identity> {
    if let Some((certificate, key)) = &config.certificate {
        return tls::configured(certificate, key);
    }
    let mut names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
        settings.mail_domain.clone(),
    ];
    if !names.contains(&settings.smtp_host) {
        names.push(settings.smtp_host.clone());
    }
    tls::made(folder, names)
}

async fn start(
    embedded: &Embedded,
    clock: Clock,
    settings: Settings,
    master: &MasterKey,
    shutdown: &CancellationToken,
) -> Result<Arc<App>> {
    App::start(embedded.ports(), clock, settings, master, shutdown.clone())
        .await
        .context("the store does not answer")
}

fn smtp_server(app: &Arc<App>, config: Config, identity: &Identity) -> Arc<Server<Inboxes>> {
    let mailroom = Arc::new(Inboxes(app.clone()));
    Arc::new(Server::new(mailroom, config.edge, Some(identity.config.clone())))
}

/// What goes on beside the servers; each loop ends with the shutdown.
fn background(app: &Arc<App>, embedded: &Arc<Embedded>) -> JoinSet<()> {
    let instance = instance();
    let mut loops = JoinSet::new();
    loops.spawn(trapline_app::run_janitor(app.clone(), ALONE.to_owned()));
    loops.spawn(trapline_app::run_housekeeping(app.clone(), instance.clone()));
    let beating = app.clone();
    loops.spawn(async move {
        let beats = async {
            loop {
                beating.beat("smtp", &instance).await;
                tokio::time::sleep(BEAT).await;
            }
        };
        beating.shutdown().run_until_cancelled(beats).await;
    });
    let (swept, shutdown) = (embedded.clone(), app.shutdown().clone());
    loops.spawn(async move {
        let sweeps = async {
            loop {
                tokio::time::sleep(SWEEP).await;
                if let Err(error) = swept.sweep(SWEPT).await {
                    tracing::warn!(%error, "expired rows were not removed");
                }
            }
        };
        shutdown.run_until_cancelled(sweeps).await;
    });
    loops
}

/// This process among others that may share the store.
fn instance() -> String {
    std::process::id().to_string()
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
