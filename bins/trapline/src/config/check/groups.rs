//! Reads the groups of flags.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use trapline_embedded::Durability;
use trapline_smtp::Limits;
use trapline_store::Rate;
use trapline_worker::RelayTls;

use super::{
    super::{
        Api, Cluster, Edge, Folder, Observe, Public, Relay, Webhooks,
        args::{
            ApiArgs, ClusterArgs, EdgeArgs, FolderArgs, HttpArgs, ObserveArgs, PublicArgs,
            RelayArgs, SecretArgs, WebhookArgs,
        },
        faults::{Faults, given},
        parse,
    },
    master_key,
};
use crate::http;

/// Characters of a metrics token that nobody finds by trying.
const SAFE_TOKEN: usize = 16;

const DAY: Duration = Duration::from_hours(24);

impl HttpArgs {
    pub(super) fn read(&self, f: &mut Faults) -> SocketAddr {
        address(f, "http", &self.http)
    }

    pub(super) fn limits(&self, f: &mut Faults) -> http::Limits {
        http::Limits {
            connections: f.count("http-connections", &self.http_connections, 1_000_000),
            per_address: f.count("http-per-address", &self.http_per_address, 1_000_000),
            write: f.time("http-write-timeout", &self.http_write_timeout, DAY),
            ..http::Limits::default()
        }
    }
}

impl PublicArgs {
    pub(super) fn read(&self, f: &mut Faults) -> Public {
        Public {
            base_url: f.optional("base-url", self.base_url.as_ref(), parse::base_url),
            mail_domain: f.take("mail-domain", &self.mail_domain, parse::domain(&self.mail_domain)),
            smtp_host: f.optional("smtp-host", self.smtp_host.as_ref(), parse::domain),
            smtp_port: f.optional("smtp-port", self.smtp_port.as_ref(), parse::port),
            smtps_port: f.optional("smtps-port", self.smtps_port.as_ref(), parse::port),
        }
    }
}

impl FolderArgs {
    pub(super) fn read(&self, secret: &SecretArgs, f: &mut Faults) -> Folder {
        let levels = [("power", Durability::Power), ("process", Durability::Process)];
        let level = parse::one_of(&self.durability, &levels);
        Folder {
            data: f.take("data", &self.data, parse::folder(&self.data)),
            disk_margin: f.size("disk-margin", &self.disk_margin, 0) as u64,
            durability: f.or("durability", &self.durability, level, Durability::Power),
            secret_key: f.secret("secret-key", secret.secret_key.as_ref(), master_key),
        }
    }
}

impl ClusterArgs {
    pub(super) fn read(&self, secret: &SecretArgs, f: &mut Faults) -> Cluster {
        let keyspace = parse::keyspace(&self.cql_keyspace);
        f.needed_in_cluster("secret-key", secret.secret_key.as_ref());
        Cluster {
            cql: f.needed_in_cluster("cql", self.cql.as_ref()),
            keyspace: f.take("cql-keyspace", &self.cql_keyspace, keyspace),
            blobs: f.needed_in_cluster("blobs", self.blobs.as_ref()),
            nats: f.needed_in_cluster("nats", self.nats.as_ref()),
            redis: f.needed_in_cluster("redis", self.redis.as_ref()),
            secret_key: f.secret("secret-key", secret.secret_key.as_ref(), master_key),
        }
    }
}

impl ApiArgs {
    /// `rate` is the allowance when none is set.
    pub(super) fn read(&self, rate: Option<u32>, f: &mut Faults) -> Api {
        let set = f.optional("api-rate", self.api_rate.as_ref(), |text| {
            parse::number(text, 0, 10_000_000)
        });
        let burst = set.map_or(rate, |set| u32::try_from(set).ok().filter(|burst| *burst > 0));
        let max_streams = f.count("max-streams", &self.max_streams, 1_000_000);
        let of_team =
            f.optional("max-streams-per-team", self.max_streams_per_team.as_ref(), |text| {
                parse::number(text, 1, 1_000_000)
            });
        let of_team = of_team.and_then(|number| usize::try_from(number).ok());
        let inboxes = parse::number(&self.inbox_rate, 0, 1_000_000);
        let inboxes = f.take("inbox-rate", &self.inbox_rate, inboxes);
        let a_minute = |burst| Rate { burst, per: Duration::from_mins(1) };
        Api {
            rate: burst.map(a_minute),
            inbox_rate: u32::try_from(inboxes).ok().filter(|burst| *burst > 0).map(a_minute),
            answer_memory: f.size("answer-memory", &self.answer_memory, 1 << 20),
            max_streams,
            max_streams_per_team: of_team.unwrap_or(max_streams.div_ceil(2)),
            max_overdue_jobs: f.take(
                "deep-health-max-overdue",
                &self.deep_health_max_overdue,
                parse::number(&self.deep_health_max_overdue, 1, 1_000_000),
            ),
            preview_frame_ancestors: f.take(
                "preview-ancestors",
                &self.preview_ancestors,
                parse::frame_ancestors(&self.preview_ancestors),
            ),
        }
    }
}

impl WebhookArgs {
    pub(super) fn read(&self, f: &mut Faults) -> Webhooks {
        let allow = self.webhook_allow_cidrs.as_ref();
        let private = |text: &str| parse::one_of(text, &[("allow", true), ("deny", false)]);
        Webhooks {
            allow_private: f.optional("webhook-private", self.webhook_private.as_ref(), private),
            allow: f.optional("webhook-allow-cidrs", allow, parse::cidrs).unwrap_or_default(),
            ca: given(self.webhook_ca.as_ref()).map(PathBuf::from),
        }
    }
}

impl RelayArgs {
    /// Nothing without a host.
    pub(super) fn read(&self, f: &mut Faults) -> Option<Relay> {
        let modes = [
            ("starttls", RelayTls::Starttls),
            ("implicit", RelayTls::Implicit),
            ("opportunistic", RelayTls::Opportunistic),
            ("none", RelayTls::None),
        ];
        let mode = parse::one_of(&self.relay_tls, &modes);
        let tls = f.or("relay-tls", &self.relay_tls, mode, RelayTls::Starttls);
        let port = f.optional("relay-port", self.relay_port.as_ref(), parse::port);
        let from = f.optional("relay-from", self.relay_from.as_ref(), parse::mailbox);
        let bounces = f.optional("relay-bounces", self.relay_bounces.as_ref(), parse::mailbox);
        let host = f.optional("relay-host", self.relay_host.as_ref(), parse::domain)?;
        f.needed_with("relay-host", "relay-from", self.relay_from.as_ref());
        // Half of them would mean mail without a login, which no one asked for.
        let credentials = f.both(
            ("relay-username", self.relay_username.as_ref()),
            ("relay-password", self.relay_password.as_ref()),
        );
        Some(Relay {
            host,
            port: port.unwrap_or(if tls == RelayTls::Implicit { 465 } else { 587 }),
            tls,
            credentials: credentials.map(|(name, word)| (name.to_owned(), word.to_owned())),
            from: from.unwrap_or_default(),
            bounces: bounces.map(|mailbox| mailbox.address),
            ca: given(self.relay_ca.as_ref()).map(PathBuf::from),
        })
    }
}

impl ObserveArgs {
    pub(super) fn read(&self, f: &mut Faults) -> Observe {
        let formats = [("text", false), ("json", true)];
        let json = parse::one_of(&self.log_format, &formats);
        let metrics_token = given(self.metrics_token.as_ref());
        let is_short = |token: &str| token.chars().count() < SAFE_TOKEN;
        let warnings = metrics_token.filter(|token| is_short(token)).map(|_| {
            format!(
                "the metrics token can be guessed: it has fewer than {SAFE_TOKEN} characters \
                 (--metrics-token or METRICS_TOKEN)."
            )
        });
        Observe {
            metrics_token: metrics_token.map(str::to_owned),
            log: f.take("log", &self.log, parse::log_filter(&self.log)),
            json_logs: f.take("log-format", &self.log_format, json),
            warnings: warnings.into_iter().collect(),
        }
    }
}

impl EdgeArgs {
    /// `catch_all` holds when it is not set.
    pub(super) fn read(&self, hostname: &str, catch_all: bool, f: &mut Faults) -> Edge {
        let set = f.optional("catch-all", self.catch_all.as_ref(), parse::boolean);
        let certificate =
            f.both(("tls-cert", self.tls_cert.as_ref()), ("tls-key", self.tls_key.as_ref()));
        Edge {
            smtp: address(f, "smtp", &self.smtp),
            smtps: f.optional("smtps", self.smtps.as_ref(), parse::address),
            catch_all: set.unwrap_or(catch_all),
            auth_failures: u32::try_from(f.count(
                "smtp-auth-failures",
                &self.smtp_auth_failures,
                1_000_000,
            ))
            .unwrap_or(u32::MAX),
            catch_all_inbox: f.take(
                "catch-all-inbox",
                &self.catch_all_inbox,
                parse::name(&self.catch_all_inbox),
            ),
            certificate: certificate.map(|(certificate, key)| (certificate.into(), key.into())),
            config: trapline_smtp::Config {
                auth_requires_tls: f.boolean("auth-requires-tls", &self.auth_requires_tls),
                require_auth: f.boolean("require-auth", &self.require_auth),
                limits: self.limits(f),
                drain: f.time("drain", &self.drain, Duration::from_secs(25)),
                ..trapline_smtp::Config::new(hostname)
            },
        }
    }

    fn limits(&self, f: &mut Faults) -> Limits {
        Limits {
            connections: f.count("smtp-connections", &self.smtp_connections, 1_000_000),
            per_address: f.count("smtp-per-address", &self.smtp_per_address, 1_000_000),
            command_line: f.size("smtp-command-line", &self.smtp_command_line, 512),
            message_size: f.size("smtp-message", &self.smtp_message, 1024),
            recipients: f.count("smtp-recipients", &self.smtp_recipients, 100_000),
            errors: u32::try_from(f.count("smtp-errors", &self.smtp_errors, 10_000))
                .unwrap_or(u32::MAX),
            memory: f.size("smtp-memory", &self.smtp_memory, 1 << 20),
            memory_share: f.count("smtp-memory-share", &self.smtp_memory_share, 100),
            contended_idle: f.time("smtp-contended-idle", &self.smtp_contended_idle, DAY),
            contended_rate: f.size("smtp-contended-rate", &self.smtp_contended_rate, 1),
            idle: f.time("smtp-idle", &self.smtp_idle, DAY),
            idle_before_auth: f.time("smtp-idle-at-first", &self.smtp_idle_at_first, DAY),
            data_idle: f.time("smtp-data-idle", &self.smtp_data_idle, DAY),
            data_total: f.time("smtp-data-total", &self.smtp_data_total, DAY),
            session_total: f.time("smtp-session-total", &self.smtp_session_total, DAY),
            ..Limits::default()
        }
    }
}

fn address(f: &mut Faults, flag: &str, text: &str) -> SocketAddr {
    f.or(flag, text, parse::address(text), ([0, 0, 0, 0], 0).into())
}
