//! The command line. Values are texts here; `check` reads them, so that all faults come at once.

use clap::{Args, Parser, Subcommand};

/// Catches the mail that an application sends while it is tested.
#[derive(Debug, Parser)]
#[command(name = "trapline", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything in this process over one data folder (the default).
    Serve(Box<ServeArgs>),
    /// Manage API keys of a data folder, beside a running server too.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Manage teams of a data folder, beside a running server too.
    #[command(subcommand)]
    Team(TeamCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make an API key and print it; it is shown once.
    Create(NewKeyArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommand {
    /// Make a team and print its id.
    Create {
        /// The team's name.
        name: String,
        #[command(flatten)]
        store: StoreArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// What the key is for.
    #[arg(long, default_value = "Command line")]
    pub name: String,
    /// The team's id; the first team when left out.
    #[arg(long)]
    pub team: Option<String>,
    /// `write` or `read`.
    #[arg(long, default_value = "write")]
    pub access: String,
    /// When the key stops working, as an ISO 8601 time; never when left out.
    #[arg(long)]
    pub expires_at: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Where the data is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Storage")]
pub(crate) struct StoreArgs {
    /// The data folder; made when absent.
    #[arg(long, env = "TRAPLINE_DATA", default_value = "trapline-data", value_name = "FOLDER")]
    pub data: String,
    /// What an accepted mail survives: `power` (synced before the answer) or `process` (a crash of
    /// the process, not of the machine).
    #[arg(long, env = "TRAPLINE_DURABILITY", default_value = "power", value_name = "LEVEL")]
    pub durability: String,
    /// Seals passwords and signs URLs: 32 bytes in base64; kept in the data folder when left out.
    #[arg(long, env = "TRAPLINE_SECRET_KEY", hide_env_values = true, value_name = "BASE64")]
    pub secret_key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where the API listens.
    #[arg(long, env = "TRAPLINE_HTTP", default_value = "127.0.0.1:8025", value_name = "ADDRESS")]
    pub http: String,
    /// Where SMTP listens (plain and STARTTLS).
    #[arg(long, env = "TRAPLINE_SMTP", default_value = "127.0.0.1:1025", value_name = "ADDRESS")]
    pub smtp: String,
    /// Where SMTP listens with implicit TLS; off when left out.
    #[arg(long, env = "TRAPLINE_SMTPS", value_name = "ADDRESS")]
    pub smtps: Option<String>,
    /// Where clients reach the API; made from the HTTP address when left out.
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
    /// An API key of the first team (`tl_` and at least 20 letters and digits) that works from the
    /// first start on.
    #[arg(long, env = "TRAPLINE_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub api_key: Option<String>,
    /// Whether mail without AUTH to an unknown address lands in the first inbox.
    #[arg(long, env = "TRAPLINE_CATCH_ALL", default_value = "true", value_name = "BOOL")]
    pub catch_all: String,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub smtp_args: SmtpArgs,
    #[command(flatten)]
    pub service: ServiceArgs,
    /// Check the settings, report every bad one, and exit.
    #[arg(long)]
    pub check_config: bool,
}

/// The SMTP edge.
#[derive(Debug, Args)]
#[command(next_help_heading = "SMTP")]
pub(crate) struct SmtpArgs {
    /// A certificate chain in PEM; one is made when left out, with a CA to download.
    #[arg(long, env = "TRAPLINE_TLS_CERT", requires = "tls_key", value_name = "FILE")]
    pub tls_cert: Option<String>,
    /// The certificate's private key in PEM.
    #[arg(long, env = "TRAPLINE_TLS_KEY", requires = "tls_cert", value_name = "FILE")]
    pub tls_key: Option<String>,
    /// Whether AUTH is refused before TLS.
    #[arg(long, env = "TRAPLINE_AUTH_REQUIRES_TLS", default_value = "false", value_name = "BOOL")]
    pub auth_requires_tls: String,
    /// Whether mail is refused before AUTH.
    #[arg(long, env = "TRAPLINE_REQUIRE_AUTH", default_value = "false", value_name = "BOOL")]
    pub require_auth: String,
    /// Connections at once; the next one gets 421.
    #[arg(long, env = "TRAPLINE_SMTP_CONNECTIONS", default_value = "10000", value_name = "N")]
    pub smtp_connections: String,
    /// Connections at once from one address.
    #[arg(long, env = "TRAPLINE_SMTP_PER_ADDRESS", default_value = "10000", value_name = "N")]
    pub smtp_per_address: String,
    /// The longest command line.
    #[arg(long, env = "TRAPLINE_SMTP_COMMAND_LINE", default_value = "4KiB", value_name = "SIZE")]
    pub smtp_command_line: String,
    /// The largest message.
    #[arg(long, env = "TRAPLINE_SMTP_MESSAGE", default_value = "25MiB", value_name = "SIZE")]
    pub smtp_message: String,
    /// Recipients of one message.
    #[arg(long, env = "TRAPLINE_SMTP_RECIPIENTS", default_value = "1000", value_name = "N")]
    pub smtp_recipients: String,
    /// Faulty commands before a session is closed.
    #[arg(long, env = "TRAPLINE_SMTP_ERRORS", default_value = "20", value_name = "N")]
    pub smtp_errors: String,
    /// Message bytes in memory over all sessions.
    #[arg(long, env = "TRAPLINE_SMTP_MEMORY", default_value = "256MiB", value_name = "SIZE")]
    pub smtp_memory: String,
    /// Silence between commands.
    #[arg(long, env = "TRAPLINE_SMTP_IDLE", default_value = "5m", value_name = "TIME")]
    pub smtp_idle: String,
    /// Silence before a client signed in or sent a message.
    #[arg(long, env = "TRAPLINE_SMTP_IDLE_AT_FIRST", default_value = "1m", value_name = "TIME")]
    pub smtp_idle_at_first: String,
    /// Silence inside a message.
    #[arg(long, env = "TRAPLINE_SMTP_DATA_IDLE", default_value = "1m", value_name = "TIME")]
    pub smtp_data_idle: String,
    /// The time for one message.
    #[arg(long, env = "TRAPLINE_SMTP_DATA_TOTAL", default_value = "10m", value_name = "TIME")]
    pub smtp_data_total: String,
    /// The age at which a session is closed between two commands.
    #[arg(long, env = "TRAPLINE_SMTP_SESSION_TOTAL", default_value = "1h", value_name = "TIME")]
    pub smtp_session_total: String,
    /// The time that open transactions get at shutdown, at most 25s.
    #[arg(long, env = "TRAPLINE_DRAIN", default_value = "20s", value_name = "TIME")]
    pub drain: String,
}

/// Limits and what operators see.
#[derive(Debug, Args)]
#[command(next_help_heading = "Service")]
pub(crate) struct ServiceArgs {
    /// API requests a minute and team; 0 is no limit.
    #[arg(long, env = "TRAPLINE_API_RATE", default_value = "0", value_name = "N")]
    pub api_rate: String,
    /// Parked waits and event streams at once.
    #[arg(long, env = "TRAPLINE_MAX_STREAMS", default_value = "20000", value_name = "N")]
    pub max_streams: String,
    /// Who may show signed previews in a frame (CSP `frame-ancestors`).
    #[arg(long, env = "TRAPLINE_PREVIEW_ANCESTORS", default_value = "*", value_name = "SOURCES")]
    pub preview_ancestors: String,
    /// The bearer token of `/api/metrics`; the metrics are closed without one.
    #[arg(long, env = "METRICS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub metrics_token: Option<String>,
    /// Overdue jobs at which `/api/health?deep=1` fails.
    #[arg(long, env = "DEEP_HEALTH_MAX_OVERDUE", default_value = "50", value_name = "N")]
    pub deep_health_max_overdue: String,
    /// What is logged, as in `info` or `trapline_smtp=debug,info`.
    #[arg(long, env = "TRAPLINE_LOG", default_value = "info,rustls=error", value_name = "FILTER")]
    pub log: String,
    /// `text` or `json`.
    #[arg(long, env = "TRAPLINE_LOG_FORMAT", default_value = "text", value_name = "FORMAT")]
    pub log_format: String,
}
