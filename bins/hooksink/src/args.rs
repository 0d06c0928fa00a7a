//! The command line.

use std::net::Ipv4Addr;

use anyhow::{Context, ensure};
use clap::Parser;

/// Takes webhooks on this machine and tells when each call came.
///
/// `POST /200/NAME` is answered with that status (200 to 599), `POST /never/NAME` is not answered at
/// all; NAME tells endpoints apart. `GET /stats` gives the counts as JSON, `GET /arrivals` one line for
/// each call: nanoseconds since 1970, path, delivery, subject. The port is printed at the start, the
/// counts at the end.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    /// The first loopback address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) first: Ipv4Addr,
    /// Addresses to listen on, the first and those that follow it; callers see as many hosts.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=250))]
    pub(crate) hosts: u8,
    /// The port on each of them; 0 takes one that is free.
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Sends Retry-After with 429 and 503.
    #[arg(long, value_name = "SECS")]
    pub(crate) retry_after: Option<u32>,
    /// Room for the lines of /arrivals, in MB; calls beyond it are counted only.
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) log: u16,
}

impl Args {
    /// Every address to listen on.
    ///
    /// # Errors
    /// One of them is not a loopback address.
    pub(crate) fn addresses(&self) -> anyhow::Result<Vec<Ipv4Addr>> {
        let first = self.first.to_bits();
        (0..u32::from(self.hosts))
            .map(|number| {
                let bits = first.checked_add(number).context("--hosts is too many")?;
                let address = Ipv4Addr::from_bits(bits);
                ensure!(address.is_loopback(), "{address} is not a loopback address");
                Ok(address)
            })
            .collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn addresses(args: &[&str]) -> anyhow::Result<Vec<String>> {
        let line = std::iter::once("hooksink").chain(args.iter().copied());
        let found = Args::try_parse_from(line)?.addresses()?;
        Ok(found.iter().map(Ipv4Addr::to_string).collect())
    }

    #[test]
    fn hosts_follow_the_first() {
        assert_eq!(addresses(&[]).unwrap(), ["127.0.0.1"]);
        let three = addresses(&["--first", "127.0.0.255", "--hosts", "3"]).unwrap();
        assert_eq!(three, ["127.0.0.255", "127.0.1.0", "127.0.1.1"]);
    }

    #[test]
    fn nothing_else_is_listened_on() {
        let cases: [&[&str]; 4] = [
            &["--first", "0.0.0.0"],
            &["--first", "192.0.2.1"],
            &["--first", "127.255.255.255", "--hosts", "2"],
            &["--hosts", "0"],
        ];
        for args in cases {
            assert!(addresses(args).is_err(), "{args:?}");
        }
    }
}
