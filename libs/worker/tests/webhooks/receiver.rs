//! An HTTP receiver that does as it is told.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// What to do with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Answer with a status and more header lines.
    Answer(u16, &'static str),
    /// Take the request and say nothing.
    Hang,
    /// Answer 200 and send the body forever, a little at a time or as fast as it goes.
    Endless(Duration),
    /// Break off without an answer.
    Reset,
    /// Answer with something that is not HTTP.
    Babble,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// Does each act once, and the last one for every further request.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) port: u16,
    acts: Arc<Mutex<VecDeque<Act>>>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    pub(crate) async fn start(acts: &[Act]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let acts = Arc::new(Mutex::new(acts.iter().cloned().collect()));
        let receiver = Self { port, acts, requests: Arc::default() };
        let serving = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    fn next(&self) -> Act {
        let mut acts = self.acts.lock().unwrap();
        if acts.len() > 1 { acts.pop_front().unwrap() } else { acts[0].clone() }
    }

    async fn serve(self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(request) = read(&mut stream).await {
            let act = self.next();
            self.requests.lock().unwrap().push(request);
            match act {
                Act::Answer(status, more) => {
                    let head = format!("HTTP/1.1 {status} X\r\n{more}Content-Length: 0\r\n\r\n");
                    stream.write_all(head.as_bytes()).await.unwrap();
                }
                Act::Hang => std::future::pending().await,
                Act::Endless(pause) => {
                    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                    stream.write_all(head.as_bytes()).await.unwrap();
                    while stream.write_all(b"4\r\nmore\r\n").await.is_ok() {
                        tokio::time::sleep(pause).await;
                    }
                    return;
                }
                Act::Reset => return,
                Act::Babble => {
                    // Nobody may be there any more to read it.
                    stream.write_all(b"220 mail.example ESMTP\r\n").await.unwrap_or_default();
                    return;
                }
            }
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|length| *length > 0)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut request = Request { line: line.trim_end().to_owned(), headers, body: String::new() };
    let mut body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    request.body = String::from_utf8(body).unwrap();
    Some(request)
}
