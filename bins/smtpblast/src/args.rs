//! The command line.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::{Context, bail, ensure};
use clap::{Parser, ValueEnum};

/// Sends load over SMTP and prints throughput, latencies, errors and what it cost the server.
///
/// Many connections need as many file descriptors: raise `ulimit -n` first.
#[derive(Debug, Parser)]
#[command(version)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Args {
    /// The server.
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:1025")]
    pub(crate) target: String,
    /// Connections open at once.
    #[arg(long, short, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) connections: u32,
    /// Messages to send on one connection before it is replaced by a new one; without it connections stay.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) per_connection: Option<u64>,
    /// Messages to send in all [default: 1000, or no bound with --duration].
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) messages: Option<u64>,
    /// Seconds after which no transaction is begun.
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) duration: Option<Duration>,
    /// Messages per second over all connections, at most.
    #[arg(long, value_name = "PER_SEC", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Sends MAIL, RCPT and DATA in one write where the server offers PIPELINING (RFC 2920).
    #[arg(long)]
    pub(crate) pipelining: bool,
    /// Limit of every single network operation.
    #[arg(long, value_name = "SECS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,

    /// TLS: none, after STARTTLS, or from the first byte.
    #[arg(long, value_enum, default_value_t = Tls::None)]
    pub(crate) tls: Tls,
    /// PEM file of the certificate authorities to trust.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Accepts any certificate.
    #[arg(long, conflicts_with = "ca")]
    pub(crate) insecure: bool,

    /// File of `user:password` lines; each new connection signs in as the next.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["user", "password"])]
    pub(crate) auth: Option<PathBuf>,
    /// One user for every connection.
    #[arg(long, requires = "password")]
    pub(crate) user: Option<String>,
    /// That user's password.
    #[arg(long, requires = "user")]
    pub(crate) password: Option<String>,
    /// The SASL mechanism.
    #[arg(long, value_enum, default_value_t = Mechanism::Plain)]
    pub(crate) mechanism: Mechanism,

    /// Envelope and header sender; {n} is the message's number.
    #[arg(long, default_value = "sender-{n}@smtpblast.example")]
    pub(crate) from: String,
    /// Envelope and header recipient; {n} is the message's number.
    #[arg(long, default_value = "recipient-{n}@smtpblast.example")]
    pub(crate) to: String,
    /// File of recipients, one a line; message n goes to the (n modulo lines)-th.
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    pub(crate) to_file: Option<PathBuf>,
    /// Subject; {n} is the message's number.
    #[arg(long, default_value = "Message {n} of a load run")]
    pub(crate) subject: String,
    /// Bytes of a message, roughly.
    #[arg(long, value_name = "BYTES", default_value_t = 6144, value_parser = clap::value_parser!(u64).range(1024..=100_000_000))]
    pub(crate) size: u64,
    /// What a message is made of.
    #[arg(long, value_enum, default_value_t = Shape::Multipart)]
    pub(crate) shape: Shape,
    /// Makes the same messages again; without it they differ from run to run.
    #[arg(long)]
    pub(crate) seed: Option<u64>,

    /// Sends nothing: opens N connections up to EHLO and holds them.
    #[arg(long, value_name = "N", conflicts_with_all = ["messages", "duration", "rate", "per_connection"], value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) idle_connections: Option<u32>,
    /// How long idle connections are held.
    #[arg(long, value_name = "SECS", default_value = "5", value_parser = seconds)]
    pub(crate) hold: Duration,

    /// The server's process, to report its CPU and memory.
    #[arg(long)]
    pub(crate) pid: Option<u32>,
    /// Wait before the last look at that process, for work that the server put off.
    #[arg(long, value_name = "SECS", default_value = "1", value_parser = seconds)]
    pub(crate) settle: Duration,
    /// Threads of this program; one leaves most to a server on the same machine.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) threads: u16,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exits with 0 even after errors.
    #[arg(long)]
    pub(crate) allow_errors: bool,
    /// Allows a target that is not this machine.
    #[arg(long)]
    pub(crate) allow_remote: bool,
}

/// When TLS begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tls {
    /// Never.
    None,
    /// After STARTTLS (RFC 3207).
    Starttls,
    /// Before the greeting (RFC 8314).
    Implicit,
}

/// A SASL mechanism (RFC 4616, and the LOGIN that many clients still use).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mechanism {
    /// `AUTH PLAIN` with the initial response.
    Plain,
    /// `AUTH LOGIN`, two challenges.
    Login,
}

/// What a message is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// Text, HTML and an attachment in base64.
    Multipart,
    /// One text part.
    Plain,
}

impl Args {
    /// What no single option can check.
    ///
    /// # Errors
    /// TLS without a way to verify the server.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.tls == Tls::None || self.insecure || self.ca.is_some(),
            "--tls needs --ca FILE to verify the server, or --insecure"
        );
        Ok(())
    }

    /// Messages to send in all; `None` is no bound but the duration.
    pub(crate) fn total(&self) -> Option<u64> {
        self.messages.or(if self.duration.is_some() { None } else { Some(1000) })
    }

    /// The target's address, refused when it is another machine and that was not allowed.
    ///
    /// # Errors
    /// A name that does not resolve, or an address that is not loopback.
    pub(crate) async fn address(&self) -> anyhow::Result<SocketAddr> {
        let found = tokio::time::timeout(self.timeout, tokio::net::lookup_host(&self.target));
        let mut found = found.await?.with_context(|| format!("resolve {}", self.target))?;
        let address = found.next().with_context(|| format!("no address for {}", self.target))?;
        if !(address.ip().is_loopback() || self.allow_remote) {
            bail!("{address} is not this machine; --allow-remote sends load to others");
        }
        Ok(address)
    }
}

/// Up to a million seconds, so that no sum of times overflows.
fn seconds(text: &str) -> Result<Duration, String> {
    bounded(text, 0.0, 1e6).map(Duration::from_secs_f64)
}

/// Between one message in 1,000 seconds and a million a second.
fn rate(text: &str) -> Result<f64, String> {
    bounded(text, 1e-3, 1e6)
}

fn bounded(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("must be a number from {least} to {most}")),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Args {
        Args::try_parse_from(std::iter::once("smtpblast").chain(args.iter().copied())).unwrap()
    }

    #[test]
    fn a_run_without_bounds_sends_a_thousand() {
        let cases: &[(&[&str], Option<u64>)] = &[
            (&[], Some(1000)),
            (&["-n", "5"], Some(5)),
            (&["--duration", "2"], None),
            (&["--duration", "0.5", "-n", "7"], Some(7)),
        ];
        for (args, total) in cases {
            assert_eq!(parse(args).total(), *total, "{args:?}");
        }
    }

    #[test]
    fn tls_needs_a_way_to_verify() {
        assert!(parse(&["--tls", "starttls"]).check().is_err());
        assert!(parse(&["--tls", "implicit", "--insecure"]).check().is_ok());
        assert!(parse(&["--tls", "starttls", "--ca", "ca.pem"]).check().is_ok());
    }

    #[test]
    fn out_of_range_values_are_refused() {
        let cases = [
            ["--rate", "0"],
            ["--rate", "inf"],
            ["--duration", "-1"],
            ["--duration", "1e18"],
            ["--timeout", "x"],
            ["-c", "0"],
        ];
        for args in cases {
            let line = std::iter::once("smtpblast").chain(args);
            assert!(Args::try_parse_from(line).is_err(), "{args:?}");
        }
    }

    #[tokio::test]
    async fn other_machines_need_permission() {
        let remote = "192.0.2.1:25";
        assert!(parse(&[remote]).address().await.is_err());
        assert!(parse(&[remote, "--allow-remote"]).address().await.is_ok());
        assert!(parse(&["127.0.0.2:25"]).address().await.is_ok());
        assert!(parse(&["[::1]:25"]).address().await.is_ok());
    }
}
