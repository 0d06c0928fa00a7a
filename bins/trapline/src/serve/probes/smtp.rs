//! A mail from this process to its own listener (RFC 5321), which is read back.

use std::{net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines, Take},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};
use trapline_app::{Probe, ProbeMail, Status};
use trapline_model::{Component, MessageId};

/// The most bytes of replies that are read.
const MAX_REPLIES: u64 = 64 << 10;

/// Whether mail is accepted and can be read.
pub(super) struct SmtpProbe {
    pub(super) status: Arc<Status>,
    pub(super) listener: SocketAddr,
    /// Whether the listener wants to be told who a client is.
    pub(super) is_proxied: bool,
}

#[async_trait]
impl Probe for SmtpProbe {
    fn component(&self) -> Component {
        Component::Smtp
    }

    async fn take(&self) -> Result<(), String> {
        let mail = self.status.probe_mail().await.map_err(|error| error.to_string())?;
        let accepted = send(self.listener, self.is_proxied, &mail).await?;
        let (Some(id), Some(token)) = (accepted, &mail.token) else { return Ok(()) };
        let read = self.status.mail_returned(id, token).await;
        read.map_err(|error| format!("an accepted mail was not read: {error}"))
    }
}

/// The id of the message that was accepted, if one was sent.
async fn send(
    to: SocketAddr,
    is_proxied: bool,
    mail: &ProbeMail,
) -> Result<Option<MessageId>, String> {
    let mut session = Session::open(to, is_proxied).await?;
    session.command("EHLO localhost", "250").await?;
    session.command("MAIL FROM:<>", "250").await?;
    session.command(&format!("RCPT TO:<{}>", mail.recipient), "250").await?;
    let Some(token) = &mail.token else {
        session.command("QUIT", "221").await?;
        return Ok(None);
    };
    session.command("DATA", "354").await?;
    let message = format!("Subject: Probe\r\nFrom: probe@localhost\r\n\r\n{token}\r\n.");
    let reply = session.command(&message, "250").await?;
    session.command("QUIT", "221").await?;
    let id = reply.rsplit(' ').next().and_then(|id| id.parse().ok());
    id.map(Some).ok_or_else(|| "the reply to a mail has no id".to_owned())
}

struct Session {
    replies: Lines<BufReader<Take<OwnedReadHalf>>>,
    commands: OwnedWriteHalf,
}

impl Session {
    async fn open(to: SocketAddr, is_proxied: bool) -> Result<Self, String> {
        let none = |error| format!("no connection: {error}");
        let mut connection = TcpStream::connect(to).await.map_err(none)?;
        if is_proxied {
            // The process itself, which is nobody's load balancer.
            connection.write_all(b"PROXY UNKNOWN\r\n").await.map_err(none)?;
        }
        let (replies, commands) = connection.into_split();
        let replies = BufReader::new(replies.take(MAX_REPLIES)).lines();
        let mut session = Self { replies, commands };
        session.reply("the greeting", "220").await?;
        Ok(session)
    }

    async fn command(&mut self, command: &str, wanted: &str) -> Result<String, String> {
        let verb = command.split([' ', ':', '\r']).next().unwrap_or_default();
        let written = self.commands.write_all(format!("{command}\r\n").as_bytes()).await;
        written.map_err(|error| format!("{verb}: {error}"))?;
        self.reply(verb, wanted).await
    }

    /// The last line of the reply, which is to have this code.
    async fn reply(&mut self, to: &str, wanted: &str) -> Result<String, String> {
        loop {
            let line = self.replies.next_line().await.map_err(|error| format!("{to}: {error}"))?;
            let line = line.ok_or_else(|| format!("{to}: the session ended"))?;
            match line.as_bytes().get(3) {
                Some(b'-') => {}
                _ if line.starts_with(wanted) => return Ok(line),
                _ => return Err(format!("{to} was answered {}", line.get(..3).unwrap_or("?"))),
            }
        }
    }
}
