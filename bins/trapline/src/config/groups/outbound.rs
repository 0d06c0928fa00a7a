//! The settings of what the service sends: webhooks, and mail through a relay.

use std::path::PathBuf;

use trapline_model::Address;
use trapline_worker::{RelayTls, outbound::Cidr};

use super::super::{
    errors::ConfigErrors,
    setting::{SettingTexts, settings},
    values::{cidrs, domain, file, mailbox, one_of, port, text},
};

settings! {
    /// Requests to addresses that users give.
    #[derive(Default)]
    struct WebhookSettings(Some("Webhooks")) {
        /// Ranges that webhooks may reach although they are not public, as in `10.1.0.0/16,fd00::/8`.
        /// Link-local addresses must be named one by one.
        allow: Option<Vec<Cidr>> = WEBHOOK_ALLOW_CIDRS("CIDRS") optional public, cidrs;
        /// Whether webhooks may reach this machine and private networks: `allow` or `deny`. When left out,
        /// `allow` in one process and `deny` in a cluster.
        allow_private: Option<bool> =
            TRAPLINE_WEBHOOK_PRIVATE("WHETHER") optional public,
            one_of([("allow", true), ("deny", false)]);
        /// Certificate authorities, in PEM, that webhooks trust beside the system's.
        ca: Option<PathBuf> = TRAPLINE_WEBHOOK_CA("FILE") optional public, file;
    }
}

settings! {
    /// The relay that mail goes out through, as its settings say it. Every role but `smtp` wants the same.
    struct RelaySettings(Some("Outbound mail")) {
        /// The mail server that Trapline sends mail through; without one it sends none.
        host: Option<String> = TRAPLINE_RELAY_HOST("NAME") optional public, domain;
        /// The relay's port; 465 for implicit TLS and 587 otherwise when left out.
        port: Option<u16> = TRAPLINE_RELAY_PORT("PORT") optional public, port;
        /// `starttls` (or no mail), `implicit` (TLS from the first byte on), `opportunistic` (STARTTLS if
        /// the relay offers it) or `none`.
        tls: RelayTls =
            TRAPLINE_RELAY_TLS("MODE") default("starttls") public,
            one_of([
                ("starttls", RelayTls::Starttls),
                ("implicit", RelayTls::Implicit),
                ("opportunistic", RelayTls::Opportunistic),
                ("none", RelayTls::None),
            ]);
        /// The user name for the relay.
        username: Option<String> = TRAPLINE_RELAY_USERNAME("NAME") optional public, text;
        /// The password for the relay.
        password: Option<String> = TRAPLINE_RELAY_PASSWORD("PASSWORD") optional secret, text;
        /// The author of the mail that Trapline sends; needed with `--relay-host`.
        from: Option<Address> = TRAPLINE_RELAY_FROM("ADDRESS") optional public, mailbox;
        /// Where bounces go (the envelope's sender); an address of the mail domain for each mail when left
        /// out.
        bounces: Option<Address> = TRAPLINE_RELAY_BOUNCES("ADDRESS") optional public, mailbox;
        /// Certificate authorities, in PEM, that the relay's certificate may be from, beside Mozilla's.
        ca: Option<PathBuf> = TRAPLINE_RELAY_CA("FILE") optional public, file;
    }
}

/// The relay that mail goes out through.
#[derive(Clone)]
pub(crate) struct RelayConfig {
    pub host: String,
    pub port: u16,
    pub tls: RelayTls,
    pub credentials: Option<(String, String)>,
    pub from: Address,
    /// The envelope's sender; an address of the mail domain for each mail when there is none.
    pub bounces: Option<String>,
    /// Authorities to trust beside Mozilla's, in PEM.
    pub ca: Option<PathBuf>,
}

impl RelayConfig {
    /// The relay, which there is with a host; the outer `None` is a fault.
    #[expect(clippy::option_option, reason = "settings that are wrong are not no relay")]
    pub(in crate::config) fn read(
        texts: &SettingTexts<RelaySettings>,
        errors: &mut ConfigErrors,
    ) -> Option<Option<Self>> {
        let settings = texts.read(errors);
        if !texts.is_given("TRAPLINE_RELAY_HOST") {
            return settings.map(|_| None);
        }
        if !texts.is_given("TRAPLINE_RELAY_FROM") {
            errors.needed_with("relay-host", "relay-from");
        }
        // Half of them would mean mail without a login, which no one asked for.
        errors.needed_together([
            ("relay-username", texts.is_given("TRAPLINE_RELAY_USERNAME")),
            ("relay-password", texts.is_given("TRAPLINE_RELAY_PASSWORD")),
        ]);
        let settings = settings?;
        let usual = if settings.tls == RelayTls::Implicit { 465 } else { 587 };
        Some(Some(Self {
            host: settings.host?,
            port: settings.port.unwrap_or(usual),
            tls: settings.tls,
            credentials: settings.username.zip(settings.password),
            from: settings.from?,
            bounces: settings.bounces.map(|mailbox| mailbox.address),
            ca: settings.ca,
        }))
    }
}
