//! Commands over a data folder, beside a running server too.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tokio_util::sync::CancellationToken;
use trapline_app::{App, NewKey, Settings};
use trapline_embedded::{Embedded, Options};
use trapline_model::{Access, TeamId, Time};
use trapline_store::Clock;

use crate::{
    config::{KeyCommand, NewKeyArgs, StoreArgs, TeamCommand},
    folder::Folder,
};

/// `trapline key …`
pub(crate) async fn key(command: KeyCommand) -> Result<()> {
    let KeyCommand::Create(args) = command;
    let new = new_key(&args)?;
    with_app(&args.store, async |app| {
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
    let TeamCommand::Create { name, store } = command;
    with_app(&store, async |app| {
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

async fn with_app(args: &StoreArgs, work: impl AsyncFnOnce(&App) -> Result<()>) -> Result<()> {
    let config = args.check()?;
    let folder = Folder::open(&config.data)?;
    let master = folder.master_key(config.secret_key)?;
    let clock = Clock::system();
    let options = Options {
        durability: config.durability,
        clock: clock.clone(),
        ..Options::new(folder.path())
    };
    let embedded = Embedded::open(options).await?;
    let shutdown = CancellationToken::new();
    let app: Arc<App> =
        App::start(embedded.ports(), clock, Settings::default(), &master, shutdown.clone()).await?;
    let outcome = work(&app).await;
    shutdown.cancel();
    drop(app);
    embedded.close().await;
    outcome
}
