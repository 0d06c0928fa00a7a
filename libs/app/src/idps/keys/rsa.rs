//! RSA keys that are ready before somebody asks, because making one takes long.

use std::sync::Arc;

use tokio::{
    sync::{Mutex, Notify, Semaphore, mpsc},
    task::spawn_blocking,
};
use tokio_util::sync::CancellationToken;

use super::NewKeyPair;
use crate::{Error, Result, Supervisor, metrics};

/// Keys that wait for somebody, beside the one that is handed over next.
const READY: usize = 3;
/// Callers that may wait for a key.
const MAX_WAITING: usize = 32;

/// Makes keys one at a time beside the reactor.
pub(crate) struct RsaKeys {
    ready: Mutex<mpsc::Receiver<NewKeyPair>>,
    waiting: Semaphore,
    /// Told by whoever asks: a server without providers makes no keys.
    wanted: Arc<Notify>,
}

impl RsaKeys {
    pub(in crate::idps) fn start(shutdown: CancellationToken, tasks: &Supervisor) -> Self {
        let (made, ready) = mpsc::channel(READY);
        let wanted = Arc::new(Notify::new());
        let maker = make_keys(wanted.clone(), made);
        tasks.spawn("provider keys", async move {
            shutdown.run_until_cancelled(maker).await;
        });
        Self { ready: Mutex::new(ready), waiting: Semaphore::new(MAX_WAITING), wanted }
    }

    /// A key of its own for the caller.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when 32 others wait already, and at the shutdown.
    pub(in crate::idps) async fn take(&self) -> Result<NewKeyPair> {
        let _place = self.waiting.try_acquire().map_err(|_| Error::Unavailable)?;
        self.wanted.notify_one();
        let mut ready = self.ready.lock().await;
        let key = ready.recv().await.ok_or(Error::Unavailable);
        metrics::idp_keys_ready(ready.len());
        key
    }
}

async fn make_keys(wanted: Arc<Notify>, made: mpsc::Sender<NewKeyPair>) {
    wanted.notified().await;
    loop {
        match spawn_blocking(NewKeyPair::rsa).await {
            Ok(Ok(key)) => {
                if made.send(key).await.is_err() {
                    return;
                }
            }
            // Without a pause it would fail as fast as it can.
            Ok(Err(error)) => {
                tracing::error!(%error, "an RSA key was not made");
                wanted.notified().await;
            }
            Err(error) => {
                tracing::error!(%error, "the making of an RSA key ended");
                wanted.notified().await;
            }
        }
    }
}
