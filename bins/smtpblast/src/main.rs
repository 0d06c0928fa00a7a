//! `smtpblast` sends load over SMTP and says what came of it.

mod args;
mod client;
mod failure;
mod idle;
mod load;
mod message;
mod proc;
mod reply;
mod report;
mod stats;
mod tls;
mod wire;

use std::{process::ExitCode, sync::Arc};

use clap::Parser;
use tokio::runtime::{Builder, Runtime};

use crate::{
    args::Args,
    client::{Login, Server},
    load::Load,
    message::Template,
    proc::Sample,
    report::Report,
    tls::Security,
};

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    args.check()?;
    let report = runtime(args.threads)?.block_on(run(&args))?;
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    let failed = report.has_errors() && !args.allow_errors;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn runtime(threads: u16) -> std::io::Result<Runtime> {
    match threads {
        1 => Builder::new_current_thread().enable_all().build(),
        _ => Builder::new_multi_thread().worker_threads(threads.into()).enable_all().build(),
    }
}

async fn run(args: &Args) -> anyhow::Result<Report> {
    let server = Server {
        address: args.address().await?,
        security: Security::new(args)?,
        pipelining: args.pipelining,
        limit: args.timeout,
    };
    let load = Load::new(server, Login::all(args)?);
    let before = args.pid.map(Sample::of).transpose()?;
    match args.idle_connections {
        Some(count) => {
            let held = idle::hold(&load, count, args).await?;
            Ok(Report::of_idle(args, held, before))
        }
        None => send(args, &load, before).await,
    }
}

async fn send(args: &Args, load: &Arc<Load>, before: Option<Sample>) -> anyhow::Result<Report> {
    let outcome = load.run(args, Template::new(args)?).await;
    let mut samples = None;
    if let (Some(before), Some(pid)) = (before, args.pid) {
        tokio::time::sleep(args.settle).await;
        samples = Some((before, Sample::of(pid)?));
    }
    Ok(Report::of_load(args, outcome, samples))
}
