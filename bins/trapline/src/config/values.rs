//! Checks of single values. Each returns the value, or says what it wants instead of the text.

use std::{
    fmt::Display, fs::File, io::Read as _, net::SocketAddr, path::PathBuf, sync::Arc,
    time::Duration,
};

use tracing_subscriber::EnvFilter;
use trapline_app::{MailClientData, MasterKey, PlanCatalog};
use trapline_model::Address;
use trapline_store::Rate;
use trapline_worker::outbound::Cidr;

use crate::{
    backup::ArchivePlace,
    cluster::{self, Service},
};

/// The largest size of anything, in bytes.
const MAX_SIZE: u64 = 1 << 40;
/// The largest file of plans, in bytes; of a larger one the end is missing, and so it is wrong.
const MAX_PLANS_BYTES: u64 = 1 << 20;
/// The data set of "Can I email" has 1.3 MB.
const MAX_DATA_BYTES: u64 = 16 << 20;
/// The shortest time of anything.
const MIN_TIME: Duration = Duration::from_millis(100);
/// The longest time that most settings may have.
pub(super) const DAY: Duration = Duration::from_hours(24);

/// Free text.
#[expect(clippy::unnecessary_wraps, reason = "every check has this form")]
pub(super) fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// The path of a file, which is opened later.
#[expect(clippy::unnecessary_wraps, reason = "every check has this form")]
pub(super) fn file(text: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(text))
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "wants an IP address and a port, such as 127.0.0.1:8025".to_owned())
}

pub(super) fn boolean(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "wants true or false".to_owned())
}

/// A number of things of which there must be one at least.
pub(super) fn count<N>(most: u64) -> impl Fn(&str) -> Result<N, String>
where
    N: TryFrom<u64, Error: Display>,
{
    move |text| N::try_from(number(text, 1, most)?).map_err(|error| error.to_string())
}

/// A score: points with a fraction.
pub(super) fn points(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1_000.0;
    let points = text.parse().ok().filter(|points| (0.1..=MOST).contains(points));
    points.ok_or_else(|| format!("wants points from 0.1 to {MOST}, such as 5"))
}

/// How much is allowed in a minute; 0 is no limit.
pub(super) fn per_minute(most: u32) -> impl Fn(&str) -> Result<Option<Rate>, String> {
    move |text| {
        let burst = u32::try_from(number(text, 0, most.into())?).unwrap_or(most);
        Ok((burst > 0).then_some(Rate { burst, per: Duration::from_mins(1) }))
    }
}

fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("wants a number from {least} to {most}"))
}

pub(super) fn port(text: &str) -> Result<u16, String> {
    text.parse()
        .ok()
        .filter(|port| *port > 0)
        .ok_or_else(|| "wants a port from 1 to 65535".to_owned())
}

/// A name that CQL, NATS and Redis all take as it is.
pub(super) fn keyspace(text: &str) -> Result<String, String> {
    cluster::is_namespace(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "wants up to 32 lower-case letters, digits and _, a letter first".to_owned())
}

/// The URL of a service of a cluster.
pub(super) fn service_url(service: Service) -> impl Fn(&str) -> Result<String, String> {
    move |text| match cluster::check_url(service, text) {
        Ok(()) => Ok(text.to_owned()),
        Err(wrong) => Err(wrong.to_string()),
    }
}

/// Ranges of addresses, with commas between them.
pub(super) fn cidrs(text: &str) -> Result<Vec<Cidr>, String> {
    let one = |text: &str| text.trim().parse();
    text.split(',')
        .map(one)
        .collect::<Result<_, _>>()
        .map_err(|_| "wants ranges such as 10.0.0.0/8, with commas between them".to_owned())
}

/// A size in bytes: a number with an optional unit.
pub(super) fn size<N>(least: u64) -> impl Fn(&str) -> Result<N, String>
where
    N: TryFrom<u64, Error: Display>,
{
    const UNITS: [(&str, u64); 5] =
        [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1)];
    move |text| {
        let bytes = scaled(text, &UNITS).filter(|bytes| (least..=MAX_SIZE).contains(bytes));
        let wanted = || format!("wants a size such as 25MiB, from {least} to {MAX_SIZE} bytes");
        N::try_from(bytes.ok_or_else(wanted)?).map_err(|error| error.to_string())
    }
}

/// A time: a number with a unit.
pub(super) fn time(most: Duration) -> impl Fn(&str) -> Result<Duration, String> {
    time_from(MIN_TIME, most)
}

/// A time that may be none.
pub(super) fn pause(most: Duration) -> impl Fn(&str) -> Result<Duration, String> {
    time_from(Duration::ZERO, most)
}

fn time_from(least: Duration, most: Duration) -> impl Fn(&str) -> Result<Duration, String> {
    const UNITS: [(&str, u64); 5] =
        [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    move |text| {
        scaled(text, &UNITS)
            .map(Duration::from_millis)
            .filter(|time| (least..=most).contains(time))
            .ok_or_else(|| format!("wants a time such as 90s or 5m, from {least:?} to {most:?}"))
    }
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*scale)
}

/// One of a few words, and what it stands for.
pub(super) fn one_of<T: Copy, const N: usize>(
    choices: [(&str, T); N],
) -> impl Fn(&str) -> Result<T, String> {
    move |text| {
        choices.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            format!("wants {}", names.join(" or "))
        })
    }
}

pub(super) fn master_key(text: &str) -> Result<MasterKey, String> {
    MasterKey::from_text(text).ok_or_else(|| "wants 32 bytes in base64".to_owned())
}

/// A host name: letters, digits, dots and hyphens.
pub(super) fn domain(text: &str) -> Result<String, String> {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if text.len() <= 253 && text.split('.').all(label) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("wants a host name, such as mail.example.test".to_owned())
    }
}

pub(super) fn base_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '"' | '<' | '>' | '@');
    if rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain)) {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("wants an http or https URL without credentials or query".to_owned())
    }
}

/// A URL that people open.
pub(super) fn link(text: &str) -> Result<Arc<str>, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>');
    if text.len() <= 2000 && rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain)) {
        Ok(text.into())
    } else {
        Err("wants an http or https URL of at most 2000 characters".to_owned())
    }
}

/// A file of plans, which is read.
pub(super) fn plans(file: &str) -> Result<Arc<PlanCatalog>, String> {
    let catalog = PlanCatalog::parse(&text_of(file, MAX_PLANS_BYTES)?);
    catalog.map(Arc::new).map_err(|mistakes| format!("\n    {}", mistakes.join("\n    ")))
}

/// What the HTML check knows of mail clients.
pub(super) fn caniemail(file: &str) -> Result<MailClientData, String> {
    MailClientData::parse(&text_of(file, MAX_DATA_BYTES)?)
}

/// A file with weights of mail clients, whose names only the data set knows.
pub(crate) struct WeightsFile {
    pub path: String,
    pub text: String,
}

pub(super) fn client_weights(file: &str) -> Result<WeightsFile, String> {
    Ok(WeightsFile { path: file.to_owned(), text: text_of(file, MAX_PLANS_BYTES)? })
}

/// The text of a file, of which at most so many bytes are read.
fn text_of(file: &str, most: u64) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(most).read_to_string(&mut text));
    read.map_err(|error| format!("cannot be read: {error}"))?;
    Ok(text)
}

/// A folder's path, absolute or from where the process was started.
pub(super) fn folder(text: &str) -> Result<PathBuf, String> {
    match text {
        "" => Err("wants a folder".to_owned()),
        // A name of SQLite's, which elsewhere means memory.
        _ if text.contains(":memory:") => {
            Err("wants a folder; Trapline does not keep its data in memory".to_owned())
        }
        _ => Ok(PathBuf::from(text)),
    }
}

/// A place for archives.
pub(super) fn place(text: &str) -> Result<String, String> {
    match ArchivePlace::of(text) {
        Ok(ArchivePlace::Folder(_) | ArchivePlace::Bucket(_)) => Ok(text.to_owned()),
        Ok(ArchivePlace::File(_)) => Err("wants a folder, or s3://bucket/prefix".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) fn log_filter(text: &str) -> Result<String, String> {
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("wants a filter such as trapline_smtp=debug,info ({error})")),
    }
}

/// The name of an inbox, as the API takes it.
pub(super) fn name(text: &str) -> Result<String, String> {
    if (1..=100).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err("wants a name of 1 to 100 characters".to_owned())
    }
}

/// An address, alone or as `Name <address>`.
pub(super) fn mailbox(text: &str) -> Result<Address, String> {
    let (name, address) = match text.trim().strip_suffix('>').and_then(|it| it.rsplit_once('<')) {
        Some((name, address)) => (name.trim().trim_matches('"'), address),
        None => ("", text.trim()),
    };
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | ',' | ';');
    let is_address = address.rsplit_once('@').is_some_and(|(local, name)| {
        !local.is_empty() && address.chars().all(plain) && domain(name).is_ok()
    });
    if is_address && !name.chars().any(char::is_control) {
        Ok(Address { address: address.to_owned(), name: name.to_owned() })
    } else {
        Err("wants an address, such as Trapline <no-reply@mail.example.com>".to_owned())
    }
}

pub(super) fn api_key(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix(trapline_model::KEY_PREFIX);
    let letters = |rest: &str| {
        (20..=128).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    if rest.is_some_and(letters) {
        Ok(text.to_owned())
    } else {
        Err("wants tl_ followed by 20 to 128 letters and digits".to_owned())
    }
}

pub(super) fn frame_ancestors(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, ';' | ',') || c == ' ';
    if !text.is_empty() && text.len() <= 1000 && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("wants CSP sources, such as 'self' https://app.example.com".to_owned())
    }
}
