//! Commands over the data, beside running servers too.

use anyhow::{Context, Result, bail};
use tokio_util::sync::CancellationToken;
use trapline_app::{App, NewKey, Settings};
use trapline_model::{Access, TeamId, Time};
use trapline_store::Clock;

use crate::{
    backend::{Backend, Opened},
    config::{BackendArgs, KeyCommand, NewKeyArgs, TeamCommand},
};

/// `trapline key …`
pub(crate) async fn key(command: KeyCommand) -> Result<()> {
    let KeyCommand::Create(args) = command;
    let new = new_key(&args)?;
    with_app(&args.backend, async |app| {
        let team = match &args.team {
            Some(id) => known_team(app, id).await?,
            None => app.first_run(None).await?.team,
        };
        println!("{}", app.create_key(team, new).await?);
        Ok(())
    })
    .await
}

/// `trapline team …`
pub(crate) async fn team(command: TeamCommand) -> Result<()> {
    let TeamCommand::Create { name, backend } = command;
    with_app(&backend, async |app| {
        println!("{}", app.create_team(&name).await?);
        Ok(())
    })
    .await
}

fn new_key(args: &NewKeyArgs) -> Result<NewKey> {
    let access = match args.access.as_str() {
        "read" => Access::Read,
        "write" => Access::Write,
        other => bail!("--access {other}: wants read or write"),
    };
    let read = |text: &String| text.parse::<Time>().with_context(|| format!("--expires-at {text}"));
    let expires_at = args.expires_at.as_ref().map(read).transpose()?;
    Ok(NewKey { name: args.name.clone(), access, expires_at, value: None })
}

async fn known_team(app: &App, id: &str) -> Result<TeamId> {
    let team = id.parse().ok().with_context(|| format!("--team {id}: not an id"))?;
    anyhow::ensure!(app.team_exists(team).await?, "--team {id}: there is no such team");
    Ok(team)
}

async fn with_app(args: &BackendArgs, work: impl AsyncFnOnce(&App) -> Result<()>) -> Result<()> {
    let clock = Clock::system();
    let Opened { backend, master, .. } = Backend::open(args.check()?, clock.clone(), false).await?;
    let shutdown = CancellationToken::new();
    let app =
        App::start(backend.ports(), clock, Settings::default(), &master, shutdown.clone()).await?;
    let outcome = work(&app).await;
    shutdown.cancel();
    drop(app);
    backend.close().await;
    outcome
}
