//! Trapline: catches the mail that an application sends while it is tested.

mod admin;
mod banner;
mod config;
mod folder;
mod http;
mod mailroom;
mod serve;
mod telemetry;
mod tls;

use std::process::ExitCode;

use clap::Parser;
use config::{Cli, Command};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // One provider for every TLS connection; a second call would find it installed already.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trapline: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match cli.command {
        None => runtime.block_on(serve::serve(&cli.serve)),
        Some(Command::Serve(args)) => runtime.block_on(serve::serve(&args)),
        Some(Command::Key(command)) => runtime.block_on(admin::key(command)),
        Some(Command::Team(command)) => runtime.block_on(admin::team(command)),
    }
}
