//! An SMTP client (RFC 5321) with PIPELINING, STARTTLS and AUTH.

use std::{fs, net::SocketAddr, time::Duration};

use anyhow::{Context, ensure};
use data_encoding::BASE64;
use memchr::memmem;

use crate::{
    args::{Args, Mechanism},
    failure::{Cause, Failure, Stage},
    message::Mail,
    reply::Reply,
    tls::Security,
    wire::{Wire, require},
};

const EHLO: &[u8] = b"EHLO smtpblast.example\r\n";

/// Where to connect to and how.
pub(crate) struct Server {
    /// Its address.
    pub(crate) address: SocketAddr,
    /// TLS or not.
    pub(crate) security: Security,
    /// Whether to pipeline where it is offered.
    pub(crate) pipelining: bool,
    /// Limit of one operation.
    pub(crate) limit: Duration,
}

/// Who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Login {
    mechanism: Mechanism,
    user: String,
    password: String,
}

/// A connection that is ready for MAIL.
pub(crate) struct Client {
    wire: Wire,
    pipelining: bool,
    output: Vec<u8>,
}

impl Login {
    /// All logins of the command line; none means no AUTH.
    ///
    /// # Errors
    /// A file that is unreadable, empty, or has a line without a colon.
    pub(crate) fn all(args: &Args) -> anyhow::Result<Vec<Self>> {
        let mechanism = args.mechanism;
        if let (Some(user), Some(password)) = (&args.user, &args.password) {
            let (user, password) = (user.clone(), password.clone());
            return Ok(vec![Self { mechanism, user, password }]);
        }
        let Some(path) = &args.auth else { return Ok(Vec::new()) };
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let logins: Vec<_> =
            lines.map(|line| Self::parse(mechanism, line)).collect::<anyhow::Result<_>>()?;
        ensure!(!logins.is_empty(), "no login in {}", path.display());
        Ok(logins)
    }

    fn parse(mechanism: Mechanism, line: &str) -> anyhow::Result<Self> {
        let (user, password) = line.split_once(':').context("a login is user:password")?;
        Ok(Self { mechanism, user: user.to_owned(), password: password.to_owned() })
    }
}

impl Client {
    /// Connects, greets, starts TLS and signs in.
    ///
    /// # Errors
    /// The first step that failed.
    pub(crate) async fn connect(server: &Server, login: Option<&Login>) -> Result<Self, Failure> {
        let mut wire = Wire::open(server.address, server.limit).await?;
        if let Security::Implicit(identity) = &server.security {
            wire = wire.secure(identity).await?;
        }
        require(Stage::Greeting, 2, &wire.reply(Stage::Greeting).await?)?;
        let mut ehlo = wire.command(Stage::Ehlo, EHLO, 2).await?;
        if let Security::StartTls(identity) = &server.security {
            if !ehlo.offers("STARTTLS") {
                return Err(Failure::new(Stage::StartTls, Cause::NotOffered));
            }
            wire.command(Stage::StartTls, b"STARTTLS\r\n", 2).await?;
            wire = wire.secure(identity).await?;
            ehlo = wire.command(Stage::Ehlo, EHLO, 2).await?;
        }
        if let Some(login) = login {
            authenticate(&mut wire, login).await?;
        }
        let pipelining = server.pipelining && ehlo.offers("PIPELINING");
        Ok(Self { wire, pipelining, output: Vec::new() })
    }

    /// Whether MAIL, RCPT and DATA go out together.
    pub(crate) fn pipelines(&self) -> bool {
        self.pipelining
    }

    /// Sends one message; `Ok` is the server's 250 after its content.
    ///
    /// # Errors
    /// A refusal, after which the connection is ready again where
    /// [`Failure::keeps_connection`] says so, or a broken connection.
    pub(crate) async fn send(&mut self, mail: &Mail) -> Result<(), Failure> {
        let envelope = if self.pipelining {
            self.envelope_at_once(mail).await
        } else {
            self.envelope_step_by_step(mail).await
        };
        match envelope {
            Ok(()) => self.content(&mail.content).await,
            Err(refused) => {
                if refused.keeps_connection() {
                    self.wire.command(Stage::Reset, b"RSET\r\n", 2).await?;
                }
                Err(refused)
            }
        }
    }

    /// Asks whether the server is still there.
    pub(crate) async fn noop(&mut self) -> Result<(), Failure> {
        self.wire.command(Stage::Noop, b"NOOP\r\n", 2).await.map(drop)
    }

    /// Says goodbye and waits for the answer.
    pub(crate) async fn quit(mut self) -> Result<(), Failure> {
        self.wire.command(Stage::Quit, b"QUIT\r\n", 2).await.map(drop)
    }

    async fn envelope_step_by_step(&mut self, mail: &Mail) -> Result<(), Failure> {
        let from = format!("MAIL FROM:<{}>\r\n", mail.from);
        self.wire.command(Stage::Mail, from.as_bytes(), 2).await?;
        let to = format!("RCPT TO:<{}>\r\n", mail.to);
        self.wire.command(Stage::Rcpt, to.as_bytes(), 2).await?;
        self.wire.command(Stage::Data, b"DATA\r\n", 3).await.map(drop)
    }

    /// RFC 2920 section 3.1: a server may say 354 although it refused what came before; it is then
    /// given an empty message.
    async fn envelope_at_once(&mut self, mail: &Mail) -> Result<(), Failure> {
        let group = format!("MAIL FROM:<{}>\r\nRCPT TO:<{}>\r\nDATA\r\n", mail.from, mail.to);
        self.wire.write(Stage::Mail, group.as_bytes()).await?;
        let from = self.wire.reply(Stage::Mail).await?;
        let to = self.wire.reply(Stage::Rcpt).await?;
        let data = self.wire.reply(Stage::Data).await?;
        let refused = require(Stage::Mail, 2, &from).and(require(Stage::Rcpt, 2, &to));
        if refused.is_err() && data.code == 354 {
            self.wire.write(Stage::Content, b".\r\n").await?;
            self.wire.reply(Stage::Content).await?;
        }
        refused.and(require(Stage::Data, 3, &data))
    }

    async fn content(&mut self, content: &[u8]) -> Result<(), Failure> {
        self.output.clear();
        stuff(content, &mut self.output);
        self.wire.command(Stage::Content, &self.output, 2).await.map(drop)
    }
}

async fn authenticate(wire: &mut Wire, login: &Login) -> Result<Reply, Failure> {
    let line = |text: String| format!("{text}\r\n").into_bytes();
    match login.mechanism {
        Mechanism::Plain => {
            let message = format!("\0{}\0{}", login.user, login.password);
            let command = line(format!("AUTH PLAIN {}", BASE64.encode(message.as_bytes())));
            wire.command(Stage::Auth, &command, 2).await
        }
        Mechanism::Login => {
            wire.command(Stage::Auth, b"AUTH LOGIN\r\n", 3).await?;
            let user = line(BASE64.encode(login.user.as_bytes()));
            wire.command(Stage::Auth, &user, 3).await?;
            let password = line(BASE64.encode(login.password.as_bytes()));
            wire.command(Stage::Auth, &password, 2).await
        }
    }
}

/// Doubles the dot at the start of a line and ends the message (RFC 5321 section 4.5.2).
fn stuff(content: &[u8], out: &mut Vec<u8>) {
    if content.starts_with(b".") {
        out.push(b'.');
    }
    let mut copied = 0;
    for line_end in memmem::find_iter(content, b"\n.") {
        out.extend_from_slice(&content[copied..=line_end]);
        out.push(b'.');
        copied = line_end + 1;
    }
    out.extend_from_slice(&content[copied..]);
    if !(out.is_empty() || out.ends_with(b"\r\n")) {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
}

#[cfg(test)]
mod tests;
