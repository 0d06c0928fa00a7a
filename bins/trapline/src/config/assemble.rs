//! Assembles the settings of each command from their checked values.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use trapline_app::{MailClientData, MasterKey};
use trapline_store::Rate;

use super::{
    Backend, Backups, Cluster, Config, Edge, Folder, Migration,
    args::{
        ApiArgs, ApiRoleArgs, BackendArgs, BackupArgs, EdgeArgs, LinkArgs, MemberArgs, MigrateArgs,
        OutboundArgs, ProbeArgs, ServeArgs, SmtpRoleArgs, WorkerRoleArgs,
    },
    errors::ConfigErrors,
    groups::{
        BackupPlace, BackupSchedule, CertificatePaths, ClusterUrls, DataFolder, MasterSecret,
        PlanSettings, RelayConfig, WebhookSettings,
    },
    setting::SettingTexts,
    values::WeightsFile,
};
use crate::settings::reachable;

/// API requests a minute and team in a cluster, when no setting says otherwise.
const CLUSTER_RATE: Rate = Rate { burst: 6_000, per: Duration::from_mins(1) };
/// The same for calls to mocks.
const CLUSTER_MOCK_RATE: Rate = Rate { burst: 60_000, per: Duration::from_mins(1) };
/// The same of API requests of one address from which nobody known asks.
const CLUSTER_ADDRESS_RATE: Rate = Rate { burst: 1_200, per: Duration::from_mins(1) };

impl ServeArgs {
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<Config, ConfigErrors> {
        ConfigErrors::collect(|errors| {
            let (http, http_limits) =
                (self.http.address.read(errors), self.http.limits.read(errors));
            let stopping = self.http.stopping.read(errors);
            let public = self.public.read(errors);
            let folder = folder(&self.folder, &self.secret, errors);
            let https = self.api.https.read(errors);
            let api = self.api.read(false, errors);
            let sign_in = self.sign_in.read(errors);
            let edge = self.edge.read(true, errors);
            let certificate = CertificatePaths::read(&self.edge.certificate, errors);
            let first_key = self.first_key.read(errors);
            let outbound = self.outbound.read(errors);
            let plans = self.plans.read(errors);
            let backups = backups(&self.backup_place, &self.backups, errors);
            let observe = self.observe.read(errors);
            let (webhooks, relay) = outbound?;
            let (sign_in, observe) = (sign_in?, observe?);
            Some(Config {
                http: http?.http,
                https: https?.https,
                certificate: certificate?,
                http_limits: http_limits?,
                shutdown_delay: stopping?.shutdown_delay,
                quiet: self.http.quiet,
                public: public?,
                backend: Backend::Folder(folder?),
                api: Some(sign_in.fill(api?)),
                edge: Some(edge?),
                worker: true,
                plans: plans?,
                api_key: first_key?.api_key,
                webhooks,
                relay,
                backups: backups?,
                warnings: observe.warnings().into_iter().chain(sign_in.warning()).collect(),
                observe,
            })
        })
    }
}

impl MemberArgs {
    /// The settings of a process that has no role yet.
    fn read(&self, errors: &mut ConfigErrors) -> Option<Config> {
        let (http, http_limits) = (self.http.address.read(errors), self.http.limits.read(errors));
        let stopping = self.http.stopping.read(errors);
        let public = self.public.read(errors);
        let cluster = cluster(&self.cluster, &self.secret, errors);
        let plans = self.plans.read(errors);
        let observe = self.observe.read(errors)?;
        Some(Config {
            http: http?.http,
            https: None,
            certificate: None,
            http_limits: http_limits?,
            shutdown_delay: stopping?.shutdown_delay,
            quiet: self.http.quiet,
            public: public?,
            backend: Backend::Cluster(cluster?),
            api: None,
            edge: None,
            worker: false,
            plans: plans?,
            api_key: None,
            webhooks: WebhookSettings::default(),
            relay: None,
            backups: None,
            warnings: observe.warnings(),
            observe,
        })
    }
}

impl ApiRoleArgs {
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<Config, ConfigErrors> {
        ConfigErrors::collect(|errors| {
            let member = self.member.read(errors);
            let https = self.api.https.read(errors);
            let api = self.api.read(true, errors);
            let certificate = CertificatePaths::read(&self.certificate, errors);
            let (webhooks, relay) = self.outbound.read(errors)?;
            let (https, certificate) = (https?.https, certificate?);
            Some(Config { https, certificate, api: Some(api?), webhooks, relay, ..member? })
        })
    }
}

impl SmtpRoleArgs {
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<Config, ConfigErrors> {
        ConfigErrors::collect(|errors| {
            let member = self.member.read(errors);
            let certificate = CertificatePaths::read(&self.edge.certificate, errors);
            let edge = self.edge.read(false, errors)?;
            Some(Config { certificate: certificate?, edge: Some(edge), ..member? })
        })
    }
}

impl WorkerRoleArgs {
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<Config, ConfigErrors> {
        ConfigErrors::collect(|errors| {
            let member = self.member.read(errors);
            let (webhooks, relay) = self.outbound.read(errors)?;
            Some(Config { worker: true, webhooks, relay, ..member? })
        })
    }
}

impl MigrateArgs {
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<Migration, ConfigErrors> {
        ConfigErrors::collect(|errors| {
            let public = self.public.read(errors);
            let first_key = self.first_key.read(errors);
            let cluster = cluster(&self.cluster, &self.secret, errors);
            let observe = self.observe.read(errors)?;
            Some(Migration {
                public: public?,
                api_key: first_key?.api_key,
                cluster: cluster?,
                warnings: observe.warnings(),
                observe,
                quiet: self.quiet,
            })
        })
    }
}

impl SettingTexts<PlanSettings> {
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<PlanSettings, ConfigErrors> {
        ConfigErrors::collect(|errors| self.read(errors))
    }
}

impl BackendArgs {
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<Backend, ConfigErrors> {
        ConfigErrors::collect(|errors| {
            if self.cluster.is_given("TRAPLINE_CQL") {
                cluster(&self.cluster, &self.secret, errors).map(Backend::Cluster)
            } else {
                folder(&self.folder, &self.secret, errors).map(Backend::Folder)
            }
        })
    }
}

impl BackupArgs {
    /// Where the archive goes, if that is said, and where the data is.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<(Option<String>, Backend), ConfigErrors> {
        let place = ConfigErrors::collect(|errors| self.place.read(errors))?;
        Ok((self.to.clone().or(place.backup_to), self.backend.assemble()?))
    }
}

impl ProbeArgs {
    /// Where the server listens that is asked.
    ///
    /// # Errors
    ///
    /// When that is no address.
    pub(crate) fn assemble(&self) -> Result<SocketAddr, ConfigErrors> {
        ConfigErrors::collect(|errors| Some(self.http.read(errors)?.http))
    }
}

impl LinkArgs {
    /// Where the server is whose link it is, and where its data are.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub(crate) fn assemble(&self) -> Result<(String, Backend), ConfigErrors> {
        let (http, public) = ConfigErrors::collect(|errors| {
            let http = self.http.read(errors);
            let public = self.public.read(errors);
            Some((http?.http, public?))
        })?;
        let base_url = public.base_url.unwrap_or_else(|| format!("http://{}", reachable(http)));
        Ok((base_url, self.backend.assemble()?))
    }
}

impl ApiArgs {
    /// A cluster limits API requests where no setting does.
    fn read(&self, is_cluster: bool, errors: &mut ConfigErrors) -> Option<trapline_app::Settings> {
        let defaults = self.defaults.read(errors);
        let settings = self.settings.read(errors)?;
        let defaults = defaults?;
        let html_data = html_data(defaults.caniemail, defaults.client_weights, errors)?;
        let half = settings.max_streams.div_ceil(2);
        Some(trapline_app::Settings {
            api_rate: defaults.api_rate.unwrap_or(is_cluster.then_some(CLUSTER_RATE)),
            address_rate: defaults
                .address_rate
                .unwrap_or(is_cluster.then_some(CLUSTER_ADDRESS_RATE)),
            mock_rate: defaults.mock_rate.unwrap_or(is_cluster.then_some(CLUSTER_MOCK_RATE)),
            html_data,
            sign_up: defaults.sign_up.unwrap_or(!is_cluster),
            max_streams_per_team: defaults.max_streams_per_team.unwrap_or(half),
            ..settings
        })
    }
}

/// The data of the HTML check with the operator's weights; the outer `None` is a fault.
#[expect(clippy::option_option, reason = "settings that are wrong are not those of the executable")]
fn html_data(
    data: Option<MailClientData>,
    weights: Option<WeightsFile>,
    errors: &mut ConfigErrors,
) -> Option<Option<Arc<MailClientData>>> {
    let Some(WeightsFile { path, text }) = weights else { return Some(data.map(Arc::new)) };
    let data = data.unwrap_or_else(|| MailClientData::builtin().clone());
    match data.with_weights(&text) {
        Ok(data) => Some(Some(Arc::new(data))),
        Err(wrong) => errors.wrong("client-weights", &path, &wrong),
    }
}

impl EdgeArgs {
    /// `catch_all` holds when it is not set.
    fn read(&self, catch_all: bool, errors: &mut ConfigErrors) -> Option<Edge> {
        let settings = self.smtp.read(errors);
        let limits = self.limits.read(errors);
        let settings = settings?;
        if settings.proxy_protocol && settings.proxy_from.is_none() {
            errors.needed_with("smtp-proxy-protocol", "smtp-proxy-from");
        }
        let catch_all = settings.catch_all.unwrap_or(catch_all);
        Some(Edge { settings, catch_all, limits: limits? })
    }
}

impl OutboundArgs {
    fn read(&self, errors: &mut ConfigErrors) -> Option<(WebhookSettings, Option<RelayConfig>)> {
        let webhooks = self.webhooks.read(errors);
        let relay = RelayConfig::read(&self.relay, errors)?;
        Some((webhooks?, relay))
    }
}

/// The backups that one process makes of itself; the inner `None` is none.
#[expect(clippy::option_option, reason = "settings that are wrong are not those of no backups")]
fn backups(
    place: &SettingTexts<BackupPlace>,
    schedule: &SettingTexts<BackupSchedule>,
    errors: &mut ConfigErrors,
) -> Option<Option<Backups>> {
    let place = place.read(errors);
    let BackupSchedule { backup_every, backup_keep } = schedule.read(errors)?;
    let Some(every) = backup_every else { return Some(None) };
    let Some(to) = place?.backup_to else {
        errors.needed_with("backup-every", "backup-to");
        return None;
    };
    Some(Some(Backups { to, every, keep: backup_keep }))
}

fn folder(
    folder: &SettingTexts<DataFolder>,
    secret: &SettingTexts<MasterSecret>,
    errors: &mut ConfigErrors,
) -> Option<Folder> {
    let settings = folder.read(errors);
    let secret_key = secret.read(errors)?.secret_key;
    Some(Folder { settings: settings?, secret_key })
}

fn cluster(
    urls: &SettingTexts<ClusterUrls>,
    secret: &SettingTexts<MasterSecret>,
    errors: &mut ConfigErrors,
) -> Option<Cluster> {
    let urls = urls.read(errors);
    let secret_key: MasterKey = match secret.read(errors)?.secret_key {
        Some(key) => key,
        None => errors.needed_in_cluster("secret-key")?,
    };
    Some(Cluster { urls: urls?, secret_key })
}
