//! Addresses of NATS servers, as a setting gives them.

use std::path::PathBuf;

use async_nats::{ConnectOptions, ServerAddr};

use super::JetStreamError;
use crate::service_url::{Host, PathForm, Scheme, ServiceUrl, UrlError, UserForm, UserInfo};

/// The most copies of a stream that JetStream keeps.
const MOST_REPLICAS: u8 = 5;

/// What the URLs of NATS look like.
const SCHEME: Scheme = Scheme {
    name: "nats",
    tls: Some("tls"),
    is_optional: true,
    default_port: Some(4222),
    user: UserForm::Either,
    path: PathForm::Empty,
    parameters: &["tls", "ca", "creds", "nkey", "replicas"],
};

/// Where the servers are and how to be let in. Has no `Debug`, for it may hold a password.
pub(super) struct NatsAddress {
    pub(super) servers: Vec<ServerAddr>,
    /// Hosts and ports, for messages.
    pub(super) hosts: String,
    login: NatsLogin,
    tls: bool,
    ca: Option<PathBuf>,
    /// Copies of the stream.
    pub(super) replicas: Option<usize>,
}

#[derive(PartialEq, Eq)]
enum NatsLogin {
    Nobody,
    Password { user: String, password: String },
    Token(String),
    Credentials(PathBuf),
    Seed(PathBuf),
}

impl NatsAddress {
    /// Reads `nats://user:password@host:port,host:port?option=value`.
    pub(super) fn parse(url: &str) -> Result<Self, UrlError> {
        let url = ServiceUrl::parse(url, &SCHEME)?;
        let mut address = Self {
            servers: url.hosts.iter().zip(1..).map(server).collect::<Result<_, _>>()?,
            hosts: url.hosts(),
            login: url.user.as_ref().map_or(NatsLogin::Nobody, NatsLogin::of),
            tls: url.flag("tls")?.unwrap_or(url.tls),
            ca: url.file("ca")?,
            replicas: url.number("replicas", 1..=MOST_REPLICAS)?.map(usize::from),
        };
        for login in
            [url.file("creds")?.map(NatsLogin::Credentials), url.file("nkey")?.map(NatsLogin::Seed)]
        {
            address.log_in_by(login)?;
        }
        Ok(address)
    }

    fn log_in_by(&mut self, login: Option<NatsLogin>) -> Result<(), UrlError> {
        let Some(login) = login else { return Ok(()) };
        if self.login != NatsLogin::Nobody {
            return Err(UrlError::Together("give one of user and password, token, creds and nkey"));
        }
        self.login = login;
        Ok(())
    }

    /// The client's settings for TLS and login.
    pub(super) async fn options(&self) -> Result<ConnectOptions, JetStreamError> {
        let mut options = ConnectOptions::new().require_tls(self.tls);
        if let Some(ca) = &self.ca {
            read(ca).await?;
            options = options.add_root_certificates(ca.clone());
        }
        Ok(match &self.login {
            NatsLogin::Nobody => options,
            NatsLogin::Password { user, password } => {
                options.user_and_password(user.clone(), password.clone())
            }
            NatsLogin::Token(token) => options.token(token.clone()),
            NatsLogin::Seed(file) => options.nkey(read(file).await?.trim().to_owned()),
            NatsLogin::Credentials(file) => {
                let credentials = options.credentials(&read(file).await?);
                credentials.map_err(|source| unreadable(file, source))?
            }
        })
    }
}

impl NatsLogin {
    fn of(UserInfo { user, password }: &UserInfo) -> Self {
        match password {
            Some(password) => Self::Password { user: user.clone(), password: password.clone() },
            None => Self::Token(user.clone()),
        }
    }
}

fn server((host, number): (&Host, usize)) -> Result<ServerAddr, UrlError> {
    format!("nats://{host}").parse().map_err(|_| UrlError::Host(number))
}

fn unreadable(path: &std::path::Path, source: std::io::Error) -> JetStreamError {
    JetStreamError::File { path: path.display().to_string(), source }
}

async fn read(path: &std::path::Path) -> Result<String, JetStreamError> {
    tokio::fs::read_to_string(path).await.map_err(|source| unreadable(path, source))
}

#[cfg(test)]
mod tests;
