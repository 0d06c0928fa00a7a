//! Reads every text of the command line.

mod groups;

use trapline_app::MasterKey;

use super::{
    Backend, Config, Migration, Webhooks,
    args::{ApiRoleArgs, BackendArgs, MigrateArgs, ServeArgs, SmtpRoleArgs, WorkerRoleArgs},
    faults::Faults,
    parse,
};

/// API requests a minute and team in a cluster.
const CLUSTER_RATE: u32 = 6_000;

impl ServeArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<Config> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let config = Config {
            http: self.http.read(f),
            public: self.public.read(f),
            backend: Backend::Folder(self.folder.read(&self.secret, f)),
            api: Some(self.api.read(None, f)),
            edge: Some(self.edge.read(&self.public.mail_domain, true, f)),
            worker: true,
            api_key: f.secret("api-key", self.api_key.as_ref(), parse::api_key),
            webhooks: self.webhooks.read(f),
            relay: self.relay.read(f),
            observe: self.observe.read(f),
        };
        faults.end(config)
    }
}

impl ApiRoleArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<Config> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let config = Config {
            http: self.http.read(f),
            public: self.public.read(f),
            backend: Backend::Cluster(self.cluster.read(&self.secret, f)),
            api: Some(self.api.read(Some(CLUSTER_RATE), f)),
            edge: None,
            worker: false,
            api_key: None,
            webhooks: self.webhooks.read(f),
            relay: self.relay.read(f),
            observe: self.observe.read(f),
        };
        faults.end(config)
    }
}

impl SmtpRoleArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<Config> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let config = Config {
            http: self.http.read(f),
            public: self.public.read(f),
            backend: Backend::Cluster(self.cluster.read(&self.secret, f)),
            api: None,
            edge: Some(self.edge.read(&self.public.mail_domain, false, f)),
            worker: false,
            api_key: None,
            webhooks: Webhooks::default(),
            relay: None,
            observe: self.observe.read(f),
        };
        faults.end(config)
    }
}

impl WorkerRoleArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<Config> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let config = Config {
            http: self.http.read(f),
            public: self.public.read(f),
            backend: Backend::Cluster(self.cluster.read(&self.secret, f)),
            api: None,
            edge: None,
            worker: true,
            api_key: None,
            webhooks: self.webhooks.read(f),
            relay: self.relay.read(f),
            observe: self.observe.read(f),
        };
        faults.end(config)
    }
}

impl MigrateArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<Migration> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let migration = Migration {
            public: self.public.read(f),
            api_key: f.secret("api-key", self.api_key.as_ref(), parse::api_key),
            cluster: self.cluster.read(&self.secret, f),
            observe: self.observe.read(f),
        };
        faults.end(migration)
    }
}

impl BackendArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<Backend> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let backend = if self.cluster.cql.as_ref().is_some_and(|url| !url.is_empty()) {
            Backend::Cluster(self.cluster.read(&self.secret, f))
        } else {
            Backend::Folder(self.folder.read(&self.secret, f))
        };
        faults.end(backend)
    }
}

fn master_key(text: &str) -> Result<MasterKey, String> {
    MasterKey::from_text(text).ok_or_else(|| "wants 32 bytes in base64".to_owned())
}
