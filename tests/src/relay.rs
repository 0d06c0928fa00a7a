//! The relay of the servers under test: an independent mail server (`mailin`) that remembers what it
//! got, and refuses whom it is told to.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    sync::{Arc, LazyLock, Mutex},
};

use data_encoding::BASE64;
use mailin_embedded::{Handler, Response, Server, response};

/// More than the workers of all deployments of a test run have open at once.
const SESSIONS: u32 = 64;

static SHARED: LazyLock<Relay> = LazyLock::new(Relay::start);

/// A mail as it came.
#[derive(Debug, Clone, Default)]
pub struct Relayed {
    /// The envelope's sender.
    pub from: String,
    /// The envelope's recipient.
    pub to: String,
    /// The message.
    pub bytes: Vec<u8>,
}

impl Relayed {
    /// The path of the confirmation link in it, if it is a letter that asks for a confirmation.
    pub fn confirmation(&self) -> Option<String> {
        let message = String::from_utf8_lossy(&self.bytes);
        let (_, body) = message.split_once("Content-Transfer-Encoding: base64\r\n\r\n")?;
        let body = body.split("\r\n--").next()?.replace("\r\n", "");
        let text = String::from_utf8(BASE64.decode(body.as_bytes()).ok()?).ok()?;
        let from = text.find("/api/forward-addresses/confirm?")?;
        Some(text[from..].split_whitespace().next()?.to_owned())
    }
}

#[derive(Debug, Default)]
struct State {
    received: Vec<Relayed>,
    /// The replies to recipients.
    refused: Vec<(String, u16)>,
}

/// A mail server; clones are the same one. It ends with the test process.
#[derive(Debug, Clone)]
pub struct Relay {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    open: Relayed,
}

impl Relay {
    /// Starts one on a port of its own.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let this = Self { address, state: Arc::default(), open: Relayed::default() };
        let mut server = Server::new(this.clone());
        server.with_name("relay.example").with_num_threads(SESSIONS).with_tcp_listener(listener);
        // It knows no end.
        std::thread::spawn(move || server.serve().unwrap());
        this
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The mails to a recipient, in the order in which they came.
    pub fn mails(&self, to: &str) -> Vec<Relayed> {
        let state = self.state.lock().unwrap();
        state.received.iter().filter(|mail| mail.to == to).cloned().collect()
    }

    /// Answers RCPT for this recipient with this code from now on.
    pub fn refuse(&self, to: &str, code: u16) {
        self.state.lock().unwrap().refused.push((to.to_owned(), code));
    }

    /// Takes mail for this recipient again.
    pub fn relent(&self, to: &str) {
        self.state.lock().unwrap().refused.retain(|(refused, _)| refused != to);
    }
}

impl Handler for Relay {
    fn mail(&mut self, _: IpAddr, _: &str, from: &str) -> Response {
        self.open = Relayed { from: from.to_owned(), ..Relayed::default() };
        response::OK
    }

    fn rcpt(&mut self, to: &str) -> Response {
        let state = self.state.lock().unwrap();
        if let Some((_, code)) = state.refused.iter().find(|(refused, _)| refused == to) {
            return Response::custom(*code, "Not now, or never".to_owned());
        }
        to.clone_into(&mut self.open.to);
        response::OK
    }

    fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.open.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        self.state.lock().unwrap().received.push(std::mem::take(&mut self.open));
        response::OK
    }
}

/// The relay of the shared deployment. Tests have recipients of their own there.
pub fn shared_relay() -> &'static Relay {
    &SHARED
}

/// The settings that lead to a relay.
pub fn relay_flags(address: SocketAddr) -> Vec<String> {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let flags = ["--relay-host", &host, "--relay-port", &port, "--relay-tls", "none"];
    let from = ["--relay-from", "no-reply@mail.example"];
    flags.into_iter().chain(from).map(str::to_owned).collect()
}
