//! The address that the team's webhook calls: it answers 204, and notes which messages it was told of.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread::spawn,
};

use serde_json::Value;

/// Ids of the messages that it was called for.
#[derive(Debug, Default, Clone)]
pub(crate) struct Hooks(Arc<Mutex<BTreeSet<String>>>);

impl Hooks {
    /// Listens until the program ends.
    pub(crate) fn listen(ip: Ipv4Addr) -> (Self, SocketAddr) {
        let (hooks, listener) = (Self::default(), TcpListener::bind((ip, 0)).unwrap());
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

    pub(crate) fn missing(&self, ids: &BTreeSet<String>) -> usize {
        ids.difference(&self.0.lock().unwrap()).count()
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
                self.0.lock().unwrap().insert(id.to_owned());
            }
            connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
        }
    }
}
