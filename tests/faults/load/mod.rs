//! The load of one round: clients of every kind, and what they saw.

mod caller;
mod ledger;
mod mta;
mod person;
mod reader;
mod session;
mod subscriber;
mod waiter;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{runtime::Runtime, task::JoinHandle};
use trapline_tests::{Inbox, Rest};

use crate::fleet::{Addresses, EACH};
pub(crate) use ledger::{Kind, Ledger};
pub(crate) use session::{Failure, Session};

const SENDERS: usize = 4;
const READERS: usize = 2;
const WAITERS: usize = 2;
/// Until a client tries again, at another process.
pub(crate) const AGAIN: Duration = Duration::from_millis(250);
/// How long a client waits for an answer before it takes the server for dead.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What all clients of a round share.
pub(crate) struct Load {
    pub(crate) ledger: Ledger,
    pub(crate) inbox: Inbox,
    /// A mock's slug and its secret key.
    mock: (String, String),
    pub(crate) mock_id: String,
    idp: Idp,
    addresses: Arc<Addresses>,
    /// One for each slot would keep connections apart; the pool does so by address.
    http: reqwest::Client,
    key: String,
    stopped: AtomicBool,
    /// Clients that subscribed, and those that were told of a message.
    streams: AtomicUsize,
}

/// A mock identity provider that signs its one user in.
struct Idp {
    slug: String,
    client_id: String,
    client_secret: String,
}

/// Clients at work.
pub(crate) struct Running {
    pub(crate) load: Arc<Load>,
    tasks: Vec<JoinHandle<()>>,
    streams: Vec<JoinHandle<()>>,
}

impl Load {
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn request(&self, number: usize, path: &str) -> reqwest::RequestBuilder {
        self.at(number, reqwest::Method::GET, path).bearer_auth(&self.key)
    }

    /// A request without a credential.
    fn at(&self, number: usize, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.addresses.api(number)))
    }

    /// Asks until there is an answer that is not "try again": the answer, if it is the one that was
    /// hoped for. `number` chooses the first process, each further try is at the next.
    pub(super) async fn fetch(
        &self,
        number: usize,
        path: &str,
        tries: &mut usize,
    ) -> Option<(u16, bytes::Bytes)> {
        self.repeat(number, tries, |number| self.request(number, path)).await
    }

    /// The same with any request, which is made for each try.
    async fn repeat(
        &self,
        number: usize,
        tries: &mut usize,
        request: impl Fn(usize) -> reqwest::RequestBuilder,
    ) -> Option<(u16, bytes::Bytes)> {
        loop {
            *tries += 1;
            match answer(request(number + *tries - 1).timeout(PATIENCE)).await {
                Ok((503 | 429, _)) => self.ledger.refused(),
                Ok(answer) => return Some(answer),
                Err(_) => self.ledger.broken(),
            }
            if self.is_stopped() {
                return None;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

async fn new_mock(rest: &Rest) -> Value {
    let new = json!({ "name": "Faults", "provider": "stripe" });
    rest.post("/api/mocks", new).await.expect(201).json()
}

async fn new_idp(rest: &Rest) -> Idp {
    let new = json!({ "name": "Faults", "redirectUris": [person::CALLBACK] });
    let idp = rest.post("/api/idps", new).await.expect(201).json();
    let path = format!("/api/idps/{}", text(&idp, "id"));
    let user = json!({ "email": "ada@example.com", "name": "Ada" });
    let user = rest.post(&format!("{path}/users"), user).await.expect(201).json();
    rest.patch(&path, json!({ "autoLoginUserId": user["id"] })).await.expect(200);
    Idp {
        slug: text(&idp, "slug"),
        client_id: text(&idp, "clientId"),
        client_secret: text(&idp, "clientSecret"),
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap().to_owned()
}

async fn answer(request: reqwest::RequestBuilder) -> reqwest::Result<(u16, bytes::Bytes)> {
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    Ok((status, answer.bytes().await?))
}

impl Running {
    /// Starts all clients over an inbox of their own.
    pub(crate) fn start(runtime: &Runtime, rest: &Rest, key: &str, at: &Arc<Addresses>) -> Self {
        let body = json!({ "name": "Faults", "maxMessages": 10_000 });
        let (mock, idp) = runtime.block_on(async { (new_mock(rest).await, new_idp(rest).await) });
        let load = Arc::new(Load {
            ledger: Ledger::default(),
            inbox: runtime.block_on(rest.inbox_with(body)),
            mock: (text(&mock, "slug"), text(&mock["credentials"], "secretKey")),
            mock_id: text(&mock, "id"),
            idp,
            addresses: at.clone(),
            http: reqwest::Client::builder()
                .connect_timeout(Duration::from_secs(3))
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .unwrap(),
            key: key.to_owned(),
            stopped: AtomicBool::new(false),
            streams: AtomicUsize::new(0),
        });
        let spawn = |number| runtime.spawn(subscriber::follow(load.clone(), number));
        let streams: Vec<_> = (0..EACH).map(spawn).collect();
        while load.streams.load(Ordering::Relaxed) < EACH {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut tasks = Vec::new();
        tasks.extend((0..SENDERS).map(|number| runtime.spawn(mta::send(load.clone(), number))));
        tasks.extend((0..READERS).map(|number| runtime.spawn(reader::read(load.clone(), number))));
        for number in 0..EACH {
            tasks.push(runtime.spawn(caller::call(load.clone(), number)));
            tasks.push(runtime.spawn(person::sign_in(load.clone(), number)));
        }
        for number in 0..WAITERS {
            tasks.push(runtime.spawn(waiter::wait(load.clone(), number)));
            tasks.push(runtime.spawn(waiter::wait_in_vain(load.clone(), number)));
        }
        Self { load, tasks, streams }
    }

    /// Waits until every client has done something that it began after `since`, and says which kind
    /// did not within `longest`.
    pub(crate) fn served_since(&self, since: Instant, longest: Duration) -> Result<(), String> {
        let wanted = [
            (Kind::Smtp, SENDERS),
            (Kind::Rest, READERS),
            (Kind::Wait, 2 * WAITERS),
            (Kind::Sse, EACH),
            (Kind::Mock, EACH),
            (Kind::SignIn, EACH),
        ];
        let deadline = Instant::now() + longest;
        loop {
            let late = wanted
                .iter()
                .find(|(kind, clients)| self.load.ledger.served_since(*kind, since) < *clients);
            let Some((kind, _)) = late else { return Ok(()) };
            if Instant::now() > deadline {
                return Err(format!("{} was not served again within {longest:?}", kind.name()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lets each client end what it is about. Streams go on until all that was accepted has come.
    pub(crate) fn stop(self, runtime: &Runtime, longest: Duration) -> Arc<Load> {
        self.load.stopped.store(true, Ordering::Relaxed);
        runtime.block_on(join_all(self.tasks));
        let deadline = Instant::now() + longest;
        while !self.load.ledger.all_were_told(EACH) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.streams.iter().for_each(JoinHandle::abort);
        self.load
    }
}
