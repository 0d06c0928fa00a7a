//! Flags of the SMTP edge.

use clap::Args;

/// The SMTP edge.
#[derive(Debug, Args)]
#[command(next_help_heading = "SMTP")]
pub(crate) struct EdgeArgs {
    /// The address where SMTP listens, plain and with STARTTLS.
    #[arg(long, env = "TRAPLINE_SMTP", default_value = "127.0.0.1:1025", value_name = "ADDRESS")]
    pub smtp: String,
    /// The address where SMTP listens with TLS from the first byte on; there is none when left out.
    #[arg(long, env = "TRAPLINE_SMTPS", value_name = "ADDRESS")]
    pub smtps: Option<String>,
    /// Whether mail without AUTH to an unknown address lands in an inbox of the first team. When left
    /// out, yes in one process and no in a cluster.
    #[arg(long, env = "TRAPLINE_CATCH_ALL", value_name = "BOOL")]
    pub catch_all: Option<String>,
    /// The name of that inbox, which is made when it is not there.
    #[arg(long, env = "TRAPLINE_CATCH_ALL_INBOX", default_value = "Default", value_name = "NAME")]
    pub catch_all_inbox: String,
    /// A file with the certificate chain in PEM. When left out, Trapline makes a certificate, and a CA
    /// for clients to download.
    #[arg(long, env = "TRAPLINE_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<String>,
    /// A file with the certificate's private key in PEM.
    #[arg(long, env = "TRAPLINE_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<String>,
    /// Whether AUTH is refused before TLS.
    #[arg(long, env = "TRAPLINE_AUTH_REQUIRES_TLS", default_value = "false", value_name = "BOOL")]
    pub auth_requires_tls: String,
    /// Whether mail is refused before AUTH.
    #[arg(long, env = "TRAPLINE_REQUIRE_AUTH", default_value = "false", value_name = "BOOL")]
    pub require_auth: String,
    /// Failed sign-ins of one address before the answers to further ones are delayed. One is forgiven
    /// every ten seconds.
    #[arg(long, env = "TRAPLINE_SMTP_AUTH_FAILURES", default_value = "20", value_name = "N")]
    pub smtp_auth_failures: String,
    /// How many connections may be open at once; the next one gets 421.
    #[arg(long, env = "TRAPLINE_SMTP_CONNECTIONS", default_value = "10000", value_name = "N")]
    pub smtp_connections: String,
    /// How many connections one client address may have open at once (for IPv6, one /64).
    #[arg(long, env = "TRAPLINE_SMTP_PER_ADDRESS", default_value = "10000", value_name = "N")]
    pub smtp_per_address: String,
    /// The longest command line that is taken.
    #[arg(long, env = "TRAPLINE_SMTP_COMMAND_LINE", default_value = "4KiB", value_name = "SIZE")]
    pub smtp_command_line: String,
    /// The largest message that is taken.
    #[arg(long, env = "TRAPLINE_SMTP_MESSAGE", default_value = "25MiB", value_name = "SIZE")]
    pub smtp_message: String,
    /// How many recipients a message may have.
    #[arg(long, env = "TRAPLINE_SMTP_RECIPIENTS", default_value = "1000", value_name = "N")]
    pub smtp_recipients: String,
    /// How many faulty commands close a session.
    #[arg(long, env = "TRAPLINE_SMTP_ERRORS", default_value = "20", value_name = "N")]
    pub smtp_errors: String,
    /// How many bytes of messages all sessions together may hold in memory.
    #[arg(long, env = "TRAPLINE_SMTP_MEMORY", default_value = "256MiB", value_name = "SIZE")]
    pub smtp_memory: String,
    /// The part of that memory, in percent, that one client address may have, and one inbox.
    #[arg(long, env = "TRAPLINE_SMTP_MEMORY_SHARE", default_value = "50", value_name = "PERCENT")]
    pub smtp_memory_share: String,
    /// How long a client may be silent inside a message while others wait for its memory.
    #[arg(long, env = "TRAPLINE_SMTP_CONTENDED_IDLE", default_value = "5s", value_name = "TIME")]
    pub smtp_contended_idle: String,
    /// How much of such a message must come in a second, counted from the end of that silence.
    #[arg(
        long,
        env = "TRAPLINE_SMTP_CONTENDED_RATE",
        default_value = "512KiB",
        value_name = "SIZE"
    )]
    pub smtp_contended_rate: String,
    /// How long a client may be silent between commands.
    #[arg(long, env = "TRAPLINE_SMTP_IDLE", default_value = "5m", value_name = "TIME")]
    pub smtp_idle: String,
    /// How long a client may be silent before it has signed in or sent a message.
    #[arg(long, env = "TRAPLINE_SMTP_IDLE_AT_FIRST", default_value = "1m", value_name = "TIME")]
    pub smtp_idle_at_first: String,
    /// How long a client may be silent inside a message.
    #[arg(long, env = "TRAPLINE_SMTP_DATA_IDLE", default_value = "1m", value_name = "TIME")]
    pub smtp_data_idle: String,
    /// How long one message may take.
    #[arg(long, env = "TRAPLINE_SMTP_DATA_TOTAL", default_value = "10m", value_name = "TIME")]
    pub smtp_data_total: String,
    /// How old a session may get before it is closed between two commands.
    #[arg(long, env = "TRAPLINE_SMTP_SESSION_TOTAL", default_value = "1h", value_name = "TIME")]
    pub smtp_session_total: String,
    /// How long open transactions may go on after a stop signal, at most 25s.
    #[arg(long, env = "TRAPLINE_DRAIN", default_value = "20s", value_name = "TIME")]
    pub drain: String,
}
