//! A port in front of a server, which can be closed, or take connections and be silent.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use trapline_tests::guarded;

/// What becomes of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// They are taken, and nothing is said.
    Silent,
    /// They are refused.
    Closed,
}

/// The port. It belongs to the test's runtime.
pub(super) struct Gate {
    address: SocketAddr,
    wanted: watch::Sender<State>,
    reached: watch::Receiver<State>,
    held: Arc<AtomicUsize>,
}

impl Gate {
    /// An open gate.
    pub(super) async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (wanted, orders) = watch::channel(State::Open);
        let (reports, reached) = watch::channel(State::Open);
        let held = Arc::<AtomicUsize>::default();
        let keeper = Keeper { server, orders, reports, held: held.clone() };
        tokio::spawn(keeper.keep(listener));
        Self { address, wanted, reached, held }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections that were taken in silence.
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Breaks all connections; new ones find this.
    pub(super) async fn turn(&self, state: State) {
        self.wanted.send(state).unwrap();
        let mut reached = self.reached.clone();
        guarded("the gate", reached.wait_for(|now| *now == state)).await.unwrap();
    }
}

struct Keeper {
    server: SocketAddr,
    orders: watch::Receiver<State>,
    reports: watch::Sender<State>,
    held: Arc<AtomicUsize>,
}

impl Keeper {
    async fn keep(mut self, listener: TcpListener) {
        let address = listener.local_addr().unwrap();
        let mut listener = Some(listener);
        loop {
            let state = *self.orders.borrow_and_update();
            match state {
                State::Closed => listener = None,
                // The port is this test's still: nothing else binds one that was just left.
                _ if listener.is_none() => listener = TcpListener::bind(address).await.ok(),
                _ => {}
            }
            self.reports.send_replace(state);
            tokio::select! {
                changed = self.orders.changed() => if changed.is_err() { return },
                () = take(listener.as_ref(), self.server, state, &self.held) => {}
            }
        }
    }
}

/// Takes connections until it is dropped, and with it they are.
async fn take(
    listener: Option<&TcpListener>,
    server: SocketAddr,
    state: State,
    held: &AtomicUsize,
) {
    let Some(listener) = listener else { return std::future::pending().await };
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        held.fetch_add(usize::from(state == State::Silent), Ordering::Relaxed);
        connections.spawn(pass(stream, server, state));
    }
}

async fn pass(mut stream: TcpStream, server: SocketAddr, state: State) {
    if state == State::Silent {
        return std::future::pending().await;
    }
    if let Ok(mut server) = TcpStream::connect(server).await {
        // Either side may break off.
        tokio::io::copy_bidirectional(&mut stream, &mut server).await.unwrap_or_default();
    }
}
