//! Reads every text of the command line, and collects what is wrong with each.

use std::{path::PathBuf, time::Duration};

use trapline_app::MasterKey;
use trapline_embedded::Durability;
use trapline_smtp::Limits;
use trapline_store::Rate;

use super::{
    Config, StoreConfig,
    args::{ServeArgs, SmtpArgs, StoreArgs},
    parse,
};

const DAY: Duration = Duration::from_hours(24);

/// What is wrong, a line each.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    /// The value; a bad one is noted, and its stand-in is never used.
    fn or<T>(&mut self, flag: &str, text: &str, value: Result<T, String>, stand_in: T) -> T {
        value.unwrap_or_else(|wanted| {
            self.0.push(format!("--{flag} {text}: {wanted}"));
            stand_in
        })
    }

    fn take<T: Default>(&mut self, flag: &str, text: &str, value: Result<T, String>) -> T {
        self.or(flag, text, value, T::default())
    }

    fn optional<T>(
        &mut self,
        flag: &str,
        text: Option<&String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = text.filter(|text| !text.is_empty())?;
        self.take(flag, text, read(text).map(Some))
    }

    /// Like `optional`, for a value that the report must not show.
    fn secret<T>(
        &mut self,
        flag: &str,
        text: Option<&String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = text.filter(|text| !text.is_empty())?;
        self.take(flag, "(hidden)", read(text).map(Some))
    }

    fn count(&mut self, flag: &str, text: &str, most: u64) -> usize {
        let number = self.take(flag, text, parse::number(text, 1, most));
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    fn size(&mut self, flag: &str, text: &str, least: u64) -> usize {
        let size = self.take(flag, text, parse::size(text, least, 1 << 40));
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    fn time(&mut self, flag: &str, text: &str, most: Duration) -> Duration {
        self.take(flag, text, parse::time(text, Duration::from_millis(100), most))
    }

    fn boolean(&mut self, flag: &str, text: &str) -> bool {
        self.take(flag, text, parse::boolean(text))
    }

    fn end<T>(self, value: T) -> anyhow::Result<T> {
        anyhow::ensure!(self.0.is_empty(), "bad settings\n  {}", self.0.join("\n  "));
        Ok(value)
    }
}

impl ServeArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<Config> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let (smtp, service) = (&self.smtp_args, &self.service);
        let nowhere = ([0, 0, 0, 0], 0).into();
        let config = Config {
            http: f.or("http", &self.http, parse::address(&self.http), nowhere),
            smtp: f.or("smtp", &self.smtp, parse::address(&self.smtp), nowhere),
            smtps: f.optional("smtps", self.smtps.as_ref(), parse::address),
            store: self.store.read(f),
            base_url: f.optional("base-url", self.base_url.as_ref(), parse::base_url),
            mail_domain: f.take("mail-domain", &self.mail_domain, parse::domain(&self.mail_domain)),
            smtp_host: f.optional("smtp-host", self.smtp_host.as_ref(), parse::domain),
            api_key: f.secret("api-key", self.api_key.as_ref(), parse::api_key),
            catch_all: f.boolean("catch-all", &self.catch_all),
            metrics_token: service.metrics_token.clone().filter(|token| !token.is_empty()),
            max_overdue_jobs: f.take(
                "deep-health-max-overdue",
                &service.deep_health_max_overdue,
                parse::number(&service.deep_health_max_overdue, 1, 1_000_000),
            ),
            api_rate: rate(f, &service.api_rate),
            max_streams: f.count("max-streams", &service.max_streams, 1_000_000),
            preview_frame_ancestors: f.take(
                "preview-ancestors",
                &service.preview_ancestors,
                parse::frame_ancestors(&service.preview_ancestors),
            ),
            certificate: smtp.certificate(),
            edge: smtp.edge(&self.mail_domain, f),
            log: service.log.clone(),
            json_logs: f.take(
                "log-format",
                &service.log_format,
                parse::one_of(&service.log_format, &[("text", false), ("json", true)]),
            ),
        };
        faults.end(config)
    }
}

impl StoreArgs {
    /// The settings, or every fault in them.
    pub(crate) fn check(&self) -> anyhow::Result<StoreConfig> {
        let mut faults = Faults::default();
        let config = self.read(&mut faults);
        faults.end(config)
    }

    fn read(&self, faults: &mut Faults) -> StoreConfig {
        let levels = [("power", Durability::Power), ("process", Durability::Process)];
        StoreConfig {
            data: PathBuf::from(&self.data),
            durability: faults.or(
                "durability",
                &self.durability,
                parse::one_of(&self.durability, &levels),
                Durability::Power,
            ),
            secret_key: faults.secret("secret-key", self.secret_key.as_ref(), |text| {
                MasterKey::from_text(text).ok_or_else(|| "wants 32 bytes in base64".to_owned())
            }),
        }
    }
}

impl SmtpArgs {
    fn certificate(&self) -> Option<(PathBuf, PathBuf)> {
        Some((self.tls_cert.as_ref()?.into(), self.tls_key.as_ref()?.into()))
    }

    fn edge(&self, hostname: &str, f: &mut Faults) -> trapline_smtp::Config {
        trapline_smtp::Config {
            auth_requires_tls: f.boolean("auth-requires-tls", &self.auth_requires_tls),
            require_auth: f.boolean("require-auth", &self.require_auth),
            limits: self.limits(f),
            drain: f.time("drain", &self.drain, Duration::from_secs(25)),
            ..trapline_smtp::Config::new(hostname)
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
            idle: f.time("smtp-idle", &self.smtp_idle, DAY),
            idle_before_auth: f.time("smtp-idle-at-first", &self.smtp_idle_at_first, DAY),
            data_idle: f.time("smtp-data-idle", &self.smtp_data_idle, DAY),
            data_total: f.time("smtp-data-total", &self.smtp_data_total, DAY),
            session_total: f.time("smtp-session-total", &self.smtp_session_total, DAY),
            ..Limits::default()
        }
    }
}

/// A minute's allowance, all of which may be used at once.
fn rate(faults: &mut Faults, text: &str) -> Option<Rate> {
    let per_minute = faults.take("api-rate", text, parse::number(text, 0, 10_000_000));
    let burst = u32::try_from(per_minute).ok().filter(|burst| *burst > 0)?;
    Some(Rate { burst, per: Duration::from_mins(1) })
}
