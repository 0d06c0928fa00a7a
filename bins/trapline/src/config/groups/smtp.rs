//! The settings of the SMTP edge.

use std::{net::SocketAddr, time::Duration};

use trapline_smtp::Limits;
use trapline_worker::outbound::Cidr;

use super::super::{
    setting::settings,
    values::{DAY, address, boolean, cidrs, count, name, one_of, size, time},
};

/// The longest drain: orchestrators kill after 30 seconds.
const MAX_DRAIN: Duration = Duration::from_secs(25);

settings! {
    /// The SMTP edge.
    struct SmtpSettings(Some("SMTP")) {
        /// The address where SMTP listens, plain and with STARTTLS.
        smtp: SocketAddr = TRAPLINE_SMTP("ADDRESS") default("127.0.0.1:1025") public, address;
        /// The address where SMTP listens with TLS from the first byte on; there is none when left out.
        smtps: Option<SocketAddr> = TRAPLINE_SMTPS("ADDRESS") optional public, address;
        /// Whether mail without AUTH to an unknown address lands in an inbox of the first team. When left
        /// out, yes in one process and no in a cluster.
        catch_all: Option<bool> = TRAPLINE_CATCH_ALL("BOOL") optional public, boolean;
        /// The name of that inbox, which is made when it is not there.
        catch_all_inbox: String =
            TRAPLINE_CATCH_ALL_INBOX("NAME") default("Default") public, name;
        /// Whether a load balancer says by the PROXY protocol (version 1 or 2) who a client is: `off` or
        /// `required`, and then connections without its header are closed.
        proxy_protocol: bool =
            TRAPLINE_SMTP_PROXY_PROTOCOL("WHETHER") default("off") public,
            one_of([("off", false), ("required", true)]);
        /// The addresses of these load balancers, as in `10.1.0.0/16,fd00::/8`; needed with
        /// `--smtp-proxy-protocol required`.
        proxy_from: Option<Vec<Cidr>> = TRAPLINE_SMTP_PROXY_FROM("CIDRS") optional public, cidrs;
        /// Whether AUTH is refused before TLS.
        auth_requires_tls: bool =
            TRAPLINE_AUTH_REQUIRES_TLS("BOOL") default("false") public, boolean;
        /// Whether mail is refused before AUTH.
        require_auth: bool = TRAPLINE_REQUIRE_AUTH("BOOL") default("false") public, boolean;
        /// Failed sign-ins of one address before the answers to further ones are delayed. One is forgiven
        /// every ten seconds.
        auth_failures: u32 =
            TRAPLINE_SMTP_AUTH_FAILURES("N") default("20") public, count(1_000_000);
        /// How long open transactions may go on after a stop signal, at most 25s.
        drain: Duration = TRAPLINE_DRAIN("TIME") default("20s") public, time(MAX_DRAIN);
    }
}

settings! {
    fill Limits, Some("SMTP"), {
        /// How many connections may be open at once; the next one gets 421.
        connections = TRAPLINE_SMTP_CONNECTIONS("N") default("10000") public, count(1_000_000);
        /// How many connections one client address may have open at once (for IPv6, one /64).
        per_address = TRAPLINE_SMTP_PER_ADDRESS("N") default("10000") public, count(1_000_000);
        /// The longest command line that is taken.
        command_line = TRAPLINE_SMTP_COMMAND_LINE("SIZE") default("4KiB") public, size(512);
        /// The largest message that is taken.
        message_size = TRAPLINE_SMTP_MESSAGE("SIZE") default("25MiB") public, size(1024);
        /// How many recipients a message may have.
        recipients = TRAPLINE_SMTP_RECIPIENTS("N") default("1000") public, count(100_000);
        /// How many faulty commands close a session.
        errors = TRAPLINE_SMTP_ERRORS("N") default("20") public, count(10_000);
        /// How many bytes of messages all sessions together may hold in memory.
        memory = TRAPLINE_SMTP_MEMORY("SIZE") default("256MiB") public, size(1 << 20);
        /// The part of that memory, in percent, that one client address may have, and one inbox.
        memory_share = TRAPLINE_SMTP_MEMORY_SHARE("PERCENT") default("50") public, count(100);
        /// How long a client may be silent inside a message while others wait for its memory.
        contended_idle = TRAPLINE_SMTP_CONTENDED_IDLE("TIME") default("5s") public, time(DAY);
        /// How much of such a message must come in a second, counted from the end of that silence.
        contended_rate = TRAPLINE_SMTP_CONTENDED_RATE("SIZE") default("512KiB") public, size(1);
        /// How long a client may be silent between commands.
        idle = TRAPLINE_SMTP_IDLE("TIME") default("5m") public, time(DAY);
        /// How long a client may be silent before it has signed in or sent a message.
        idle_before_auth = TRAPLINE_SMTP_IDLE_AT_FIRST("TIME") default("1m") public, time(DAY);
        /// How long a client may be silent inside a message.
        data_idle = TRAPLINE_SMTP_DATA_IDLE("TIME") default("1m") public, time(DAY);
        /// How long one message may take.
        data_total = TRAPLINE_SMTP_DATA_TOTAL("TIME") default("10m") public, time(DAY);
        /// How old a session may get before it is closed between two commands.
        session_total = TRAPLINE_SMTP_SESSION_TOTAL("TIME") default("1h") public, time(DAY);
    }
}
