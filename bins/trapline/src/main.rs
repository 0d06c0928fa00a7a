//! Trapline: catches the mail that an application sends while it is tested.

mod admin;
mod backend;
mod banner;
mod cluster;
mod config;
mod folder;
mod http;
mod identity;
mod mailroom;
mod migrate;
mod outbound;
mod probes;
mod serve;
mod settings;
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
    let (config, check_only) = match cli.command {
        None => (cli.serve.check()?, cli.serve.http.check_config),
        Some(Command::Serve(args)) => (args.check()?, args.http.check_config),
        Some(Command::Api(args)) => (args.check()?, args.member.http.check_config),
        Some(Command::Smtp(args)) => (args.check()?, args.member.http.check_config),
        Some(Command::Worker(args)) => (args.check()?, args.member.http.check_config),
        Some(Command::Migrate(args)) => return runtime.block_on(migrate::run(args.check()?)),
        Some(Command::Key(command)) => return runtime.block_on(admin::key(command)),
        Some(Command::Team(command)) => return runtime.block_on(admin::team(command)),
    };
    if check_only {
        println!("The settings are good.");
        return Ok(());
    }
    runtime.block_on(serve::run(config))
}
