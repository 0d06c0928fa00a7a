//! A raw SMTP client: it sends exactly what it is told to, and reads reply by reply.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use data_encoding::BASE64;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};
use tokio_rustls::TlsConnector;

use crate::{dot_stuff, guarded};

/// A reply, all its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The three digits.
    pub code: u16,
    /// The texts behind the code.
    pub lines: Vec<String>,
}

impl Reply {
    /// The message ids in the reply to DATA or to the last BDAT.
    pub fn ids(&self) -> Vec<String> {
        let is_id =
            |word: &&str| word.len() == 52 && word.bytes().all(|b| b.is_ascii_alphanumeric());
        self.lines[0].split_whitespace().filter(is_id).map(str::to_owned).collect()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.lines.join(" / "))
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection.
pub struct Smtp {
    stream: Box<dyn Stream>,
    received: Vec<u8>,
    said: String,
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Smtp").field("said", &self.said).finish_non_exhaustive()
    }
}

impl Smtp {
    /// Connects, and reads nothing.
    pub async fn dial(address: SocketAddr) -> Self {
        let stream = guarded("a connection", TcpStream::connect(address)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self::over(stream)
    }

    /// Connects from `source`, and reads nothing.
    pub async fn dial_from(source: IpAddr, address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((source, 0).into()).unwrap();
        let stream = guarded("a connection", socket.connect(address)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self::over(stream)
    }

    /// Connects from `source`, and reads the greeting.
    pub async fn connect_from(source: IpAddr, address: SocketAddr) -> Self {
        let mut smtp = Self::dial_from(source, address).await;
        smtp.expect(220).await;
        smtp
    }

    /// Connects, and reads the greeting.
    pub async fn connect(address: SocketAddr) -> Self {
        let mut smtp = Self::dial(address).await;
        smtp.expect(220).await;
        smtp
    }

    /// Connects, and says EHLO.
    pub async fn hello(address: SocketAddr) -> Self {
        let mut smtp = Self::connect(address).await;
        smtp.ask("EHLO client.test", 250).await;
        smtp
    }

    /// Connects with implicit TLS, and says EHLO.
    pub async fn hello_tls(address: SocketAddr, tls: &TlsConnector) -> Self {
        let mut smtp = Self::dial(address).await.encrypted(tls).await;
        smtp.expect(220).await;
        smtp.ask("EHLO client.test", 250).await;
        smtp
    }

    fn over(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), received: Vec::new(), said: "(connected)".to_owned() }
    }

    /// Goes on in TLS, as after STARTTLS.
    pub async fn encrypted(self, tls: &TlsConnector) -> Self {
        assert!(self.received.is_empty(), "bytes in the clear before TLS");
        self.try_encrypted(tls).await.unwrap()
    }

    /// The same where the handshake may fail.
    pub async fn try_encrypted(self, tls: &TlsConnector) -> std::io::Result<Self> {
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let stream = guarded("a TLS handshake", tls.connect(name, self.stream)).await?;
        Ok(Self::over(stream))
    }

    /// Sends bytes as they are.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).await.unwrap_or_else(|error| panic!("{self:?}: {error}"));
    }

    /// Sends bytes to a server that may have closed.
    pub async fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        self.said = start;
        guarded("room to send", async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        })
        .await
    }

    /// Sends a command and reads its reply.
    pub async fn command(&mut self, line: &str) -> Reply {
        self.write(format!("{line}\r\n").as_bytes()).await;
        self.reply().await
    }

    /// Sends a command that must get this code.
    pub async fn ask(&mut self, line: &str, code: u16) -> Reply {
        let reply = self.command(line).await;
        assert_eq!(reply.code, code, "{line:?} got {reply}");
        reply
    }

    /// Reads a reply that must have this code.
    pub async fn expect(&mut self, code: u16) -> Reply {
        let reply = self.reply().await;
        assert_eq!(reply.code, code, "after {:?} came {reply}", self.said);
        reply
    }

    /// Reads a reply.
    pub async fn reply(&mut self) -> Reply {
        let reply = guarded("a reply", self.try_reply()).await;
        reply.unwrap_or_else(|| panic!("the connection ended where a reply was due: {self:?}"))
    }

    /// Sends bytes to a server that reads on only when it has memory for them, however long that is.
    pub async fn patient_write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Reads a reply of such a server.
    pub async fn patient_reply(&mut self) -> Reply {
        self.try_reply().await.unwrap_or_else(|| panic!("the connection ended: {self:?}"))
    }

    /// Reads a reply, or `None` when the connection ends.
    pub async fn try_reply(&mut self) -> Option<Reply> {
        let mut lines = Vec::new();
        loop {
            let line = self.line().await?;
            let (code, text) = line.split_at_checked(3)?;
            lines.push(text.get(1..).unwrap_or_default().to_owned());
            if !text.starts_with('-') {
                let code = code.parse();
                return Some(Reply { code: code.unwrap_or_else(|_| panic!("{line:?}")), lines });
            }
        }
    }

    /// Waits until the server closes, and returns the codes of what it said before.
    pub async fn closed(&mut self) -> Vec<u16> {
        guarded("the end of the connection", async {
            let mut codes = Vec::new();
            while let Some(reply) = self.try_reply().await {
                codes.push(reply.code);
            }
            codes
        })
        .await
    }

    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.received.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.received.drain(..end + 2).collect();
                return Some(String::from_utf8(line[..end].to_vec()).unwrap());
            }
            match self.stream.read_buf(&mut self.received).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// AUTH PLAIN with an initial response.
    pub async fn login(&mut self, username: &str, password: &str) {
        let response = BASE64.encode(format!("\0{username}\0{password}").as_bytes());
        self.ask(&format!("AUTH PLAIN {response}"), 235).await;
    }

    /// MAIL, a RCPT for each recipient, and DATA up to its 354.
    pub async fn begin(&mut self, from: &str, to: &[&str]) {
        self.ask(&format!("MAIL FROM:<{from}>"), 250).await;
        for recipient in to {
            self.ask(&format!("RCPT TO:<{recipient}>"), 250).await;
        }
        self.ask("DATA", 354).await;
    }

    /// A whole transaction; returns the ids of the stored messages.
    pub async fn transact(&mut self, from: &str, to: &[&str], raw: &[u8]) -> Vec<String> {
        self.begin(from, to).await;
        self.write(&dot_stuff(raw)).await;
        self.expect(250).await.ids()
    }

    /// A whole transaction with a server that may go away at any moment: `None` when it went away
    /// before its answer to the message came. Where it puts off a recipient (452), that is the answer, and
    /// the session is of no more use.
    pub async fn attempt(&mut self, from: &str, to: &[&str], raw: &[u8]) -> Option<Reply> {
        let to_lines: Vec<_> =
            to.iter().map(|recipient| format!("RCPT TO:<{recipient}>\r\n")).collect();
        let commands = format!("MAIL FROM:<{from}>\r\n{}DATA\r\n", to_lines.concat());
        self.try_write(commands.as_bytes()).await.ok()?;
        for _ in 0..to.len() + 2 {
            let reply = guarded("a reply", self.try_reply()).await?;
            if reply.code == 452 {
                return Some(reply);
            }
            assert!(matches!(reply.code, 250 | 354 | 421), "{reply}");
        }
        self.try_write(&dot_stuff(raw)).await.ok()?;
        guarded("a reply", self.try_reply()).await
    }

    /// QUIT.
    pub async fn quit(mut self) {
        self.ask("QUIT", 221).await;
        assert!(self.closed().await.is_empty());
    }
}
