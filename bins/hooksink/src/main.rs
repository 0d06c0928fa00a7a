//! `hooksink` takes webhooks and says when they came.

mod args;
mod book;
mod call;
mod clocks;
mod endpoint;
mod server;

use std::{io::Write as _, sync::Arc};

use anyhow::Context;
use clap::Parser;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};

use crate::{args::Args, server::Sink};

// One thread leaves most of a small machine to the caller under measurement.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let sink = Arc::new(Sink::new(usize::from(args.log) * 1_000_000, args.retry_after));
    let listeners = listen(&args).await?;
    say(&serde_json::json!({ "port": listeners[0].local_addr()?.port() }))?;
    let mut serving = JoinSet::new();
    for listener in listeners {
        serving.spawn(server::serve(listener, sink.clone()));
    }
    tokio::select! {
        Some(ended) = serving.join_next() => { ended??; }
        () = told_to_end() => {}
    }
    say(&serde_json::to_value(sink.stats())?)
}

/// One listener for each address, all on one port; never none.
async fn listen(args: &Args) -> anyhow::Result<Vec<TcpListener>> {
    let (mut port, mut listeners) = (args.port, Vec::new());
    for address in args.addresses()? {
        let listener = TcpListener::bind((address, port)).await;
        let listener = listener.with_context(|| format!("listen on {address}:{port}"))?;
        port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(listeners)
}

/// One line of JSON.
fn say(value: &serde_json::Value) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{value}")?;
    Ok(out.flush()?)
}

async fn told_to_end() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
