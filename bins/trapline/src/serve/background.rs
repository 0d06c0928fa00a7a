//! Background loops of a process; each ends with the shutdown.

use std::{sync::Arc, time::Duration};

use trapline_app::{App, Relay, Supervisor, WebhookSender, metrics};
use trapline_embedded::Embedded;
use trapline_smtp::Server;
use trapline_worker::{
    ForwardMessage, Housekeeping, MockDeliveries, ReceivedMail, SendMail, WebhookDeliveries, Worker,
};

use crate::{backend::Backend, config::Roles, mailroom::InboxMailroom};

/// Time between two sweeps of expired rows.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// Rows that one sweep removes at most.
const MAX_SWEPT_ROWS: usize = 10_000;
/// Time between two measurements of memory and disk.
const MEASURE_INTERVAL: Duration = Duration::from_secs(15);
/// The janitor's name in a data folder, which one server at a time has: the next one takes over the leases
/// of a killed one.
const SOLE_HOLDER: &str = "serve";

/// Starts the loops of the roles, and sends their first heartbeat.
pub(super) async fn start(
    tasks: &Supervisor,
    app: &Arc<App>,
    backend: &Backend,
    roles: Roles,
    sender: Arc<dyn WebhookSender>,
    relay: Option<Arc<dyn Relay>>,
) {
    let instance = instance();
    if roles.worker {
        app.maintenance().beat("worker", &instance).await;
        let holder = match backend {
            Backend::Folder(_) => SOLE_HOLDER.to_owned(),
            Backend::Cluster(_) => instance.clone(),
        };
        worker(app, sender, relay).start(tasks, &instance, holder);
    }
    if let Backend::Folder(embedded) = backend {
        tasks.spawn("sweep", sweep_expired(app.clone(), embedded.clone()));
        tasks.spawn("disk", measure_disk(app.clone(), embedded.clone()));
    }
}

/// A worker for every kind of job that this process can do.
fn worker(app: &Arc<App>, sender: Arc<dyn WebhookSender>, relay: Option<Arc<dyn Relay>>) -> Worker {
    let mut worker = Worker::new(app.clone());
    worker.register(ReceivedMail::new(app.clone()));
    worker.register(Housekeeping::new(app.clone()));
    worker.register(WebhookDeliveries::new(app.clone(), sender.clone()));
    worker.register(WebhookDeliveries::slow(app.clone(), sender));
    worker.register(MockDeliveries::new(app.clone()));
    if let Some(relay) = relay {
        worker.register(SendMail::new(app.clone(), relay.clone()));
        worker.register(ForwardMessage::new(app.clone(), relay));
    }
    worker
}

/// Sends the SMTP server's first heartbeat. Returns the loop that sends the others while it listens.
pub(super) async fn smtp_heartbeats(
    app: &Arc<App>,
    server: Arc<Server<InboxMailroom>>,
) -> impl Future<Output = ()> + Send + 'static {
    let (app, instance) = (app.clone(), instance());
    app.live().send_writer_heartbeat(&instance).await;
    async move { app.live().run_writer_heartbeat(&instance, || server.is_listening()).await }
}

/// Measures every 15 s how much memory the SMTP server's mails take.
pub(super) async fn measure_smtp(server: Arc<Server<InboxMailroom>>) {
    loop {
        metrics::smtp_memory(server.memory_reserved());
        tokio::time::sleep(MEASURE_INTERVAL).await;
    }
}

/// Measures every 15 s how full the folder's disk is.
async fn measure_disk(app: Arc<App>, embedded: Arc<Embedded>) {
    let measuring = async {
        loop {
            match embedded.disk_space() {
                Ok((free, used)) => metrics::disk(free, used),
                Err(error) => tracing::debug!(%error, "the disk does not tell how full it is"),
            }
            tokio::time::sleep(MEASURE_INTERVAL).await;
        }
    };
    app.shutdown().run_until_cancelled(measuring).await;
}

/// Removes expired rows every 30 s.
async fn sweep_expired(app: Arc<App>, embedded: Arc<Embedded>) {
    let sweeps = async {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            if let Err(error) = embedded.sweep(MAX_SWEPT_ROWS).await {
                tracing::warn!(%error, "expired rows were not removed");
            }
        }
    };
    app.shutdown().run_until_cancelled(sweeps).await;
}

/// A name for this process that no other has. Containers may share a host name and a process id.
pub(super) fn instance() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let process = std::process::id();
    format!("{host}:{process}:{:08x}", getrandom::u32().unwrap_or(process))
}
