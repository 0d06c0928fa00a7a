//! The way out: which addresses are refused, and what receivers can do to it.

mod addresses;
mod identity;
mod links;
mod names;
mod proxy;
mod receiver;
mod receivers;
mod tls;

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use trapline_worker::outbound::{
    Client, Guard, GuardOptions, Refusal, Resolver, TimedResponse, Url,
};

/// Longer than any machine needs for a request to itself.
const LONG: Duration = Duration::from_mins(1);
/// Long enough for a request to get as far as the test wants, and waited for in full.
const SHORT: Duration = Duration::from_secs(1);

/// Answers with what it holds, and counts the questions.
#[derive(Default)]
struct Fixed {
    ips: Mutex<Vec<IpAddr>>,
    asked: AtomicUsize,
    last: Mutex<String>,
}

impl Fixed {
    fn new(ips: &[&str]) -> Arc<Self> {
        let fixed = Self::default();
        fixed.now_answers(ips);
        Arc::new(fixed)
    }

    fn now_answers(&self, ips: &[&str]) {
        *self.ips.lock().unwrap() = ips.iter().map(|ip| ip.parse().unwrap()).collect();
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolver for Fixed {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        name.clone_into(&mut self.last.lock().unwrap());
        Ok(self.ips.lock().unwrap().clone())
    }
}

fn allowing(ranges: &[&str]) -> GuardOptions {
    let allow = ranges.iter().map(|range| range.parse().unwrap()).collect();
    GuardOptions { allow, ..GuardOptions::default() }
}

/// Reads a URL as browsers do, and checks it.
fn parse(guard: &Guard, text: &str) -> Result<Url, Refusal> {
    let url = Url::parse(text).map_err(|_| Refusal::Malformed)?;
    guard.check(&url).map(|()| url)
}

fn guard(options: GuardOptions, ips: &[&str]) -> Guard {
    Guard::with_resolver(options, Fixed::new(ips))
}

/// A client to which every name is this machine, which is allowed.
fn local_client() -> Client {
    Client::new(guard(allowing(&["127.0.0.0/8"]), &["127.0.0.1"]), &[]).unwrap()
}

async fn post(client: &Client, url: &str, deadline: Duration) -> TimedResponse {
    let url = Url::parse(url).unwrap();
    client.post(&url, &[], Bytes::from_static(b"{\"a\":1}"), deadline).await
}
