//! The URLs of services: `scheme://user:password@host:port,host:port/path?name=value`.

use std::{fmt, net::Ipv6Addr, ops::RangeInclusive, path::PathBuf};

use percent_encoding::percent_decode_str;
use url::form_urlencoded;

/// Hosts that a URL may name: the drivers find the other members of a cluster by themselves.
pub(crate) const MOST_HOSTS: usize = 100;

/// What the URLs of a service look like.
pub(crate) struct Scheme {
    /// What they begin with, as in `redis`.
    pub(crate) name: &'static str,
    /// What they begin with when TLS is meant, as in `rediss`.
    pub(crate) tls: Option<&'static str>,
    /// Whether hosts alone are a URL too.
    pub(crate) is_optional: bool,
    /// The port of hosts that are without one. `None` is for a bucket, which has none.
    pub(crate) default_port: Option<u16>,
    /// What may stand before the `@`.
    pub(crate) user: UserForm,
    /// What may follow the hosts.
    pub(crate) path: PathForm,
    /// The known parameters.
    pub(crate) parameters: &'static [&'static str],
}

/// What may stand before the `@` of a URL, percent-encoded (RFC 3986, section 3.2.1).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserForm {
    /// Nothing: there is no `@`.
    Refused,
    /// A user name, a colon and a password.
    Both,
    /// A user name, or a token; a colon and a password may follow.
    Either,
}

/// What may follow the hosts of a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathForm {
    /// Nothing but a slash.
    Empty,
    /// The number of a database.
    Database,
    /// A path, such as the prefix of objects in a bucket.
    Any,
}

/// What is wrong with a service's URL. No text repeats a part that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Another scheme; the text is the right one.
    #[error("it must begin with {0}")]
    Scheme(String),
    /// No host, or more than so many.
    #[error("it must name 1 to {0} hosts")]
    Hosts(usize),
    /// No bucket, as in `s3://bucket/prefix`.
    #[error("it must name one bucket, as in s3://bucket/prefix")]
    Bucket,
    /// A host that is no name or address with an optional port; the first is number 1.
    #[error("host {0} is not a name or address with an optional port")]
    Host(usize),
    /// A user name or password that may not be there, is missing, or is not percent-encoded UTF-8.
    #[error("{0}")]
    User(&'static str),
    /// A path that does not belong there.
    #[error("{0}")]
    Path(&'static str),
    /// A parameter that is not known, or that was there before; the first is number 1.
    #[error("parameter {number} is unknown or repeated; there are: {known}")]
    Parameter {
        /// Which one it is.
        number: usize,
        /// The known ones.
        known: String,
    },
    /// A parameter with a value that it cannot have.
    #[error("{parameter} must be {wanted}")]
    Value {
        /// Its name.
        parameter: &'static str,
        /// What its value must be.
        wanted: String,
    },
    /// Parts that do not go together.
    #[error("{0}")]
    Together(&'static str),
}

/// A host and its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// A name or an address, of which one of IPv6 is without brackets.
    pub(crate) name: String,
    /// 0 where there are no ports.
    pub(crate) port: u16,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, port } = self;
        if name.contains(':') { write!(f, "[{name}]:{port}") } else { write!(f, "{name}:{port}") }
    }
}

/// What stands before the `@`, decoded.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct UserInfo {
    /// The user name, or a token.
    pub(crate) user: String,
    /// `None` where there is no colon.
    pub(crate) password: Option<String>,
}

/// Either part may be a secret.
impl fmt::Debug for UserInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserInfo(hidden)")
    }
}

/// A service's URL, taken apart. It has no `Debug`: its parameters may be secrets.
pub(crate) struct ServiceUrl {
    /// Whether the scheme asks for TLS.
    pub(crate) tls: bool,
    /// At least one.
    pub(crate) hosts: Vec<Host>,
    pub(crate) user: Option<UserInfo>,
    /// Without the slash before it.
    pub(crate) path: String,
    parameters: Vec<(&'static str, String)>,
}

impl ServiceUrl {
    /// Takes a URL apart.
    ///
    /// # Errors
    ///
    /// The first part that is not as the scheme says.
    pub(crate) fn parse(text: &str, scheme: &Scheme) -> Result<Self, UrlError> {
        let (tls, rest) = scheme.split(text)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let parameters = parameters(query, scheme.parameters)?;
        // Where there is no user, a path may have an `@`.
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) if scheme.user != UserForm::Refused => (Some(user), place),
            _ => (None, place),
        };
        let (hosts, path) = place.split_once('/').unwrap_or((place, ""));
        let user = user.map(|user| scheme.user.read(user)).transpose()?;
        let hosts = scheme.hosts(hosts)?;
        if scheme.path == PathForm::Empty && !path.is_empty() {
            return Err(UrlError::Path("nothing but parameters may follow the hosts"));
        }
        Ok(Self { tls, hosts, user, path: path.to_owned(), parameters })
    }

    /// The hosts with their ports, for messages.
    pub(crate) fn hosts(&self) -> String {
        self.hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(",")
    }

    /// The number of the database, 0 when there is none.
    ///
    /// # Errors
    ///
    /// When the path is no number.
    pub(crate) fn database(&self) -> Result<u32, UrlError> {
        let wrong = UrlError::Path("the path must be the number of a database");
        match self.path.trim_end_matches('/') {
            "" => Ok(0),
            number => number.parse().map_err(|_| wrong),
        }
    }

    /// The text of a parameter.
    pub(crate) fn text(&self, parameter: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        parameters.find(|(name, _)| *name == parameter).map(|(_, value)| value.as_str())
    }

    /// A parameter that is a word.
    ///
    /// # Errors
    ///
    /// When it is empty.
    pub(crate) fn name(&self, parameter: &'static str) -> Result<Option<String>, UrlError> {
        self.read(parameter, "a name", |text| (!text.is_empty()).then(|| text.to_owned()))
    }

    /// A parameter that is a file's path.
    ///
    /// # Errors
    ///
    /// When it is empty.
    pub(crate) fn file(&self, parameter: &'static str) -> Result<Option<PathBuf>, UrlError> {
        self.read(parameter, "a path", |text| (!text.is_empty()).then(|| text.into()))
    }

    /// A parameter that is yes or no.
    ///
    /// # Errors
    ///
    /// When it is neither `true` nor `false`.
    pub(crate) fn flag(&self, parameter: &'static str) -> Result<Option<bool>, UrlError> {
        self.read(parameter, "true or false", |text| text.parse().ok())
    }

    /// A parameter that is a number within a range.
    ///
    /// # Errors
    ///
    /// When it is no number, or outside.
    pub(crate) fn number(
        &self,
        parameter: &'static str,
        range: RangeInclusive<u8>,
    ) -> Result<Option<u8>, UrlError> {
        let wanted = format!("a number from {} to {}", range.start(), range.end());
        self.read(parameter, &wanted, |text| text.parse().ok().filter(|it| range.contains(it)))
    }

    /// A parameter; `wanted` says what it must be for `read` to return a value.
    ///
    /// # Errors
    ///
    /// When `read` returns none.
    pub(crate) fn read<T>(
        &self,
        parameter: &'static str,
        wanted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, UrlError> {
        let Some(text) = self.text(parameter) else { return Ok(None) };
        let wrong = || UrlError::Value { parameter, wanted: wanted.to_owned() };
        read(text).map(Some).ok_or_else(wrong)
    }
}

impl Scheme {
    /// Whether TLS is meant, and what follows the scheme.
    fn split<'a>(&self, text: &'a str) -> Result<(bool, &'a str), UrlError> {
        match text.split_once("://") {
            Some((name, rest)) if name == self.name => Ok((false, rest)),
            Some((name, rest)) if Some(name) == self.tls => Ok((true, rest)),
            None if self.is_optional => Ok((false, text)),
            _ => {
                let names = [Some(self.name), self.tls].into_iter().flatten();
                let names: Vec<_> = names.map(|name| format!("{name}://")).collect();
                Err(UrlError::Scheme(names.join(" or ")))
            }
        }
    }

    fn hosts(&self, list: &str) -> Result<Vec<Host>, UrlError> {
        let Some(port) = self.default_port else {
            return match list {
                "" => Err(UrlError::Bucket),
                name if is_name(name) => Ok(vec![Host { name: name.to_owned(), port: 0 }]),
                name if name.contains('@') => {
                    Err(UrlError::User("a user name and a password may not stand in it"))
                }
                _ => Err(UrlError::Bucket),
            };
        };
        if list.is_empty() || list.split(',').count() > MOST_HOSTS {
            return Err(UrlError::Hosts(MOST_HOSTS));
        }
        let numbered = (1..).zip(list.split(','));
        numbered.map(|(number, text)| host(text, port).ok_or(UrlError::Host(number))).collect()
    }
}

impl UserForm {
    fn read(self, text: &str) -> Result<UserInfo, UrlError> {
        let wrong = UrlError::User(match self {
            Self::Both => {
                "before the @ must come a user name, a colon and a password, percent-encoded"
            }
            Self::Refused | Self::Either => {
                "a user name, password or token is not UTF-8, percent-encoded"
            }
        });
        let decoded = |part| percent_decode_str(part).decode_utf8().map(String::from);
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (decoded(user), Some(decoded(password)).transpose()),
            None => (decoded(text), Ok(None)),
        };
        let (Ok(user), Ok(password)) = (user, password) else { return Err(wrong) };
        if self == Self::Both && (user.is_empty() || password.is_none()) {
            return Err(wrong);
        }
        Ok(UserInfo { user, password })
    }
}

/// The parameters of a query, in its order.
fn parameters(
    query: &str,
    known: &'static [&'static str],
) -> Result<Vec<(&'static str, String)>, UrlError> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    for (number, (name, value)) in (1..).zip(form_urlencoded::parse(query.as_bytes())) {
        let is_new = |name: &str| found.iter().all(|(earlier, _)| *earlier != name);
        let Some(name) = known.iter().find(|it| **it == name).filter(|name| is_new(name)) else {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(UrlError::Parameter { number, known });
        };
        found.push((name, value.into_owned()));
    }
    Ok(found)
}

/// `name`, `name:port`, `[address]` or `[address]:port`.
fn host(text: &str, default_port: u16) -> Option<Host> {
    // A port begins behind the last colon that is not part of an IPv6 address.
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()?),
        _ => (text, default_port),
    };
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let fits = match address {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => is_name(name),
    };
    (fits && port > 0).then(|| Host { name: address.unwrap_or(name).to_owned(), port })
}

fn is_name(text: &str) -> bool {
    let is_in_names = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !text.is_empty() && text.bytes().all(is_in_names)
}

#[cfg(test)]
mod tests;
