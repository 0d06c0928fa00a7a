//! The API by the listener that speaks TLS itself, under the CA that the API hands out.

mod attacks;

use std::{io, net::SocketAddr};

use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use trapline_tests::{Deployment, Mail, deliver, guarded, tls_connector};

/// Where HTTPS is, and a connector that trusts the server's own CA.
struct Https {
    address: SocketAddr,
    connector: TlsConnector,
}

impl Https {
    /// One for each process that serves the API.
    async fn all(server: &Deployment) -> Vec<Self> {
        let ca = server.anonymous().get("/api/smtp/ca.pem").await.expect(200);
        let connector = tls_connector(ca.text());
        let addresses = server.https().into_iter();
        addresses.map(|address| Self { address, connector: connector.clone() }).collect()
    }

    /// The session of a client that has connected, and expects this name.
    async fn handshake(&self, stream: TcpStream, name: &str) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        guarded("a handshake", self.connector.connect(name, stream)).await
    }

    async fn open(&self, name: &str) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        self.handshake(stream, name).await.unwrap()
    }

    /// The answer to a request with these further fields, and its body.
    async fn ask(&self, request: &str, fields: &str) -> (String, Value) {
        let mut stream = self.open("localhost").await;
        let head = format!("{request} HTTP/1.1\r\nHost: localhost:{}\r\n", self.address.port());
        let head = format!("{head}Connection: close\r\n{fields}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        guarded("an answer", stream.read_to_string(&mut answer)).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), serde_json::from_str(body).unwrap_or_default())
    }
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

#[tokio::test]
async fn the_api_is_served_over_tls_too() {
    let server = Deployment::with(&["--metrics-token", "metrics"]);
    let rest = server.rest();
    let key = bearer(server.team().key());
    let all = Https::all(&server).await;
    assert!(!all.is_empty());
    for https in all {
        for name in ["localhost", "127.0.0.1", "::1"] {
            https.open(name).await;
        }
        let (head, health) = https.ask("GET /api/health", "").await;
        assert!(head.starts_with("HTTP/1.1 200 ") && health.is_object(), "{head} {health}");
        // A wait is parked, and found by a mail that comes meanwhile.
        let inbox = rest.inbox().await;
        let wait = format!("GET {}", inbox.path("/messages/wait?timeout=60"));
        let mail = Mail::new("sealed", "x");
        let delivered = async {
            server.until_parked(1).await;
            deliver(&server, &inbox, &mail).await
        };
        let ((head, found), id) = tokio::join!(https.ask(&wait, &key), delivered);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert_eq!(found["message"]["id"], json!(id), "{found}");
    }
}
