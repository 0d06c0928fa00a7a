//! Both listeners of a server: what comes over TLS is served as any other, and within the same bounds.

use rcgen::generate_simple_self_signed;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{PrivateKeyDer, ServerName},
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{
    deferred::{Gate, LARGE},
    *,
};

/// A server that listens with TLS and without, until this is dropped.
struct Both {
    plain: Server,
    tls: SocketAddr,
    connector: TlsConnector,
}

impl Both {
    async fn start(limits: Limits, router: Router) -> Self {
        let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder().with_no_client_auth();
        let config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0"));
        let [plain, tls] = listeners;
        let (plain, tls) = (plain.await.unwrap(), tls.await.unwrap());
        let addresses = [&plain, &tls].map(|listener| listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let server = HttpServer::new(router, limits, BodyMemory::new(1 << 30), shutdown.clone());
        tokio::spawn(server.clone().serve(plain));
        tokio::spawn(server.serve_tls(tls, Arc::new(config)));
        Self {
            plain: Server { address: addresses[0], _stop: shutdown.drop_guard() },
            tls: addresses[1],
            connector: Arc::new(client).into(),
        }
    }

    async fn with(limits: Limits) -> Self {
        Self::start(limits, Router::new().route("/ok", get(async || "ok"))).await
    }

    /// A connection to the port of TLS, before any handshake.
    async fn knock(&self, from: [u8; 4]) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        socket.connect(self.tls).await.unwrap()
    }

    async fn handshake(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from("localhost").unwrap();
        timeout(self.connector.connect(name, stream)).await
    }

    /// Asks without TLS until this is the status.
    async fn answers(&self, from: [u8; 4], status: u16) {
        let line = format!("HTTP/1.1 {status} ");
        timeout(async { while !ask(&mut self.plain.dial(from).await).await.starts_with(&line) {} })
            .await;
    }

    async fn dial(&self) -> TlsStream<TcpStream> {
        self.handshake(self.knock(ONE).await).await.unwrap()
    }
}

#[tokio::test]
async fn answers_over_tls_are_those_without() {
    let gate = Gate::new();
    let server = Both::start(Limits::default(), gate.router()).await;
    let mut stream = server.dial().await;
    for _ in 0..2 {
        send(&mut stream, "GET /later HTTP/1.1\r\nhost: x\r\n\r\n").await;
        gate.one_waits().await;
        // The next request begins to come while the answer to this one is awaited.
        send(&mut stream, "GET /large HTTP/1.1\r\n").await;
        gate.let_one_end();
        let said = answer(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.ends_with("\r\n\r\nok"), "{said}");
        send(&mut stream, "host: x\r\n\r\n").await;
        let mut large = vec![0; LARGE];
        timeout(stream.read_exact(&mut large)).await.unwrap();
        assert!(large.starts_with(b"HTTP/1.1 200 OK\r\n"));
        let head = large.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        timeout(stream.read_exact(&mut large[..head])).await.unwrap();
    }
}

#[tokio::test]
async fn the_work_for_a_client_that_leaves_over_tls_ends() {
    for leaves in [false, true] {
        let gate = Gate::new();
        let server = Both::start(Limits::default(), gate.router()).await;
        let mut stream = server.dial().await;
        send(&mut stream, "GET /later HTTP/1.1\r\nhost: x\r\n\r\n").await;
        gate.one_waits().await;
        if leaves {
            drop(stream);
        } else {
            stream.shutdown().await.unwrap();
        }
        timeout(gate.gone.cancelled()).await;
    }
}

#[tokio::test]
async fn a_client_that_reads_nothing_over_tls_is_cut() {
    let gate = Gate::new();
    let limits = Limits { write: SHORT, connections: 1, ..Limits::default() };
    let router = gate.router().route("/ok", get(async || "ok"));
    let server = Both::start(limits, router).await;
    let mut stream = server.dial().await;
    send(&mut stream, "GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await;
    // Its place is free once it is cut.
    server.answers(TWO, 200).await;
}

#[tokio::test]
async fn a_stalled_handshake_has_a_place_and_is_cut() {
    let handshake = Duration::from_secs(2);
    let limits = Limits { handshake, connections: 3, per_address: 2, ..Limits::default() };
    let server = Both::with(limits).await;
    let (mut silent, mut slow) = (server.knock(ONE).await, server.knock(ONE).await);
    // The head of a TLS record, and nothing more.
    slow.write_all(&[22, 3, 1, 2, 0]).await.unwrap();
    server.answers(ONE, 503).await;
    server.answers(TWO, 200).await;
    for stalled in [&mut silent, &mut slow] {
        // Whatever alert comes, the end comes behind it.
        drop(timeout(stream_end(stalled)).await);
    }
    server.answers(ONE, 200).await;
}

async fn stream_end(stream: &mut TcpStream) -> io::Result<usize> {
    stream.read_to_end(&mut Vec::new()).await
}

#[tokio::test]
async fn beyond_the_bounds_a_handshake_is_not_begun() {
    let server = Both::with(Limits { per_address: 1, ..Limits::default() }).await;
    let mut open = server.plain.dial(ONE).await;
    assert!(ask(&mut open).await.starts_with("HTTP/1.1 200 "));
    assert!(server.handshake(server.knock(ONE).await).await.is_err());
    let mut other = server.handshake(server.knock(TWO).await).await.unwrap();
    assert!(ask(&mut other).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn whoever_speaks_without_tls_is_told_so() {
    let server = Both::with(Limits::default()).await;
    for text in
        ["GET /ok HTTP/1.1\r\nhost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "EHLO x\r\n"]
    {
        let mut stream = server.knock(ONE).await;
        send(&mut stream, text).await;
        let said = answer(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{text:?}: {said}");
        assert!(said.contains("https_required"), "{text:?}: {said}");
    }
    // TLS at the port without.
    let stream = server.plain.dial(ONE).await;
    assert_eq!(server.handshake(stream).await.unwrap_err().kind(), io::ErrorKind::InvalidData);
}
