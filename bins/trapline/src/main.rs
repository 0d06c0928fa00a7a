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

use config::{BadSettings, Command, Config, Given, TeamCommand};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let given = Given::read();
    // One provider for every TLS connection; a second call would find it installed already.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    match run(given) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trapline: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(given: Given) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let bad = |bad: BadSettings| given.report(&bad);
    let (config, check_only) = match &given.cli.command {
        None => (given.cli.serve.check(), given.cli.serve.http.check_config),
        Some(Command::Serve(args)) => (args.check(), args.http.check_config),
        Some(Command::Api(args)) => (args.check(), args.member.http.check_config),
        Some(Command::Smtp(args)) => (args.check(), args.member.http.check_config),
        Some(Command::Worker(args)) => (args.check(), args.member.http.check_config),
        Some(Command::Migrate(args)) => {
            let mut migration = args.check().map_err(bad)?;
            migration.observe.warnings.extend(given.warnings);
            return runtime.block_on(migrate::run(migration));
        }
        Some(Command::Key(command)) => {
            let backend = command.backend().check().map_err(bad)?;
            return runtime.block_on(admin::key(command, backend));
        }
        Some(Command::Team(TeamCommand::Create { name, backend })) => {
            let backend = backend.check().map_err(bad)?;
            return runtime.block_on(admin::create_team(name, backend));
        }
    };
    let mut config = config.map_err(bad)?;
    config.observe.warnings.extend(given.warnings);
    if check_only {
        checked(&config);
        return Ok(());
    }
    runtime.block_on(serve::run(config))
}

fn checked(config: &Config) {
    for warning in &config.observe.warnings {
        println!("Warning: {warning}");
    }
    println!("The settings are good.");
}
