//! An independent mail server (`mailin`) that remembers what it got and refuses whom it is told to.

use std::{
    io,
    net::{IpAddr, TcpListener},
    sync::{Arc, Mutex},
};

use mailin_embedded::{AuthMechanism, Handler, Response, Server, SslConfig, response};

/// A mail as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) bytes: Vec<u8>,
}

impl Received {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }
}

#[derive(Debug, Default)]
struct State {
    received: Vec<Received>,
    /// The reply to recipients that begin with this.
    refused: Vec<(&'static str, u16)>,
    /// Messages in which this is found are refused for good.
    unwanted: Option<&'static str>,
    sessions: usize,
}

/// One server; clones share what they know.
#[derive(Clone)]
pub(crate) struct MailServer {
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
    open: Received,
}

impl MailServer {
    pub(crate) fn start() -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").unwrap(), None)
    }

    /// On a port that was free a moment ago.
    pub(crate) fn on(port: u16) -> Self {
        Self::listen(TcpListener::bind(("127.0.0.1", port)).unwrap(), None)
    }

    /// With STARTTLS, and mail for whoever signs in as `ada` with `pa55`.
    pub(crate) fn secured(ssl: SslConfig) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").unwrap(), Some(ssl))
    }

    fn listen(listener: TcpListener, ssl: Option<SslConfig>) -> Self {
        let port = listener.local_addr().unwrap().port();
        let this = Self { port, state: Arc::default(), open: Received::default() };
        let mut server = Server::new(this.clone());
        server.with_name("receiver.example").with_num_threads(8).with_tcp_listener(listener);
        if let Some(ssl) = ssl {
            server.with_ssl(ssl).unwrap().with_auth(AuthMechanism::Plain);
        }
        // It knows no end; it goes with the process.
        std::thread::spawn(move || server.serve().unwrap());
        this
    }

    /// From now on, and instead of what was said before.
    pub(crate) fn refuse(&self, refused: &[(&'static str, u16)]) {
        self.state.lock().unwrap().refused = refused.to_vec();
    }

    pub(crate) fn dislike(&self, text: &'static str) {
        self.state.lock().unwrap().unwanted = Some(text);
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.lock().unwrap().received.clone()
    }

    pub(crate) fn sessions(&self) -> usize {
        self.state.lock().unwrap().sessions
    }
}

impl Handler for MailServer {
    fn helo(&mut self, _: IpAddr, _: &str) -> Response {
        self.state.lock().unwrap().sessions += 1;
        response::OK
    }

    fn mail(&mut self, _: IpAddr, _: &str, from: &str) -> Response {
        self.open = Received { from: from.to_owned(), ..<_>::default() };
        response::OK
    }

    fn rcpt(&mut self, to: &str) -> Response {
        let state = self.state.lock().unwrap();
        let refused = state.refused.iter().find(|(begin, _)| to.starts_with(begin));
        if let Some((_, code)) = refused {
            return Response::custom(*code, "Not now, or never".to_owned());
        }
        self.open.to.push(to.to_owned());
        response::OK
    }

    fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.open.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        let mut state = self.state.lock().unwrap();
        let text = String::from_utf8_lossy(&self.open.bytes);
        if state.unwanted.is_some_and(|unwanted| text.contains(unwanted)) {
            return Response::custom(550, "5.7.1 Sender is not allowed".to_owned());
        }
        state.received.push(std::mem::take(&mut self.open));
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
