//! The settings of the use cases, made from the configuration and the listeners' addresses.

use std::net::{Ipv6Addr, SocketAddr};

use anyhow::Result;
use trapline_app::{Outbound, Settings};
use trapline_worker::outbound::Url;

use crate::{
    config::{Config, PublicAddresses},
    serve::Listeners,
};

/// Groups of mail that a process of a cluster writes at the same time, each a PUT.
const GROUPS_IN_FLIGHT: usize = 2;

/// The settings of a process with listeners.
pub(crate) fn settings(config: &Config, listeners: &Listeners) -> Result<Settings> {
    let http = reachable(listeners.http_address()?);
    let smtp = listeners.smtp_address()?.map(reachable);
    let smtps = listeners.smtps_address()?;
    let https = listeners.https_address()?;
    let public = &config.public;
    let defaults = config.plans.fill(config.api.clone().unwrap_or_default());
    let defaults = public_settings(public, defaults);
    let base_url = public.base_url.clone().unwrap_or_else(|| format!("http://{http}"));
    let https_port = public.https_port.or(https.map(|https| https.port()));
    Ok(Settings {
        https_url: https_port.and_then(|port| https_url(&base_url, port)),
        base_url,
        smtp_host: match (&public.smtp_host, smtp) {
            (None, Some(smtp)) => smtp.ip().to_string(),
            _ => defaults.smtp_host,
        },
        smtp_port: public.smtp_port.or(smtp.map(|smtp| smtp.port())).unwrap_or(defaults.smtp_port),
        smtp_tls_port: public.smtps_port.or(smtps.map(|smtps| smtps.port())),
        catch_all: config.edge.as_ref().is_some_and(|edge| edge.catch_all),
        catch_all_inbox: match &config.edge {
            Some(edge) => edge.settings.catch_all_inbox.clone(),
            None => defaults.catch_all_inbox,
        },
        outbound: config
            .relay
            .as_ref()
            .map(|relay| Outbound { from: relay.from.clone(), bounces: relay.bounces.clone() }),
        groups_in_flight: if config.is_cluster() { GROUPS_IN_FLIGHT } else { 1 },
        ..defaults
    })
}

/// The settings with what clients are told, as far as a process without listeners knows it.
pub(crate) fn public_settings(public: &PublicAddresses, settings: Settings) -> Settings {
    let public = public.clone();
    Settings {
        base_url: public.base_url.unwrap_or(settings.base_url),
        mock_domain: public.mock_domain,
        mail_domain: public.mail_domain,
        smtp_host: public.smtp_host.unwrap_or(settings.smtp_host),
        smtp_port: public.smtp_port.unwrap_or(settings.smtp_port),
        smtp_tls_port: public.smtps_port,
        catch_all: false,
        ..settings
    }
}

/// The base URL with another port, and over TLS.
fn https_url(base_url: &str, port: u16) -> Option<String> {
    let mut url = Url::parse(base_url).ok()?;
    url.set_scheme("https").ok()?;
    url.set_port(Some(port)).ok()?;
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// The address under which a listener is reached: loopback for one that listens on every address.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if !ip.is_unspecified() => address,
        std::net::IpAddr::V4(_) => ([127, 0, 0, 1], address.port()).into(),
        std::net::IpAddr::V6(_) => (Ipv6Addr::LOCALHOST, address.port()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_at_the_host_of_the_base_url() {
        for (base_url, port, wanted) in [
            ("http://127.0.0.1:8025", 8443, "https://127.0.0.1:8443"),
            ("http://[::1]:8025/t", 8443, "https://[::1]:8443/t"),
            ("http://trapline.example", 443, "https://trapline.example"),
            ("https://trapline.example:9443", 8443, "https://trapline.example:8443"),
        ] {
            assert_eq!(https_url(base_url, port).as_deref(), Some(wanted));
        }
    }
}
