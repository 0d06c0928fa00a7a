//! The relay of tests of outbound mail: an independent mail server (`mailin`) that remembers what it
//! got, and refuses whom and what it is told to.

#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "it reports what is wrong by panicking in the test that uses it"
)]

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use data_encoding::BASE64;
use mailin_embedded::{AuthMechanism, Handler, Response, Server, SslConfig, response};

/// More than the workers of all deployments of a test run have open at once.
const SESSIONS: u32 = 64;

/// A mail as it came.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// The envelope's sender.
    pub from: String,
    /// The envelope's recipients.
    pub to: Vec<String>,
    /// The message.
    pub bytes: Vec<u8>,
}

impl Received {
    /// The message as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    /// The path of the confirmation link in it, if it is a letter that asks for a confirmation.
    pub fn confirmation(&self) -> Option<String> {
        self.link("/api/forward-addresses/confirm?")
    }

    /// Path and query of the first link in it that has such a path.
    pub fn link(&self, path: &str) -> Option<String> {
        let message = String::from_utf8_lossy(&self.bytes);
        let (_, body) = message.split_once("Content-Transfer-Encoding: base64\r\n\r\n")?;
        let body = body.split("\r\n--").next()?.replace("\r\n", "");
        let text = String::from_utf8(BASE64.decode(body.as_bytes()).ok()?).ok()?;
        let from = text.find(path)?;
        Some(text[from..].split_whitespace().next()?.to_owned())
    }
}

#[derive(Debug, Default)]
struct State {
    received: Vec<Received>,
    /// The replies to recipients that begin with this.
    refused: Vec<(String, u16)>,
    /// Messages in which this is found are refused for good.
    unwanted: Option<&'static str>,
    sessions: usize,
}

/// A mail server; clones are the same one. It ends with the test process.
#[derive(Debug, Clone)]
pub struct MailServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    open: Received,
}

impl MailServer {
    /// Starts one on a port of its own.
    pub fn start() -> Self {
        Self::on(0)
    }

    /// On a port that was free a moment ago.
    pub fn on(port: u16) -> Self {
        Self::listen(port, None)
    }

    /// With STARTTLS by this certificate and key in PEM, and mail for whoever signs in as `ada` with
    /// `pa55`.
    pub fn secured(certificate: &Path, key: &Path) -> Self {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let (cert_path, key_path) = (text(certificate), text(key));
        Self::listen(0, Some(SslConfig::SelfSigned { cert_path, key_path }))
    }

    fn listen(port: u16, ssl: Option<SslConfig>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let address = listener.local_addr().unwrap();
        let this = Self { address, state: Arc::default(), open: Received::default() };
        let mut server = Server::new(this.clone());
        server.with_name("relay.example").with_num_threads(SESSIONS).with_tcp_listener(listener);
        if let Some(ssl) = ssl {
            server.with_ssl(ssl).unwrap().with_auth(AuthMechanism::Plain);
        }
        // It knows no end.
        std::thread::spawn(move || server.serve().unwrap());
        this
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every mail, in the order in which they came.
    pub fn received(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    /// The mails to a recipient, in the same order.
    pub fn mails(&self, to: &str) -> Vec<Received> {
        let state = self.state();
        let is_to = |mail: &&Received| mail.to.iter().any(|recipient| recipient == to);
        state.received.iter().filter(is_to).cloned().collect()
    }

    /// Answers RCPT with this code for recipients that begin so, from now on.
    pub fn refuse(&self, recipient: &str, code: u16) {
        self.state().refused.push((recipient.to_owned(), code));
    }

    /// Takes mail for these recipients again.
    pub fn relent(&self, recipient: &str) {
        self.state().refused.retain(|(refused, _)| refused != recipient);
    }

    /// Refuses messages in which this is found, from now on.
    pub fn dislike(&self, text: &'static str) {
        self.state().unwanted = Some(text);
    }

    /// How many sessions were begun.
    pub fn sessions(&self) -> usize {
        self.state().sessions
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Handler for MailServer {
    fn helo(&mut self, _: IpAddr, _: &str) -> Response {
        self.state().sessions += 1;
        response::OK
    }

    fn mail(&mut self, _: IpAddr, _: &str, from: &str) -> Response {
        self.open = Received { from: from.to_owned(), ..Received::default() };
        response::OK
    }

    fn rcpt(&mut self, to: &str) -> Response {
        let refused = |state: &State| {
            let refused = state.refused.iter().find(|(begin, _)| to.starts_with(begin));
            refused.map(|(_, code)| *code)
        };
        let code = refused(&self.state());
        if let Some(code) = code {
            return Response::custom(code, "Not now, or never".to_owned());
        }
        self.open.to.push(to.to_owned());
        response::OK
    }

    fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.open.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        let mail = std::mem::take(&mut self.open);
        let text = String::from_utf8_lossy(&mail.bytes).into_owned();
        let mut state = self.state();
        if state.unwanted.is_some_and(|unwanted| text.contains(unwanted)) {
            return Response::custom(550, "5.7.1 Sender is not allowed".to_owned());
        }
        state.received.push(mail);
        response::OK
    }

    fn auth_plain(&mut self, _: &str, name: &str, password: &str) -> Response {
        if (name, password) == ("ada", "pa55") {
            response::AUTH_OK
        } else {
            response::INVALID_CREDENTIALS
        }
    }
}
