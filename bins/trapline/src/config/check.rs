//! Reads every text of the command line.

mod groups;

use trapline_app::MasterKey;

use super::{
    Backend, Config, Migration, Webhooks,
    args::{
        ApiRoleArgs, BackendArgs, MemberArgs, MigrateArgs, ServeArgs, SmtpRoleArgs, WorkerRoleArgs,
    },
    faults::{BadSettings, Faults, given},
    parse,
};

/// API requests a minute and team in a cluster.
const CLUSTER_RATE: u32 = 6_000;

/// Reads everything, and ends with every fault in it or none.
fn read<T>(read: impl FnOnce(&mut Faults) -> T) -> Result<T, BadSettings> {
    let mut faults = Faults::default();
    let value = read(&mut faults);
    faults.end(value)
}

impl ServeArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> Result<Config, BadSettings> {
        read(|f| Config {
            http: self.http.read(f),
            http_limits: self.http.limits(f),
            quiet: self.http.quiet,
            public: self.public.read(f),
            backend: Backend::Folder(self.folder.read(&self.secret, f)),
            api: Some(self.api.read(None, f)),
            edge: Some(self.edge.read(&self.public.mail_domain, true, f)),
            worker: true,
            api_key: f.secret("api-key", self.api_key.as_ref(), parse::api_key),
            webhooks: self.webhooks.read(f),
            relay: self.relay.read(f),
            observe: self.observe.read(f),
        })
    }
}

impl MemberArgs {
    /// The settings of a process that has no role yet.
    fn read(&self, f: &mut Faults) -> Config {
        Config {
            http: self.http.read(f),
            http_limits: self.http.limits(f),
            quiet: self.http.quiet,
            public: self.public.read(f),
            backend: Backend::Cluster(self.cluster.read(&self.secret, f)),
            api: None,
            edge: None,
            worker: false,
            api_key: None,
            webhooks: Webhooks::default(),
            relay: None,
            observe: self.observe.read(f),
        }
    }
}

impl ApiRoleArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> Result<Config, BadSettings> {
        read(|f| Config {
            api: Some(self.api.read(Some(CLUSTER_RATE), f)),
            webhooks: self.webhooks.read(f),
            relay: self.relay.read(f),
            ..self.member.read(f)
        })
    }
}

impl SmtpRoleArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> Result<Config, BadSettings> {
        read(|f| Config {
            edge: Some(self.edge.read(&self.member.public.mail_domain, false, f)),
            ..self.member.read(f)
        })
    }
}

impl WorkerRoleArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> Result<Config, BadSettings> {
        read(|f| Config {
            worker: true,
            webhooks: self.webhooks.read(f),
            relay: self.relay.read(f),
            ..self.member.read(f)
        })
    }
}

impl MigrateArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> Result<Migration, BadSettings> {
        read(|f| Migration {
            public: self.public.read(f),
            api_key: f.secret("api-key", self.api_key.as_ref(), parse::api_key),
            cluster: self.cluster.read(&self.secret, f),
            observe: self.observe.read(f),
        })
    }
}

impl BackendArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> Result<Backend, BadSettings> {
        let is_cluster = given(self.cluster.cql.as_ref()).is_some();
        read(|f| {
            if is_cluster {
                Backend::Cluster(self.cluster.read(&self.secret, f))
            } else {
                Backend::Folder(self.folder.read(&self.secret, f))
            }
        })
    }
}

fn master_key(text: &str) -> Result<MasterKey, String> {
    MasterKey::from_text(text).ok_or_else(|| "wants 32 bytes in base64".to_owned())
}
