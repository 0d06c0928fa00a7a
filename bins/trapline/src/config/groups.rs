//! The settings that several commands have.

mod outbound;
mod smtp;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use trapline_app::{MailClientData, MasterKey, PlanCatalog, SpamEngineChoice};
use trapline_embedded::Durability;
use trapline_store::Rate;

use super::{
    errors::ConfigErrors,
    setting::{SettingTexts, settings},
    values::{
        DAY, WeightsFile, address, api_key, base_url, boolean, caniemail, cidrs, client_weights,
        count, domain, file, folder, frame_ancestors, keyspace, link, log_filter, master_key,
        one_of, pause, per_minute, place, plans, points, port, service_url, size, text, time,
    },
};
use crate::{cluster::Service, http::Limits};
pub(crate) use outbound::{RelayConfig, RelaySettings, WebhookSettings};
pub(crate) use smtp::SmtpSettings;

/// The longest delay of a shutdown: the longest that a common load balancer takes to hear of one.
const MAX_SHUTDOWN_DELAY: Duration = Duration::from_mins(5);

/// The longest time between two backups.
const MAX_BACKUP_INTERVAL: Duration = Duration::from_hours(30 * 24);

settings! {
    /// The HTTP listener.
    struct HttpAddress(None) {
        /// The address where HTTP listens: for the API, or only for probes and metrics in a role without
        /// one.
        http: SocketAddr =
            TRAPLINE_HTTP("ADDRESS") default("127.0.0.1:8025") public, address;
    }
}

settings! {
    /// The HTTPS listener of what serves the API.
    struct HttpsAddress(None) {
        /// The address where the API, mocks and identity providers are served over TLS too, for clients that insist
        /// on https and no proxy in front; nowhere when left out.
        https: Option<SocketAddr> = TRAPLINE_HTTPS("ADDRESS") optional public, address;
    }
}

settings! {
    /// The certificate of the listeners with TLS.
    struct CertificateSettings(Some("TLS")) {
        /// A file with the certificate chain in PEM, which SMTP and HTTPS clients are shown. When left out, Trapline
        /// makes a certificate, and a CA for clients to download.
        tls_cert: Option<PathBuf> = TRAPLINE_TLS_CERT("FILE") optional public, file;
        /// A file with the certificate's private key in PEM.
        tls_key: Option<PathBuf> = TRAPLINE_TLS_KEY("FILE") optional public, file;
    }
}

/// The files of the operator's certificate chain and its private key.
pub(crate) struct CertificatePaths {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl CertificatePaths {
    /// The files, where there are some; the outer `None` is a fault.
    #[expect(clippy::option_option, reason = "settings that are wrong are not no certificate")]
    pub(in crate::config) fn read(
        texts: &SettingTexts<CertificateSettings>,
        errors: &mut ConfigErrors,
    ) -> Option<Option<Self>> {
        errors.needed_together([
            ("tls-cert", texts.is_given("TRAPLINE_TLS_CERT")),
            ("tls-key", texts.is_given("TRAPLINE_TLS_KEY")),
        ]);
        let CertificateSettings { tls_cert, tls_key } = texts.read(errors)?;
        Some(tls_cert.zip(tls_key).map(|(certificate, key)| Self { certificate, key }))
    }
}

settings! {
    /// How a process ends.
    struct Stopping(Some("Service")) {
        /// How long everything goes on after a stop signal, at most 5m, while `/readyz` is 503 already. Load
        /// balancers hear late that a process ends, and clients would be refused meanwhile. Another signal
        /// cuts it short.
        shutdown_delay: Duration =
            TRAPLINE_SHUTDOWN_DELAY("TIME") default("0s") public, pause(MAX_SHUTDOWN_DELAY);
    }
}

settings! {
    fill Limits, None, {
        /// How many HTTP connections may be open at once; the next one gets 503 and is closed. There are
        /// fewer where the limit of open files does not allow as many.
        connections = TRAPLINE_HTTP_CONNECTIONS("N") default("25000") public, count(1_000_000);
        /// How many HTTP connections may be open at once from one address (for IPv6, from one /64).
        per_address = TRAPLINE_HTTP_PER_ADDRESS("N") default("20000") public, count(1_000_000);
        /// Ranges of the proxies in front, as in `10.1.0.0/16,fd00::/8`: the client of their requests is whom
        /// `X-Forwarded-For` names, which limits and the audit log are about. Without it, it is the proxy.
        proxy_from = TRAPLINE_HTTP_PROXY_FROM("CIDRS") optional public, cidrs;
        /// The time in which a client must take 64 KiB of its answer, or all of it.
        write = TRAPLINE_HTTP_WRITE_TIMEOUT("TIME") default("30s") public, time(DAY);
    }
}

settings! {
    /// What clients are told.
    #[derive(Clone)]
    struct PublicAddresses(Some("Addresses")) {
        /// The URL at which clients reach the API; made from the HTTP address when left out.
        base_url: Option<String> = TRAPLINE_BASE_URL("URL") optional public, base_url;
        /// The port of `https` URLs that the API names for mocks, at the host of the base URL; that of the HTTPS
        /// address when left out.
        https_port: Option<u16> = TRAPLINE_HTTPS_PORT("PORT") optional public, port;
        /// The domain below which each mock has a host name of its own, `<slug>.<domain>`, for clients that take
        /// a host and no path; its names have to lead here. Without it there are none.
        mock_domain: Option<String> = TRAPLINE_MOCK_DOMAIN("NAME") optional public, domain;
        /// The domain of inbox addresses.
        mail_domain: String =
            TRAPLINE_MAIL_DOMAIN("NAME") default("trapline.test") public, domain;
        /// The host that the API names for SMTP; made from the SMTP address when left out.
        smtp_host: Option<String> = TRAPLINE_SMTP_HOST("NAME") optional public, domain;
        /// The port that the API names for SMTP and STARTTLS; the listener's when left out.
        smtp_port: Option<u16> = TRAPLINE_SMTP_PORT("PORT") optional public, port;
        /// The port that the API names for SMTP with implicit TLS; the listener's when left out.
        smtps_port: Option<u16> = TRAPLINE_SMTPS_PORT("PORT") optional public, port;
    }
}

settings! {
    /// Where one process keeps its data.
    struct DataFolder(Some("Storage")) {
        /// The data folder, which `serve` makes when it is absent.
        data: PathBuf = TRAPLINE_DATA("FOLDER") default("trapline-data") public, folder;
        /// What an accepted mail survives: `power` (synced before the answer) or `process` (a crash of
        /// the process, not of the machine).
        durability: Durability =
            TRAPLINE_DURABILITY("LEVEL") default("power") public,
            one_of([("power", Durability::Power), ("process", Durability::Process)]);
        /// What mail leaves free on the disk of the data folder, so that a full one can still be emptied; at
        /// most an eighth of the disk. With less, mail is answered 452.
        disk_margin: u64 = TRAPLINE_DISK_MARGIN("SIZE") default("64MiB") public, size(0);
    }
}

settings! {
    /// The first team's key.
    struct FirstKey(Some("Secrets")) {
        /// An API key that the first team is to have: `tl_` and at least 20 letters and digits. It takes
        /// the place of the key that was set here before. Clients keep their key in the same variable.
        api_key: Option<String> = TRAPLINE_API_KEY("KEY") optional secret, api_key;
    }
}

settings! {
    /// The key behind every secret.
    struct MasterSecret(Some("Secrets")) {
        /// The key that seals passwords and signs URLs: 32 bytes in base64. When left out, one is made and
        /// kept in the data folder as `secret.key`; a cluster needs it, the same in every process.
        secret_key: Option<MasterKey> =
            TRAPLINE_SECRET_KEY("BASE64") optional secret, master_key;
    }
}

settings! {
    /// Where a cluster keeps its data.
    struct ClusterUrls(Some("Cluster")) {
        /// ScyllaDB or Cassandra: `cql://user:password@host1:9042,host2:9042?dc=dc1&tls=true`.
        cql: String = TRAPLINE_CQL("URL") needed secret, service_url(Service::Cql);
        /// The keyspace. Stream, subjects and Redis keys carry its name too, so that installations
        /// can share services.
        keyspace: String = TRAPLINE_CQL_KEYSPACE("NAME") default("trapline") public, keyspace;
        /// Where the bytes of messages are: `s3://bucket/prefix?region=eu-west-1`, with `endpoint=…` for
        /// S3-compatible stores.
        blobs: String = TRAPLINE_BLOBS("URL") needed secret, service_url(Service::Blobs);
        /// NATS 2.12 or newer with JetStream: `nats://host1:4222,host2:4222?replicas=3`.
        nats: String = TRAPLINE_NATS("URL") needed secret, service_url(Service::Nats);
        /// Redis 7 or newer: `redis://host:6379`, `rediss://` for TLS, `?cluster=true` for Redis Cluster.
        redis: String = TRAPLINE_REDIS("URL") needed secret, service_url(Service::Redis);
    }
}

settings! {
    /// Limits of the API that depend on the mode or on another one when they are left out.
    struct ApiDefaults(Some("Service")) {
        /// How many API requests a team may make in a minute, and how many may come to one mock identity
        /// provider; 0 is no limit. When left out, 6000 in a cluster and no limit in one process.
        api_rate: Option<Option<Rate>> =
            TRAPLINE_API_RATE("N") optional public, per_minute(10_000_000);
        /// How many calls the mocks of a team may get in a minute; 0 is no limit. When left out, 60000 in a
        /// cluster and no limit in one process.
        mock_rate: Option<Option<Rate>> =
            TRAPLINE_MOCK_RATE("N") optional public, per_minute(10_000_000);
        /// How many API requests a minute one client address (for IPv6, one /64) may make without a key or
        /// session, or with one that is none; 0 is no limit. When left out, 1200 in a cluster and no limit
        /// in one process.
        address_rate: Option<Option<Rate>> =
            TRAPLINE_ADDRESS_RATE("N") optional public, per_minute(10_000_000);
        /// Whether anybody may sign up, who gets a team of their own. When left out, everybody in one
        /// process, and nobody in a cluster.
        sign_up: Option<bool> = TRAPLINE_SIGN_UP("BOOL") optional public, boolean;
        /// The data set of the HTML check, in place of what the executable has: `caniemail.json` as the package
        /// `caniemail` ships it, or the slim form of `make refresh-checks`.
        caniemail: Option<MailClientData> = TRAPLINE_CANIEMAIL("FILE") optional public, caniemail;
        /// How much each mail client counts in the score of the HTML check: a JSON file such as
        /// `{ "gmail.ios": 3, "outlook.windows": 1 }`. A client that it leaves out does not count.
        client_weights: Option<WeightsFile> =
            TRAPLINE_CLIENT_WEIGHTS("FILE") optional public, client_weights;
        /// How many waits and event streams of one team may be open at once. When left out, half of
        /// `--max-streams`.
        max_streams_per_team: Option<usize> =
            TRAPLINE_MAX_STREAMS_PER_TEAM("N") optional public, count(1_000_000);
    }
}

settings! {
    /// Who may use the API and the console of one process.
    struct SignIn(Some("Service")) {
        /// Who has to say who they are: `required` is everybody, by a key or by signing in; with `none`
        /// whoever reaches the port acts as the owner of the first team, as other mail catchers have it.
        /// The server answers them by `localhost`, an IP address or the name of the base URL only.
        sign_in: bool =
            TRAPLINE_SIGN_IN("WHO") default("required") public,
            one_of([("required", true), ("none", false)]);
    }
}

impl SignIn {
    /// The settings with this one. Where nobody signs in, nobody signs up.
    pub(super) fn fill(&self, settings: trapline_app::Settings) -> trapline_app::Settings {
        let (sign_in, sign_up) = (self.sign_in, settings.sign_up && self.sign_in);
        trapline_app::Settings { sign_in, sign_up, ..settings }
    }

    /// What an operator should know of this setting.
    pub(super) fn warning(&self) -> Option<String> {
        let warning = "nobody signs in: whoever reaches this server reads and changes everything in it \
                       (--sign-in none).";
        (!self.sign_in).then(|| warning.to_owned())
    }
}

settings! {
    /// What teams may use.
    #[derive(Clone, Default)]
    struct PlanSettings(Some("Plans")) {
        /// A JSON file with the plans that teams can be on, instead of the built-in ones.
        plans: Option<Arc<PlanCatalog>> = TRAPLINE_PLANS("FILE") optional public, plans;
        /// Where people can get a larger plan: a link in answers that refuse something for the plan.
        upgrade_url: Option<Arc<str>> = TRAPLINE_UPGRADE_URL("URL") optional public, link;
    }
}

impl PlanSettings {
    /// The settings with these plans.
    pub(crate) fn fill(&self, settings: trapline_app::Settings) -> trapline_app::Settings {
        let (plans, upgrade_url) = (self.plans.clone(), self.upgrade_url.clone());
        trapline_app::Settings { plans: plans.unwrap_or(settings.plans), upgrade_url, ..settings }
    }
}

settings! {
    fill trapline_app::Settings, Some("Service"), {
        /// How many API requests one key or signed-in person may make in a minute, within those of the team;
        /// 0 is no limit of their own.
        key_rate = TRAPLINE_KEY_RATE("N") default("0") public, per_minute(10_000_000);
        /// How many inboxes a team may make in a minute; 0 is no limit.
        inbox_rate = TRAPLINE_INBOX_RATE("N") default("1000") public, per_minute(1_000_000);
        /// How many times a minute one client address (for IPv6, one /64) may try to sign in, five of them
        /// with one account; 0 is no limit.
        sign_in_rate = TRAPLINE_SIGN_IN_RATE("N") default("20") public, per_minute(1_000_000);
        /// How many waits and event streams may be open at once.
        max_streams = TRAPLINE_MAX_STREAMS("N") default("20000") public, count(1_000_000);
        /// How much memory large answers and request bodies of all clients may take; one address may have
        /// half of it. A request for which there is no room within 5 seconds gets 503.
        answer_memory = TRAPLINE_ANSWER_MEMORY("SIZE") default("256MiB") public, size(1 << 20);
        /// How much memory the bodies of calls to mocks may take, over all clients. A call for which there is no
        /// room within 5 seconds gets 503.
        mock_memory = TRAPLINE_MOCK_MEMORY("SIZE") default("128MiB") public, size(2 << 20);
        /// Who may show signed previews in a frame (CSP `frame-ancestors`).
        preview_frame_ancestors =
            TRAPLINE_PREVIEW_ANCESTORS("SOURCES") default("*") public, frame_ancestors;
        /// The score from which on `/api/messages/{id}/spam` calls a message spam.
        spam_threshold = TRAPLINE_SPAM_THRESHOLD("POINTS") default("5") public, points;
        /// Who judges whether a message is spam, with commas between them: `builtin`, `spamd://host:783` and
        /// `rspamd://host:11333?password=…`, the last two with `timeout=` (1 to 60 seconds, else 10). The first
        /// one judges where a request names none; `builtin` is always there.
        spam_engines =
            TRAPLINE_SPAM_ENGINE("LIST") default("builtin") secret, SpamEngineChoice::parse_list;
        /// Whether checks of a message may ask others when somebody wants them to: `on`, or `off`, where link
        /// checks, requests to unsubscribe and questions to name servers are refused.
        outgoing_checks =
            TRAPLINE_OUTGOING_CHECKS("WHETHER") default("on") public,
            one_of([("on", true), ("off", false)]);
        /// How many overdue jobs make `/api/health?deep=1` fail.
        max_overdue_jobs =
            DEEP_HEALTH_MAX_OVERDUE("N") default("50") public, count(1_000_000);
    }
}

settings! {
    /// Where backups go.
    struct BackupPlace(Some("Backups")) {
        /// Where backups go: a folder, or `s3://bucket/prefix` with the parameters of `--blobs`. `trapline
        /// backup` takes it when it is given no `--to`.
        backup_to: Option<String> = TRAPLINE_BACKUP_TO("PLACE") optional secret, place;
    }
}

settings! {
    /// When one process backs itself up.
    struct BackupSchedule(Some("Backups")) {
        /// How far apart the backups are that one process makes of itself; none when left out. A cluster is
        /// backed up by `trapline backup`, as a job.
        backup_every: Option<Duration> =
            TRAPLINE_BACKUP_EVERY("TIME") optional public, time(MAX_BACKUP_INTERVAL);
        /// How many of them are kept.
        backup_keep: usize = TRAPLINE_BACKUP_KEEP("N") default("7") public, count(10_000);
    }
}

settings! {
    /// Logs and metrics.
    struct Observability(Some("Logs and metrics")) {
        /// The bearer token of `/api/metrics`, of at least 16 characters; without one the metrics are closed.
        metrics_token: Option<String> = METRICS_TOKEN("TOKEN") optional secret, text;
        /// Which lines are logged, as in `info` or `trapline_smtp=debug,info`.
        log: String =
            TRAPLINE_LOG("FILTER")
            default("info,rustls=error,scylla=warn,async_nats=warn") public, log_filter;
        /// The form of log lines: `text` or `json`.
        json_logs: bool =
            TRAPLINE_LOG_FORMAT("FORMAT") default("text") public,
            one_of([("text", false), ("json", true)]);
    }
}

/// Characters of a metrics token that nobody finds by trying.
const MIN_TOKEN_LENGTH: usize = 16;

impl Observability {
    /// What an operator should know of these settings, a sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let is_short = |token: &&String| token.chars().count() < MIN_TOKEN_LENGTH;
        let short = self.metrics_token.as_ref().filter(is_short).map(|_| {
            format!(
                "the metrics token can be guessed: it has fewer than {MIN_TOKEN_LENGTH} characters \
                 (--metrics-token or METRICS_TOKEN)."
            )
        });
        short.into_iter().collect()
    }
}
