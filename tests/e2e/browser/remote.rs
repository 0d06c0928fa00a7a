//! The rest of the network, as a hostile page sees it: a host that answers everything and notes who
//! came.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use data_encoding::BASE64;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// One transparent pixel.
pub(super) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[derive(Debug, Default)]
struct Seen {
    connections: usize,
    paths: Vec<String>,
}

/// A listener on a port of its own.
#[derive(Debug)]
pub(super) struct Remote {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    server: JoinHandle<()>,
}

impl Remote {
    /// Listens. `page` is what it answers for `/page`.
    pub(super) async fn start(page: impl FnOnce(&str) -> String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let page: Arc<str> = page(&format!("http://{address}")).into();
        let seen = Arc::<Mutex<Seen>>::default();
        let noted = seen.clone();
        let server = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                noted.lock().unwrap().connections += 1;
                tokio::spawn(serve(stream, page.clone(), noted.clone()));
            }
        });
        Self { address, seen, server }
    }

    /// Its URL, without a slash at the end.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many connections it took.
    pub(super) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    /// The first part of each path that was asked for, without its extension.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let name = |path: &String| {
            let part = path.trim_start_matches('/').split(['/', '.', '?']).next();
            part.unwrap_or_default().to_owned()
        };
        self.seen.lock().unwrap().paths.iter().map(name).collect()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut stream: TcpStream, page: Arc<str>, seen: Arc<Mutex<Seen>>) {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read_buf(&mut head).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let (content_type, body) = answer(&path, &page);
    seen.lock().unwrap().paths.push(path);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
         Access-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A browser may have gone away.
    drop(stream.write_all(&[head.as_bytes(), &body].concat()).await);
}

fn answer(path: &str, page: &str) -> (&'static str, Vec<u8>) {
    match path {
        "/page" => ("text/html", page.into()),
        path if path.contains(".js") => ("text/javascript", Vec::new()),
        _ => ("image/png", BASE64.decode(PIXEL.as_bytes()).unwrap()),
    }
}
