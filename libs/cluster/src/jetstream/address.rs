//! Addresses of NATS servers, as a setting gives them.

use std::path::PathBuf;

use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::JetStreamError;

/// The most copies of a stream that JetStream keeps.
const MOST_REPLICAS: usize = 5;

/// Where the servers are and how to be let in. Has no `Debug`, for it may hold a password.
pub(super) struct Address {
    pub(super) servers: Vec<ServerAddr>,
    login: Login,
    tls: bool,
    ca: Option<PathBuf>,
    /// Copies of the stream.
    pub(super) replicas: Option<usize>,
}

#[derive(PartialEq, Eq)]
enum Login {
    Nobody,
    Password { user: String, password: String },
    Token(String),
    Credentials(PathBuf),
    Seed(PathBuf),
}

impl Address {
    /// Reads `nats://user:password@host:port,host:port?option=value`. No error repeats what stands
    /// before the `@` or after a `=`.
    pub(super) fn parse(url: &str) -> Result<Self, JetStreamError> {
        let (tls, rest) = match url.split_once("://") {
            None => (false, url),
            Some(("nats", rest)) => (false, rest),
            Some(("tls", rest)) => (true, rest),
            Some(_) => return Err(wrong("the scheme is neither nats nor tls")),
        };
        let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (login_of(login)?, hosts),
            None => (Login::Nobody, authority),
        };
        let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
        let servers = hosts.split(',').map(server).collect::<Result<_, _>>()?;
        let mut address = Self { servers, login, tls, ca: None, replicas: None };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            address.set(&name, &value)?;
        }
        Ok(address)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), JetStreamError> {
        match name {
            "tls" => self.tls = value.parse().map_err(|_| wrong("tls is true or false"))?,
            "ca" => self.ca = Some(path(value)?),
            "creds" => self.log_in_by(Login::Credentials(path(value)?))?,
            "nkey" => self.log_in_by(Login::Seed(path(value)?))?,
            "replicas" => {
                let replicas = value.parse().ok().filter(|n| (1..=MOST_REPLICAS).contains(n));
                self.replicas = Some(replicas.ok_or_else(|| wrong("replicas is 1 to 5"))?);
            }
            _ => return Err(wrong("an option is none of tls, ca, creds, nkey and replicas")),
        }
        Ok(())
    }

    fn log_in_by(&mut self, login: Login) -> Result<(), JetStreamError> {
        if self.login != Login::Nobody {
            return Err(wrong("give one of user and password, token, creds and nkey"));
        }
        self.login = login;
        Ok(())
    }

    /// Hosts and ports, for messages.
    pub(super) fn hosts(&self) -> String {
        let text = |server: &ServerAddr| match server.host() {
            address if address.contains(':') => format!("[{address}]:{}", server.port()),
            host => format!("{host}:{}", server.port()),
        };
        self.servers.iter().map(text).collect::<Vec<_>>().join(",")
    }

    /// The client's settings for TLS and login.
    pub(super) async fn options(&self) -> Result<ConnectOptions, JetStreamError> {
        let mut options = ConnectOptions::new().require_tls(self.tls);
        if let Some(ca) = &self.ca {
            read(ca).await?;
            options = options.add_root_certificates(ca.clone());
        }
        Ok(match &self.login {
            Login::Nobody => options,
            Login::Password { user, password } => {
                options.user_and_password(user.clone(), password.clone())
            }
            Login::Token(token) => options.token(token.clone()),
            Login::Seed(file) => options.nkey(read(file).await?.trim().to_owned()),
            Login::Credentials(file) => {
                let credentials = options.credentials(&read(file).await?);
                credentials.map_err(|source| unreadable(file, source))?
            }
        })
    }
}

fn wrong(text: &str) -> JetStreamError {
    JetStreamError::Address(text.to_owned())
}

fn login_of(text: &str) -> Result<Login, JetStreamError> {
    let decoded = |text| {
        let text = percent_decode_str(text).decode_utf8();
        text.map(String::from).map_err(|_| wrong("user, password or token is not UTF-8"))
    };
    Ok(match text.split_once(':') {
        Some((user, password)) => {
            Login::Password { user: decoded(user)?, password: decoded(password)? }
        }
        None => Login::Token(decoded(text)?),
    })
}

fn server(host: &str) -> Result<ServerAddr, JetStreamError> {
    let wrong = || wrong("a server is not host or host:port");
    if host.is_empty() || host.contains(['/', '#', '@']) || host.contains(char::is_whitespace) {
        return Err(wrong());
    }
    let server: ServerAddr = format!("nats://{host}").parse().map_err(|_| wrong())?;
    if server.host().is_empty() { Err(wrong()) } else { Ok(server) }
}

fn path(value: &str) -> Result<PathBuf, JetStreamError> {
    if value.is_empty() { Err(wrong("ca, creds or nkey names no file")) } else { Ok(value.into()) }
}

fn unreadable(path: &std::path::Path, source: std::io::Error) -> JetStreamError {
    JetStreamError::File { path: path.display().to_string(), source }
}

async fn read(path: &std::path::Path) -> Result<String, JetStreamError> {
    tokio::fs::read_to_string(path).await.map_err(|source| unreadable(path, source))
}

#[cfg(test)]
mod tests;
