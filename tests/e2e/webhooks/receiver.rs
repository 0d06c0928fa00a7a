//! HTTP servers that do as they are told.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use serde_json::Value;
use sha2::Sha256;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// What to do with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Answer with a status and more header lines.
    Answer(u16, String),
    /// Take the request and say nothing.
    Hang,
    /// Answer 200 and send a body without an end, this long between its parts.
    Endless(Duration),
    /// Break the connection off (RST).
    Reset,
    /// Answer with something that is not HTTP.
    Babble,
    /// Answer 200 where the field with this name is the body's HMAC-SHA256 with this key, in base64, and 401 else.
    Check(&'static str, String),
}

impl Act {
    pub(crate) fn answer(status: u16) -> Self {
        Self::Answer(status, String::new())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// A field by its name in lower case, or `""`.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The id of the message that it tells of.
    pub(crate) fn message(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap();
        body["message"]["id"].as_str().unwrap().to_owned()
    }
}

/// A server that belongs to the test's runtime; clones are the same one.
#[derive(Clone)]
pub(crate) struct Receiver {
    address: SocketAddr,
    scheme: &'static str,
    acts: Arc<Vec<Act>>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    /// Does each act once, and the last one for every further request.
    pub(crate) async fn start(acts: &[Act]) -> Self {
        let (receiver, listener) = Self::bind(acts, "http").await;
        let serving = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve_tcp(stream).await });
            }
        });
        receiver
    }

    /// The same with TLS and a certificate that nobody vouches for.
    pub(crate) async fn self_signed(acts: &[Act]) -> Self {
        let (receiver, listener) = Self::bind(acts, "https").await;
        let (serving, acceptor) = (receiver.clone(), acceptor());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (serving, acceptor) = (serving.clone(), acceptor.clone());
                tokio::spawn(async move {
                    // Clients that do not trust it break off.
                    let stream = acceptor.accept(stream).await.ok()?;
                    serving.serve(&mut BufReader::new(stream)).await
                });
            }
        });
        receiver
    }

    async fn bind(acts: &[Act], scheme: &'static str) -> (Self, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acts = Arc::new(acts.to_vec());
        (Self { address, scheme, acts, requests: Arc::default() }, listener)
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://{}/hook", self.scheme, self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    async fn serve_tcp(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        if let Some(Act::Reset) = self.serve(&mut stream).await {
            socket2::SockRef::from(stream.get_ref()).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }

    /// Serves a connection until one end breaks off; `None` when that was the client.
    async fn serve(
        &self,
        stream: &mut BufReader<impl AsyncRead + AsyncWrite + Unpin>,
    ) -> Option<Act> {
        loop {
            let request = read(stream).await?;
            let act = self.note(request.clone());
            match act {
                Act::Answer(status, more) => {
                    let head = format!("HTTP/1.1 {status} X\r\n{more}Content-Length: 0\r\n\r\n");
                    write(stream, head.as_bytes()).await?;
                }
                Act::Check(name, key) => {
                    let status = if is_signed(&request, name, &key) { 200 } else { 401 };
                    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
                    write(stream, head.as_bytes()).await?;
                }
                Act::Hang => std::future::pending().await,
                Act::Endless(pause) => {
                    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                    write(stream, head.as_bytes()).await?;
                    loop {
                        write(stream, b"4\r\nmore\r\n").await?;
                        tokio::time::sleep(pause).await;
                    }
                }
                Act::Babble => write(stream, b"220 mail.example ESMTP\r\n").await?,
                Act::Reset => return Some(act),
            }
        }
    }

    /// Keeps a request, and says what to do with it.
    fn note(&self, request: Request) -> Act {
        let mut requests = self.requests.lock().unwrap();
        requests.push(request);
        self.acts[requests.len().min(self.acts.len()) - 1].clone()
    }
}

fn is_signed(request: &Request, name: &str, key: &str) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(&request.body);
    let given = BASE64.decode(request.header(name).as_bytes());
    given.is_ok_and(|given| mac.verify_slice(&given).is_ok())
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Option<()> {
    stream.write_all(bytes).await.ok()?;
    stream.flush().await.ok()
}

async fn read(stream: &mut BufReader<impl AsyncRead + Unpin>) -> Option<Request> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|length| *length > 0)?;
        if line.trim().is_empty() {
            break;
        }
        head.push(line);
    }
    let fields = head.iter().filter_map(|line| line.trim_end().split_once(": "));
    let headers = fields.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let mut request = Request { headers, body: Vec::new() };
    let length = request.header("content-length");
    request.body = vec![0; if length.is_empty() { 0 } else { length.parse().ok()? }];
    stream.read_exact(&mut request.body).await.ok()?;
    Some(request)
}

fn acceptor() -> TlsAcceptor {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate], key).unwrap()))
}
