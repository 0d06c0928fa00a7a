//! Trapline: catches the mail that an application sends while it is tested.

mod admin;
mod backend;
mod backup;
mod banner;
mod clock;
mod cluster;
mod config;
mod folder;
mod http;
mod identity;
mod mailroom;
mod manual;
mod migrate;
mod outbound;
mod output;
mod probe;
mod probes;
mod serve;
mod settings;
mod stop;
mod telemetry;
mod tls;
mod version;

use std::{process::ExitCode, time::Duration};

use config::{Command, CommandLine, Config, ConfigErrors, PlanCommand, SsoCommand, TeamCommand};
use stop::Stop;
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// How long the end of the process waits for threads that still read or write files.
const THREAD_TIMEOUT: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let outcome =
        Builder::new_multi_thread().enable_all().build().map_err(Into::into).and_then(|runtime| {
            let outcome = begin(&runtime);
            runtime.shutdown_timeout(THREAD_TIMEOUT);
            outcome
        });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&format!("trapline: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn begin(runtime: &Runtime) -> anyhow::Result<()> {
    let stop = runtime.block_on(async { Stop::listen() })?;
    let command_line = CommandLine::read()?;
    // One provider for every TLS connection; a second call would find it installed already.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    run(command_line, runtime, stop)
}

fn run(command_line: CommandLine, runtime: &Runtime, mut stop: Stop) -> anyhow::Result<()> {
    let bad = |bad: ConfigErrors| command_line.report(&bad);
    let (config, check_only) = match &command_line.cli.command {
        None => (command_line.cli.serve.assemble(), command_line.cli.serve.http.check_config),
        Some(Command::Serve(args)) => (args.assemble(), args.http.check_config),
        Some(Command::Api(args)) => (args.assemble(), args.member.http.check_config),
        Some(Command::Smtp(args)) => (args.assemble(), args.member.http.check_config),
        Some(Command::Worker(args)) => (args.assemble(), args.member.http.check_config),
        Some(Command::Migrate(args)) => {
            let mut migration = args.assemble().map_err(bad)?;
            migration.warnings.extend(command_line.warnings);
            return runtime.block_on(stop.unless_stopped(migrate::run(migration)));
        }
        Some(Command::Probe(args)) => {
            let http = args.assemble().map_err(bad)?;
            let probe = probe::run(args.url.as_deref(), http);
            return runtime.block_on(stop.unless_stopped(probe));
        }
        Some(Command::Backup(args)) => {
            let (to, backend) = args.assemble().map_err(bad)?;
            let backup = backup::backup(to.as_deref(), args.without_keys, backend);
            return runtime.block_on(stop.unless_stopped(backup));
        }
        Some(Command::Restore { from, backend }) => {
            let backend = backend.assemble().map_err(bad)?;
            return runtime.block_on(stop.unless_stopped(backup::restore(from, backend)));
        }
        Some(Command::Verify { from }) => {
            return runtime.block_on(stop.unless_stopped(backup::verify(from)));
        }
        Some(Command::Man { command }) => return manual::page(command),
        Some(Command::Completions { shell }) => return manual::completions(*shell),
        Some(Command::Key(command)) => {
            let backend = command.backend().assemble().map_err(bad)?;
            return runtime.block_on(stop.unless_stopped(admin::key(command, backend)));
        }
        Some(Command::Link(args)) => {
            let (base_url, backend) = args.assemble().map_err(bad)?;
            return runtime.block_on(stop.unless_stopped(admin::link(args, base_url, backend)));
        }
        Some(Command::Team(TeamCommand::Create { name, plans, backend })) => {
            let (plans, backend) =
                (plans.assemble().map_err(bad)?, backend.assemble().map_err(bad)?);
            return runtime
                .block_on(stop.unless_stopped(admin::create_team(name, &plans, backend)));
        }
        Some(Command::Sso(SsoCommand::VerifyDomain { domain, team, backend })) => {
            let backend = backend.assemble().map_err(bad)?;
            let verified = admin::verify_domain(domain, team.as_ref(), backend);
            return runtime.block_on(stop.unless_stopped(verified));
        }
        Some(Command::Audit { team, backend }) => {
            let backend = backend.assemble().map_err(bad)?;
            return runtime.block_on(stop.unless_stopped(admin::audit(team.as_ref(), backend)));
        }
        Some(Command::Plan(command)) => {
            let plans = command.plans().assemble().map_err(bad)?;
            let PlanCommand::Set { plan, team, backend, .. } = command else {
                return admin::list_plans(&plans);
            };
            let backend = backend.assemble().map_err(bad)?;
            let set = admin::set_plan(plan, team.as_ref(), &plans, backend);
            return runtime.block_on(stop.unless_stopped(set));
        }
    };
    let mut config = config.map_err(bad)?;
    config.warnings.extend(command_line.warnings);
    if check_only {
        return Ok(output::print(&checked(&config))?);
    }
    runtime.block_on(serve::run(config, stop))
}

fn checked(config: &Config) -> String {
    let warnings = config.warnings.iter().map(|warning| format!("Warning: {warning}\n"));
    warnings.chain(["The settings are good.\n".to_owned()]).collect()
}
