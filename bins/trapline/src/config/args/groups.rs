//! Groups of flags that several commands have.

use clap::Args;

/// The HTTP listener.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// The address where HTTP listens: for the API, or only for probes and metrics in a role without
    /// one.
    #[arg(long, env = "TRAPLINE_HTTP", default_value = "127.0.0.1:8025", value_name = "ADDRESS")]
    pub http: String,
    /// How many HTTP connections may be open at once; the next one gets 503 and is closed. There are
    /// fewer where the limit of open files does not allow as many.
    #[arg(long, env = "TRAPLINE_HTTP_CONNECTIONS", default_value = "25000", value_name = "N")]
    pub http_connections: String,
    /// How many HTTP connections may be open at once from one address (for IPv6, from one /64).
    #[arg(long, env = "TRAPLINE_HTTP_PER_ADDRESS", default_value = "20000", value_name = "N")]
    pub http_per_address: String,
    /// The time in which a client must take 64 KiB of its answer, or all of it.
    #[arg(long, env = "TRAPLINE_HTTP_WRITE_TIMEOUT", default_value = "30s", value_name = "TIME")]
    pub http_write_timeout: String,
    /// Print nothing at the start: no addresses, and no secrets that a collector of logs would keep.
    #[arg(long)]
    pub quiet: bool,
    /// Check the settings and the variables, report everything that is wrong, and exit.
    #[arg(long)]
    pub check_config: bool,
}

/// What clients are told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Addresses")]
pub(crate) struct PublicArgs {
    /// The URL at which clients reach the API; made from the HTTP address when left out.
    #[arg(long, env = "TRAPLINE_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,
    /// The domain of inbox addresses.
    #[arg(
        long,
        env = "TRAPLINE_MAIL_DOMAIN",
        default_value = "trapline.test",
        value_name = "NAME"
    )]
    pub mail_domain: String,
    /// The host that the API names for SMTP; made from the SMTP address when left out.
    #[arg(long, env = "TRAPLINE_SMTP_HOST", value_name = "NAME")]
    pub smtp_host: Option<String>,
    /// The port that the API names for SMTP and STARTTLS; the listener's when left out.
    #[arg(long, env = "TRAPLINE_SMTP_PORT", value_name = "PORT")]
    pub smtp_port: Option<String>,
    /// The port that the API names for SMTP with implicit TLS; the listener's when left out.
    #[arg(long, env = "TRAPLINE_SMTPS_PORT", value_name = "PORT")]
    pub smtps_port: Option<String>,
}

/// Where one process keeps its data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Storage")]
pub(crate) struct FolderArgs {
    /// The data folder, which `serve` makes when it is absent.
    #[arg(long, env = "TRAPLINE_DATA", default_value = "trapline-data", value_name = "FOLDER")]
    pub data: String,
    /// What an accepted mail survives: `power` (synced before the answer) or `process` (a crash of
    /// the process, not of the machine).
    #[arg(long, env = "TRAPLINE_DURABILITY", default_value = "power", value_name = "LEVEL")]
    pub durability: String,
    /// What mail leaves free on the disk of the data folder, so that a full one can still be emptied; at
    /// most an eighth of the disk. With less, mail is answered 452.
    #[arg(long, env = "TRAPLINE_DISK_MARGIN", default_value = "64MiB", value_name = "SIZE")]
    pub disk_margin: String,
}

/// The key behind every secret.
#[derive(Debug, Args)]
#[command(next_help_heading = "Secrets")]
pub(crate) struct SecretArgs {
    /// The key that seals passwords and signs URLs: 32 bytes in base64. When left out, one is made and
    /// kept in the data folder as `secret.key`; a cluster needs it, the same in every process.
    #[arg(long, env = "TRAPLINE_SECRET_KEY", hide_env_values = true, value_name = "BASE64")]
    pub secret_key: Option<String>,
}

/// Where a cluster keeps its data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArgs {
    /// ScyllaDB or Cassandra: `cql://user:password@host1:9042,host2:9042?dc=dc1&tls=true`.
    #[arg(long, env = "TRAPLINE_CQL", hide_env_values = true, value_name = "URL")]
    pub cql: Option<String>,
    /// The keyspace. Stream, subjects and Redis keys carry its name too, so that installations
    /// can share services.
    #[arg(long, env = "TRAPLINE_CQL_KEYSPACE", default_value = "trapline", value_name = "NAME")]
    pub cql_keyspace: String,
    /// Where the bytes of messages are: `s3://bucket/prefix?region=eu-west-1`, with `endpoint=…` for
    /// relatives of S3.
    #[arg(long, env = "TRAPLINE_BLOBS", hide_env_values = true, value_name = "URL")]
    pub blobs: Option<String>,
    /// NATS 2.12 or newer with JetStream: `nats://host1:4222,host2:4222?replicas=3`.
    #[arg(long, env = "TRAPLINE_NATS", hide_env_values = true, value_name = "URL")]
    pub nats: Option<String>,
    /// Redis 7 or newer: `redis://host:6379`, `rediss://` for TLS, `?cluster=true` for Redis Cluster.
    #[arg(long, env = "TRAPLINE_REDIS", hide_env_values = true, value_name = "URL")]
    pub redis: Option<String>,
}

/// Limits of the API.
#[derive(Debug, Args)]
#[command(next_help_heading = "Service")]
pub(crate) struct ApiArgs {
    /// How many API requests a team may make in a minute; 0 is no limit. When left out, 6000 in a
    /// cluster and no limit in one process.
    #[arg(long, env = "TRAPLINE_API_RATE", value_name = "N")]
    pub api_rate: Option<String>,
    /// How many inboxes a team may make in a minute; 0 is no limit.
    #[arg(long, env = "TRAPLINE_INBOX_RATE", default_value = "1000", value_name = "N")]
    pub inbox_rate: String,
    /// How many waits and event streams may be open at once.
    #[arg(long, env = "TRAPLINE_MAX_STREAMS", default_value = "20000", value_name = "N")]
    pub max_streams: String,
    /// Those of one team. When left out, half of `--max-streams`.
    #[arg(long, env = "TRAPLINE_MAX_STREAMS_PER_TEAM", value_name = "N")]
    pub max_streams_per_team: Option<String>,
    /// How much memory large answers and request bodies of all clients may take; one address may have
    /// half of it. A request for which there is no room within 5 seconds gets 503.
    #[arg(long, env = "TRAPLINE_ANSWER_MEMORY", default_value = "256MiB", value_name = "SIZE")]
    pub answer_memory: String,
    /// Who may show signed previews in a frame (CSP `frame-ancestors`).
    #[arg(long, env = "TRAPLINE_PREVIEW_ANCESTORS", default_value = "*", value_name = "SOURCES")]
    pub preview_ancestors: String,
    /// How many overdue jobs make `/api/health?deep=1` fail.
    #[arg(long, env = "DEEP_HEALTH_MAX_OVERDUE", default_value = "50", value_name = "N")]
    pub deep_health_max_overdue: String,
}

/// Requests to addresses that users give.
#[expect(clippy::struct_field_names, reason = "a field's name is its flag")]
#[derive(Debug, Args)]
#[command(next_help_heading = "Webhooks")]
pub(crate) struct WebhookArgs {
    /// Ranges that webhooks may reach although they are not public, as in `10.1.0.0/16,fd00::/8`.
    /// Link-local addresses must be named one by one.
    #[arg(long, env = "WEBHOOK_ALLOW_CIDRS", value_name = "CIDRS")]
    pub webhook_allow_cidrs: Option<String>,
    /// Whether webhooks may reach this machine and private networks: `allow` or `deny`. When left out,
    /// `allow` in one process and `deny` in a cluster.
    #[arg(long, env = "TRAPLINE_WEBHOOK_PRIVATE", value_name = "WHETHER")]
    pub webhook_private: Option<String>,
    /// Certificate authorities, in PEM, that webhooks trust beside the system's.
    #[arg(long, env = "TRAPLINE_WEBHOOK_CA", value_name = "FILE")]
    pub webhook_ca: Option<String>,
}

/// The relay that mail goes out through. Every role but `smtp` wants the same settings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Outbound mail")]
#[expect(clippy::struct_field_names, reason = "the names are those of the flags")]
pub(crate) struct RelayArgs {
    /// The mail server that Trapline sends mail through; without one it sends none.
    #[arg(long, env = "TRAPLINE_RELAY_HOST", value_name = "NAME")]
    pub relay_host: Option<String>,
    /// The relay's port; 465 for implicit TLS and 587 otherwise when left out.
    #[arg(long, env = "TRAPLINE_RELAY_PORT", value_name = "PORT")]
    pub relay_port: Option<String>,
    /// `starttls` (or no mail), `implicit` (TLS from the first byte on), `opportunistic` (STARTTLS if
    /// the relay offers it) or `none`.
    #[arg(long, env = "TRAPLINE_RELAY_TLS", default_value = "starttls", value_name = "MODE")]
    pub relay_tls: String,
    /// The user name for the relay.
    #[arg(long, env = "TRAPLINE_RELAY_USERNAME", value_name = "NAME")]
    pub relay_username: Option<String>,
    /// The password for the relay.
    #[arg(long, env = "TRAPLINE_RELAY_PASSWORD", hide_env_values = true, value_name = "PASSWORD")]
    pub relay_password: Option<String>,
    /// The author of the mail that Trapline sends; needed with `--relay-host`.
    #[arg(long, env = "TRAPLINE_RELAY_FROM", value_name = "ADDRESS")]
    pub relay_from: Option<String>,
    /// Where bounces go (the envelope's sender); an address of the mail domain for each mail when left
    /// out.
    #[arg(long, env = "TRAPLINE_RELAY_BOUNCES", value_name = "ADDRESS")]
    pub relay_bounces: Option<String>,
    /// Certificate authorities, in PEM, that the relay's certificate may be from, beside Mozilla's.
    #[arg(long, env = "TRAPLINE_RELAY_CA", value_name = "FILE")]
    pub relay_ca: Option<String>,
}

/// What operators see.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logs and metrics")]
pub(crate) struct ObserveArgs {
    /// The bearer token of `/api/metrics`, of at least 16 characters; without one the metrics are closed.
    #[arg(long, env = "METRICS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub metrics_token: Option<String>,
    /// Which lines are logged, as in `info` or `trapline_smtp=debug,info`.
    #[arg(
        long,
        env = "TRAPLINE_LOG",
        default_value = "info,rustls=error,scylla=warn,async_nats=warn",
        value_name = "FILTER"
    )]
    pub log: String,
    /// The form of log lines: `text` or `json`.
    #[arg(long, env = "TRAPLINE_LOG_FORMAT", default_value = "text", value_name = "FORMAT")]
    pub log_format: String,
}
