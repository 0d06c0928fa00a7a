//! A mailroom that keeps what it gets, and a server in front of it.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use tokio::{sync::Semaphore, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use trapline_smtp::{
    Config, Implicit, Login, Mail, Mailroom, Observation, Receipt, Reject, Server, bind,
};

use crate::client::Client;

/// Knows `ada` with the password `secret`, and no recipient that starts with `no`.
pub(crate) struct Recorder {
    pub(crate) mails: Mutex<Vec<Mail<String>>>,
    pub(crate) events: Mutex<Vec<Observation>>,
    /// Deliveries take a permit each.
    pub(crate) deliveries: Semaphore,
}

impl Recorder {
    fn new() -> Self {
        let deliveries = Semaphore::new(Semaphore::MAX_PERMITS);
        Self { mails: Mutex::default(), events: Mutex::default(), deliveries }
    }

    pub(crate) fn bodies(&self) -> Vec<Vec<u8>> {
        self.mails.lock().unwrap().iter().map(|mail| mail.body.to_vec()).collect()
    }

    pub(crate) fn saw(&self, event: Observation) -> bool {
        self.events.lock().unwrap().contains(&event)
    }
}

#[async_trait]
impl Mailroom for Recorder {
    type Account = String;
    type Route = String;

    async fn authenticate(&self, login: &Login, _: IpAddr) -> Result<String, Reject> {
        match login {
            Login::Plain { username, password }
                if (&**username, &**password) == ("ada", "secret") =>
            {
                Ok(username.clone())
            }
            _ => Err(Reject::bad_credentials()),
        }
    }

    async fn accept(
        &self,
        account: Option<&String>,
        recipient: &str,
        _: IpAddr,
    ) -> Result<String, Reject> {
        if recipient.starts_with("no") {
            return Err(Reject::unknown_mailbox());
        }
        Ok(account.map_or("nobody", String::as_str).to_owned())
    }

    fn inbox(&self, route: &String) -> u128 {
        route.len() as u128
    }

    async fn deliver(&self, _: Option<&String>, mail: Mail<String>) -> Result<Receipt, Reject> {
        let id = {
            let mut mails = self.mails.lock().unwrap();
            mails.push(mail);
            format!("m{}", mails.len())
        };
        self.deliveries.acquire().await.map_err(|_| Reject::temporary("closed"))?.forget();
        Ok(Receipt { ids: vec![id] })
    }

    fn observe(&self, _: IpAddr, event: Observation) {
        if !matches!(event, Observation::Replied(_)) {
            self.events.lock().unwrap().push(event);
        }
    }
}

/// A server on a free port of the loopback address.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) server: Arc<Server<Recorder>>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) serving: JoinHandle<()>,
}

impl Running {
    pub(crate) fn new(config: Config) -> Self {
        Self::with(config, Implicit::No, None)
    }

    pub(crate) fn with(
        config: Config,
        implicit: Implicit,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> Self {
        let recorder = Arc::new(Recorder::new());
        let server = Arc::new(Server::new(Arc::clone(&recorder), config, tls));
        let listener = bind((Ipv4Addr::LOCALHOST, 0).into(), 1024).unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let serving = Arc::clone(&server).serve(listener, implicit, shutdown.clone());
        Self { address, recorder, server, shutdown, serving: tokio::spawn(serving) }
    }

    /// A client that was greeted.
    pub(crate) async fn connect(&self) -> Client {
        let mut client = Client::connect(self.address).await;
        assert_eq!(client.reply().await, "220 mx.test ESMTP Trapline");
        client
    }

    /// A client that said EHLO.
    pub(crate) async fn hello(&self) -> Client {
        let mut client = self.connect().await;
        assert!(client.ask("EHLO client.test\r\n").await.starts_with("250"));
        client
    }

    /// A client whose mail body is awaited.
    pub(crate) async fn data(&self) -> Client {
        let mut client = self.hello().await;
        client.envelope().await;
        assert!(client.ask("DATA\r\n").await.starts_with("354 "));
        client
    }
}

pub(crate) fn config() -> Config {
    Config::new("mx.test")
}
