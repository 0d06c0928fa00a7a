//! The address that webhooks call: it answers 204, and counts the calls for each message.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread::spawn,
};

use serde_json::Value;

/// Calls by the id of the message.
#[derive(Debug, Default, Clone)]
pub struct Hooks(Arc<Mutex<BTreeMap<String, usize>>>);

impl Hooks {
    /// Listens until the program ends.
    pub fn listen(ip: Ipv4Addr) -> (Self, SocketAddr) {
        Self::at(SocketAddr::from((ip, 0)))
    }

    /// The same at an address with a port.
    pub fn at(address: SocketAddr) -> (Self, SocketAddr) {
        let (hooks, listener) = (Self::default(), TcpListener::bind(address).unwrap());
        let address = listener.local_addr().unwrap();
        let called = hooks.clone();
        spawn(move || {
            for connection in listener.incoming().flatten() {
                let called = called.clone();
                // A connection that breaks is the worker's to repeat.
                spawn(move || called.serve(&connection));
            }
        });
        (hooks, address)
    }

    /// Of these messages, those that it was not called for.
    pub fn missing(&self, ids: &BTreeSet<String>) -> usize {
        let calls = self.0.lock().unwrap();
        ids.iter().filter(|id| !calls.contains_key(*id)).count()
    }

    /// Messages that it was called for.
    pub fn called(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Calls for messages that it had been called for already.
    pub fn repeated(&self) -> usize {
        self.0.lock().unwrap().values().map(|calls| calls - 1).sum()
    }

    /// Forgets all calls, for another installation that has the same receiver.
    pub fn forget(&self) {
        self.0.lock().unwrap().clear();
    }

    fn serve(&self, mut connection: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(connection);
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).ok()? == 0 {
                    return None;
                }
                let line = line.trim_end().to_ascii_lowercase();
                if line.is_empty() {
                    break;
                }
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().ok()?;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            let body: Value = serde_json::from_slice(&body).ok()?;
            if let Some(id) = body["message"]["id"].as_str() {
                *self.0.lock().unwrap().entry(id.to_owned()).or_default() += 1;
            }
            connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
        }
    }
}
