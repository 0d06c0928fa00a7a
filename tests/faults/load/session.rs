//! One SMTP connection of a mail transfer agent, with its view of what may go wrong.

use std::{net::SocketAddr, time::Duration};

use data_encoding::BASE64;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::TcpStream,
    time::timeout,
};
use trapline_tests::{Inbox, Reply, dot_stuff};

use super::PATIENCE;

const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Why a mail was not accepted.
#[derive(Debug)]
pub(crate) enum Failure {
    /// 4yz: to be sent again.
    TryAgain,
    /// The connection was not made, ended, or stayed silent.
    Broken,
    /// Anything else, which is wrong.
    Wrong(String),
}

pub(crate) struct Session {
    stream: BufStream<TcpStream>,
    pub(crate) address: SocketAddr,
}

impl Session {
    /// Connects and says EHLO, and logs in if an inbox is given.
    pub(crate) async fn open(address: SocketAddr, login: Option<&Inbox>) -> Result<Self, Failure> {
        let connected = timeout(CONNECT_WITHIN, TcpStream::connect(address)).await;
        let stream = connected.ok().and_then(Result::ok).ok_or(Failure::Broken)?;
        stream.set_nodelay(true).map_err(|_| Failure::Broken)?;
        let mut session = Self { stream: BufStream::new(stream), address };
        session.expect(220).await?;
        session.ask("EHLO mta.test", 250).await?;
        if let Some(inbox) = login {
            let response = format!("\0{}\0{}", inbox.username, inbox.password);
            let command = format!("AUTH PLAIN {}", BASE64.encode(response.as_bytes()));
            session.ask(&command, 235).await?;
        }
        Ok(session)
    }

    /// A transaction: the stored message's id.
    pub(crate) async fn mail(&mut self, to: &str, raw: &[u8]) -> Result<String, Failure> {
        self.ask("MAIL FROM:<app@example.test>", 250).await?;
        self.ask(&format!("RCPT TO:<{to}>"), 250).await?;
        self.ask("DATA", 354).await?;
        self.write(&dot_stuff(raw)).await?;
        let reply = self.expect(250).await?;
        let [id] = reply.ids().try_into().map_err(|_| Failure::Wrong(reply.to_string()))?;
        Ok(id)
    }

    async fn ask(&mut self, command: &str, code: u16) -> Result<(), Failure> {
        self.write(format!("{command}\r\n").as_bytes()).await?;
        self.expect(code).await.map(drop)
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let write = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        let written = timeout(PATIENCE, write).await;
        written.ok().and_then(Result::ok).ok_or(Failure::Broken)
    }

    async fn expect(&mut self, code: u16) -> Result<Reply, Failure> {
        let read = timeout(PATIENCE, self.reply()).await;
        let reply = read.ok().flatten().ok_or(Failure::Broken)?;
        match reply.code {
            found if found == code => Ok(reply),
            400..500 => Err(Failure::TryAgain),
            _ => Err(Failure::Wrong(format!("{reply} where {code} was due"))),
        }
    }

    async fn reply(&mut self) -> Option<Reply> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await.ok()?;
            let (code, text) = line.trim_end().split_at_checked(3)?;
            lines.push(text.get(1..).unwrap_or_default().to_owned());
            if !text.starts_with('-') {
                return Some(Reply { code: code.parse().ok()?, lines });
            }
        }
    }
}
