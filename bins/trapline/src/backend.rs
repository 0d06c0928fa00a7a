//! Where the data is: one process's folder, or the services of a cluster.

use std::{fs::File, sync::Arc};

use anyhow::{Context, Result, bail};
use tokio_util::sync::CancellationToken;
use trapline_app::{App, MasterKey, Settings};
use trapline_embedded::{Embedded, Options};
use trapline_store::{
    Clock, Ports,
    records::{self, WorkLease},
};

use crate::{
    cluster::{Cluster, Options as ClusterOptions},
    config::{self, ClusterUrls, DataFolder},
    folder::Folder,
};

/// An open backend.
pub(crate) enum Backend {
    Folder(Arc<Embedded>),
    Cluster(Arc<Cluster>),
}

/// An open backend and what came with it.
pub(crate) struct Opened {
    pub backend: Backend,
    pub master: MasterKey,
    pub folder: Option<Folder>,
    /// Keeps other servers away from the folder.
    pub lock: Option<File>,
}

impl Backend {
    /// Opens what the settings name. A server keeps other servers away from its folder; a command
    /// beside running servers (`alone` is false) does not.
    pub(crate) async fn open(config: config::Backend, clock: Clock, alone: bool) -> Result<Opened> {
        match config {
            config::Backend::Folder(folder) => open_folder(folder, clock, alone).await,
            config::Backend::Cluster(cluster) => {
                let (options, master) = cluster_options(cluster, clock);
                connect(&options, master).await
            }
        }
    }

    /// Starts the use cases over what is open. Rows of earlier releases are moved first where this
    /// process may do that (`upgrade`), and it refuses to start over them where not. Refuses when there are secrets that the master key
    /// does not open: nothing that was sealed could be used, and what is sealed now would be mixed in.
    pub(crate) async fn start(
        &self,
        clock: Clock,
        settings: Settings,
        master: &MasterKey,
        upgrade: bool,
        shutdown: CancellationToken,
    ) -> Result<Arc<App>> {
        let started = App::start(self.ports(), clock, settings, master, shutdown).await;
        if let Err(trapline_app::Error::WrongMasterKey) = started {
            bail!("{}", self.wrong_key());
        }
        let app = started.context("the store does not answer")?;
        if self.is_half_restored().await.context("the store does not answer")? {
            bail!("{}", self.not_whole());
        }
        if upgrade {
            app.upgrades().run().await.context("rows of an earlier release could not be moved")?;
        } else if !app.upgrades().are_finished().await.context("the store does not answer")? {
            bail!("{}", self.not_upgraded());
        }
        Ok(app)
    }

    /// Whether a restore was begun here and not finished.
    async fn is_half_restored(&self) -> trapline_store::Result<bool> {
        let mark = self.ports().store.get(&WorkLease::row(WorkLease::RESTORE)).await?;
        Ok(mark.is_some())
    }

    fn not_whole(&self) -> &'static str {
        match self {
            Self::Folder(_) => {
                "a restore into this data folder is under way, or was cut off: then remove the folder, \
                 and restore anew"
            }
            Self::Cluster(_) => {
                "a restore into this keyspace is under way, or was cut off: then drop the keyspace, and \
                 restore anew"
            }
        }
    }

    fn not_upgraded(&self) -> &'static str {
        match self {
            Self::Folder(_) => {
                "the data is an earlier release's: start `trapline serve` of this one first"
            }
            Self::Cluster(_) => {
                "the data is an earlier release's: run `trapline migrate` of this one first"
            }
        }
    }

    fn wrong_key(&self) -> &'static str {
        match self {
            Self::Folder(_) => {
                "the secret key is not the one that this installation's passwords and webhook \
                 secrets were sealed with: put its own secret.key back into the data folder, or give \
                 its key with --secret-key or TRAPLINE_SECRET_KEY"
            }
            Self::Cluster(_) => {
                "the secret key is not the one that this installation's passwords and webhook \
                 secrets were sealed with: give every process the TRAPLINE_SECRET_KEY of the first \
                 `trapline migrate`"
            }
        }
    }

    pub(crate) fn ports(&self) -> Ports {
        match self {
            Self::Folder(embedded) => embedded.ports(),
            Self::Cluster(cluster) => cluster.ports(),
        }
    }

    /// Returns when a part that must live as long as the process has ended: the folder's writer, or
    /// the listener for live events.
    pub(crate) async fn ended(&self) {
        match self {
            Self::Folder(embedded) => embedded.ended().await,
            Self::Cluster(cluster) => cluster.ended().await,
        }
    }

    /// Commits what has been handed in, and ends.
    pub(crate) async fn close(self) {
        if let Self::Folder(embedded) = self
            && let Some(embedded) = Arc::into_inner(embedded)
        {
            embedded.close().await;
        }
    }
}

async fn open_folder(config: config::Folder, clock: Clock, alone: bool) -> Result<Opened> {
    let folder = Folder::open(&config.settings.data)?;
    let lock = alone.then(|| folder.lock()).transpose()?;
    let master = folder.master_key(config.secret_key)?;
    let DataFolder { durability, disk_margin, .. } = config.settings;
    let options = Options { durability, disk_margin, clock, ..Options::new(folder.path()) };
    let embedded = Arc::new(Embedded::open(options).await?);
    if alone {
        embedded.release_leases().await?;
    }
    folder.restrict_permissions();
    Ok(Opened { backend: Backend::Folder(embedded), master, folder: Some(folder), lock })
}

/// Makes or updates what the services hold, and opens them.
pub(crate) async fn migrate(config: config::Cluster, clock: Clock) -> Result<Opened> {
    let (options, master) = cluster_options(config, clock);
    Cluster::migrate(&options, &records::TABLES).await?;
    connect(&options, master).await
}

async fn connect(options: &ClusterOptions, master: MasterKey) -> Result<Opened> {
    let cluster = Arc::new(Cluster::connect(options).await?);
    Ok(Opened { backend: Backend::Cluster(cluster), master, folder: None, lock: None })
}

fn cluster_options(config: config::Cluster, clock: Clock) -> (ClusterOptions, MasterKey) {
    let ClusterUrls { cql, keyspace, blobs, nats, redis } = config.urls;
    let options = ClusterOptions { cql, namespace: keyspace, blobs, nats, redis, clock };
    (options, config.secret_key)
}
