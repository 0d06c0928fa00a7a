//! While a stranger attacks, an ordinary client of another team gets an answer to whatever it asks:
//! its mail, its list, its wait and the health of the service.

use std::{collections::VecDeque, io, net::SocketAddr, time::Duration};

use data_encoding::BASE64;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use trapline_tests::{Deployment, Inbox, Mail, Rest, Smtp, deliver_bytes, guarded};

/// No measure of speed: what is not answered by then is not answered.
const BOUND: Duration = Duration::from_secs(15);
/// What the client does, so many times.
const ROUNDS: usize = 4;
/// Where the attack comes from.
const STRANGER: [u8; 4] = [127, 0, 0, 2];

/// A server, its attacker's inbox, and what goes on against it until it is dropped.
struct Attack {
    server: Deployment,
    inbox: Inbox,
    tasks: JoinSet<()>,
}

/// What an attacker needs to know.
#[derive(Clone)]
struct Stranger {
    http: SocketAddr,
    smtp: SocketAddr,
    key: String,
}

impl Attack {
    async fn new() -> Self {
        Self::on(Deployment::start()).await
    }

    async fn on(server: Deployment) -> Self {
        let inbox = server.rest().inbox().await;
        Self { server, inbox, tasks: JoinSet::new() }
    }

    fn stranger(&self) -> Stranger {
        let http = self.server.api()[0].strip_prefix("http://").unwrap().parse().unwrap();
        let key = self.server.team().key().to_owned();
        Stranger { http, smtp: self.server.smtp()[0], key }
    }

    /// Goes on so many times at once, over and over.
    fn goes_on<F: Future<Output = io::Result<()>> + Send + 'static>(
        &mut self,
        times: usize,
        work: impl Fn(Stranger) -> F + Clone + Send + 'static,
    ) {
        for _ in 0..times {
            let (stranger, work) = (self.stranger(), work.clone());
            self.tasks.spawn(async move {
                loop {
                    // What the server refuses or cuts is begun anew.
                    drop(work(stranger.clone()).await);
                    sleep(Duration::from_millis(5)).await;
                }
            });
        }
    }

    /// Asks for `path` over and over on so many connections, and reads the answers.
    fn asks_for(&mut self, times: usize, path: &str) {
        let path = path.to_owned();
        self.goes_on(times, move |stranger| ask(stranger, path.clone()));
    }

    /// What others see of it.
    async fn stops_nobody(self) {
        let team = self.server.second_team();
        let rest = self.server.client(team.key());
        let inbox = rest.inbox().await;
        for round in 0..ROUNDS {
            let subject = format!("round {round}");
            in_time("mail", mail(&self.server, &inbox, &subject)).await;
            in_time("a list", list(&rest, &inbox, round + 1)).await;
            in_time("a wait", wait(&rest, &inbox, &subject)).await;
            in_time("health", async { drop(rest.get("/api/health").await.expect(200)) }).await;
        }
    }
}

async fn in_time(what: &str, work: impl Future<Output = ()>) {
    assert!(timeout(BOUND, work).await.is_ok(), "{what} was not answered beside the attack");
}

async fn mail(server: &Deployment, inbox: &Inbox, subject: &str) {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let raw = Mail::new(subject, "x").bytes();
    smtp.transact("a@x.test", &[&inbox.address], &raw).await;
}

async fn list(rest: &Rest, inbox: &Inbox, count: usize) {
    assert_eq!(rest.subjects(inbox).await.0, count as u64);
}

async fn wait(rest: &Rest, inbox: &Inbox, subject: &str) {
    let query = [("subject", subject), ("timeout", "10")];
    rest.query(&inbox.path("/messages/wait"), &query).await.expect(200);
}

impl Stranger {
    async fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((STRANGER, 0).into())?;
        socket.connect(to).await
    }

    /// Sends a request, and reads nothing yet.
    async fn ask(&self, path: &str) -> io::Result<TcpStream> {
        let mut stream = self.connect(self.http).await?;
        let key = &self.key;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await?;
        Ok(stream)
    }

    /// Says something to the SMTP server, and reads nothing yet.
    async fn say(&self, text: &str) -> io::Result<TcpStream> {
        let mut stream = self.connect(self.smtp).await?;
        stream.write_all(format!("EHLO x\r\n{text}").as_bytes()).await?;
        Ok(stream)
    }
}

/// Reads until the server says so.
async fn heard(stream: &mut TcpStream, what: &[u8]) -> io::Result<()> {
    let mut text = Vec::new();
    while !text.windows(what.len()).any(|part| part == what) {
        if stream.read_buf(&mut text).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// Asks, and reads the answer.
async fn ask(stranger: Stranger, path: String) -> io::Result<()> {
    let mut stream = stranger.ask(&path).await?;
    stream.read_to_end(&mut Vec::new()).await.map(drop)
}

/// Asks, and reads nothing of the last 20 answers.
async fn leave_unread(stranger: Stranger, path: String) -> io::Result<()> {
    let mut held = VecDeque::new();
    loop {
        held.push_back(stranger.ask(&path).await?);
        if held.len() > 20 {
            held.pop_front();
        }
        sleep(Duration::from_millis(5)).await;
    }
}

async fn send_mail(stranger: Stranger, begun: String) -> io::Result<()> {
    let mut stream = stranger.say(&begun).await?;
    heard(&mut stream, b"354").await?;
    stream.write_all(b"Subject: x\r\n\r\nx\r\n.\r\nQUIT\r\n").await?;
    stream.read_to_end(&mut Vec::new()).await.map(drop)
}

async fn guess_password(stranger: Stranger, guess: String) -> io::Result<()> {
    let mut stream = stranger.say(&format!("AUTH PLAIN {guess}\r\n").repeat(20)).await?;
    stream.read_to_end(&mut Vec::new()).await.map(drop)
}

async fn drip_a_head(stranger: Stranger) -> io::Result<()> {
    let mut stream = stranger.connect(stranger.http).await?;
    stream.write_all(b"GET / HTTP/1.1\r\n").await?;
    loop {
        stream.write_all(b"X: y\r\n").await?;
        sleep(Duration::from_secs(1)).await;
    }
}

/// Sends 7 MB of a message, and not its end.
async fn leave_unended(stranger: Stranger, begun: String) -> io::Result<()> {
    let mut stream = stranger.say(&begun).await?;
    heard(&mut stream, b"354").await?;
    stream.write_all(lines(7_000_000).as_bytes()).await?;
    stream.read_to_end(&mut Vec::new()).await.map(drop)
}

fn begin_mail(inbox: &Inbox) -> String {
    format!("MAIL FROM:<a@x.test>\r\nRCPT TO:<{}>\r\nDATA\r\n", inbox.address)
}

fn lines(bytes: usize) -> String {
    "0123456789abcdef\r\n".repeat(bytes / 18)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn previews_of_a_tag_with_many_attributes() {
    let mut attack = Attack::new().await;
    let attributes: Vec<_> = (0..50_000).map(|number| format!("\r\non{number}=1")).collect();
    let raw = format!("Content-Type: text/html\r\n\r\n<p{}>x", attributes.concat());
    let id = deliver_bytes(&attack.server, &attack.inbox, raw.as_bytes()).await;
    attack.asks_for(4, &format!("/api/messages/{id}/html"));
    attack.stops_nobody().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_answers_that_nobody_reads() {
    let mut attack = Attack::new().await;
    let raw = Mail::new("large", &lines(12_000_000)).bytes();
    let id = deliver_bytes(&attack.server, &attack.inbox, &raw).await;
    for path in [format!("/api/messages/{id}/raw"), format!("/api/messages/{id}")] {
        attack.goes_on(1, move |stranger| leave_unread(stranger, path.clone()));
    }
    attack.stops_nobody().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn event_streams_that_nobody_reads() {
    let mut attack = Attack::new().await;
    let path = attack.inbox.path("/events");
    let mut held = Vec::new();
    for _ in 0..500 {
        held.push(attack.stranger().ask(&path).await.unwrap());
    }
    let begun = begin_mail(&attack.inbox);
    attack.goes_on(2, move |stranger| send_mail(stranger, begun.clone()));
    attack.stops_nobody().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_waits_and_json_of_large_messages() {
    let mut attack = Attack::new().await;
    let long = format!("{}\r\n ", "long ".repeat(150)).repeat(20);
    let subject = format!("Subject: {long}end\r\n\r\nx");
    let controls = format!("{}\r\n", "\u{1}".repeat(900)).repeat(4_000);
    let controls = format!("Subject: controls\r\n\r\n{controls}");
    let large = Mail::new("large", &lines(6_000_000)).bytes();
    for _ in 0..20 {
        deliver_bytes(&attack.server, &attack.inbox, subject.as_bytes()).await;
    }
    deliver_bytes(&attack.server, &attack.inbox, &large).await;
    let id = deliver_bytes(&attack.server, &attack.inbox, controls.as_bytes()).await;
    for path in ["/messages?q=nowhere&limit=200", "/messages/wait?hasCode=true&timeout=1"] {
        let path = attack.inbox.path(path);
        attack.asks_for(1, &path);
    }
    attack.asks_for(1, &format!("/api/messages/{id}"));
    attack.stops_nobody().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_the_waits_that_a_team_may_have() {
    let mut attack = Attack::on(Deployment::with(&["--max-streams", "100"])).await;
    let path = attack.inbox.path("/messages/wait?subject=never&timeout=60");
    attack.asks_for(120, &path);
    attack.stops_nobody().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessed_keys_and_passwords() {
    let mut attack = Attack::new().await;
    attack.goes_on(4, |mut stranger| {
        "tl_guessedguessedguessedguessed".clone_into(&mut stranger.key);
        ask(stranger, "/api/inboxes".to_owned())
    });
    let guess = BASE64.encode(format!("\0{}\0guessed", attack.inbox.username).as_bytes());
    attack.goes_on(40, move |stranger| guess_password(stranger, guess.clone()));
    attack.stops_nobody().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_say_nothing_or_never_come_to_an_end() {
    let mut attack = Attack::new().await;
    let begun = begin_mail(&attack.inbox);
    let stranger = attack.stranger();
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(stranger.say(&begun).await.unwrap());
        silent.push(stranger.connect(stranger.http).await.unwrap());
    }
    attack.goes_on(200, drip_a_head);
    attack.goes_on(5, move |stranger| leave_unended(stranger, begun.clone()));
    attack.stops_nobody().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_idle_connections_stay_open() {
    let attack = Attack::new().await;
    let stranger = attack.stranger();
    let head = "GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n";
    let answered = async |stream: &mut TcpStream| {
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 4096];
        let bytes = guarded("an answer", stream.read(&mut answer)).await.unwrap();
        assert!(answer[..bytes].starts_with(b"HTTP/1.1 200 "));
    };
    let mut idle = Vec::new();
    for _ in 0..1_000 {
        let mut stream = stranger.connect(stranger.http).await.unwrap();
        answered(&mut stream).await;
        idle.push(stream);
    }
    // The last of these connections is as good as the first.
    for stream in &mut idle {
        answered(stream).await;
    }
}
