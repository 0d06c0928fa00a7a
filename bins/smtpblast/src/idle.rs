//! Connections that are open and say nothing.

use std::sync::Arc;

use tokio::{task::JoinSet, time::sleep};

use crate::{args::Args, client::Client, load::Load, proc::Sample, stats::Stats};

/// What holding connections came to.
pub(crate) struct Held {
    /// Connections asked for.
    pub(crate) asked: u32,
    /// Opened, up to the reply to EHLO.
    pub(crate) opened: usize,
    /// Those that still answered NOOP after the hold.
    pub(crate) alive: usize,
    /// The server at the end of the hold, with all of them open.
    pub(crate) sample: Option<Sample>,
    /// Times of connecting, and failures.
    pub(crate) stats: Stats,
}

/// Opens `count` connections, holds them, and asks each whether it is still there.
///
/// # Errors
/// The server's process is gone.
pub(crate) async fn hold(load: &Arc<Load>, count: u32, args: &Args) -> anyhow::Result<Held> {
    let clients = load.open(count).await;
    let opened = clients.len();
    sleep(args.hold).await;
    let sample = args.pid.map(Sample::of).transpose()?;
    let alive = count_alive(load, clients).await;
    Ok(Held { asked: count, opened, alive, sample, stats: load.take_stats() })
}

async fn count_alive(load: &Arc<Load>, clients: Vec<Client>) -> usize {
    let mut tasks = JoinSet::new();
    for mut client in clients {
        let load = Arc::clone(load);
        tasks.spawn(async move {
            let answer = client.noop().await.map_err(|failure| load.fail(failure));
            answer.is_ok()
        });
    }
    tasks.join_all().await.into_iter().filter(|alive| *alive).count()
}
