//! Commands over the data, beside running servers too.

mod audit;
mod plan;
mod table;

use anyhow::{Context, Result, bail};
use tokio_util::sync::CancellationToken;
use trapline_app::{App, Error, NewKey, Settings};
use trapline_model::{Access, Principal, TeamId, Time};

use crate::{
    backend::{Backend, Opened},
    clock::clock,
    config::{self, KeyCommand, LinkArgs, ListKeysArgs, NewKeyArgs, PlanSettings, RevokeKeyArgs},
    folder::Folder,
    output::print,
};
pub(crate) use audit::audit;
pub(crate) use plan::{list as list_plans, set as set_plan};

/// `trapline key …`
pub(crate) async fn key(command: &KeyCommand, backend: config::Backend) -> Result<()> {
    match command {
        KeyCommand::Create(args) => create_key(args, backend).await,
        KeyCommand::List(args) => list_keys(args, backend).await,
        KeyCommand::Revoke(args) => revoke_key(args, backend).await,
    }
}

/// `trapline link`
pub(crate) async fn link(
    args: &LinkArgs,
    base_url: String,
    backend: config::Backend,
) -> Result<()> {
    let settings = Settings { base_url, ..Settings::default() };
    let email = args.email.as_deref();
    let work = async |app: &App, first: TeamId| {
        let link = match app.people().operators_link(first, email).await {
            Err(Error::NotFound) => bail!("--email: nobody has this address"),
            Err(Error::Invalid(_)) => bail!("--email: wants an address such as ada@example.com"),
            link => link?,
        };
        Ok(print(&format!("{link}\n"))?)
    };
    Box::pin(with_settings(settings, backend, work)).await
}

/// `trapline team create`
pub(crate) async fn create_team(
    name: &str,
    plans: &PlanSettings,
    backend: config::Backend,
) -> Result<()> {
    let work =
        async |app: &App, _| Ok(print(&format!("{}\n", app.access().create_team(name).await?))?);
    Box::pin(with_settings(plans.fill(Settings::default()), backend, work)).await
}

/// `trapline sso verify-domain`
pub(crate) async fn verify_domain(
    domain: &str,
    named: Option<&String>,
    backend: config::Backend,
) -> Result<()> {
    with_app(backend, async |app, first| {
        let team = team(app, first, named).await?;
        match app.sso().verify_domain(team, domain).await {
            Err(Error::Invalid(_)) => bail!("{domain}: wants a domain such as example.com"),
            Err(Error::NotFound) => {
                bail!("{domain}: the single sign-on of team {team} does not name this domain")
            }
            Err(Error::Conflict) => bail!("{domain}: is another team's"),
            verified => verified?,
        }
        Ok(print(&format!("{domain} is verified for team {team}.\n"))?)
    })
    .await
}

async fn create_key(args: &NewKeyArgs, backend: config::Backend) -> Result<()> {
    let new = new_key(args)?;
    with_app(backend, async |app, first| {
        let team = team(app, first, args.team.as_ref()).await?;
        Ok(print(&format!("{}\n", app.access().create_key(&Principal::system(team), new).await?))?)
    })
    .await
}

async fn list_keys(args: &ListKeysArgs, backend: config::Backend) -> Result<()> {
    with_app(backend, async |app, first| {
        let team = team(app, first, args.team.as_ref()).await?;
        Ok(print(&table::of_keys(&app.access().keys(&Principal::system(team)).await?))?)
    })
    .await
}

async fn revoke_key(args: &RevokeKeyArgs, backend: config::Backend) -> Result<()> {
    with_app(backend, async |app, first| {
        let team = team(app, first, args.team.as_ref()).await?;
        let keys = app.access().keys_named(&Principal::system(team), &args.key).await?;
        // What was asked for may be a whole key, which is not repeated here.
        let key = match &keys[..] {
            [key] => key,
            [] => bail!("the team has no such key; `trapline key list` shows its keys"),
            _ => bail!(
                "{} keys begin with these letters: name one by its id, which `trapline key list` \
                 shows",
                keys.len()
            ),
        };
        app.access().revoke_key(&Principal::system(team), key.id).await?;
        print(&format!("The key {} ({}) is revoked.\n", key.prefix, key.name))?;
        if key.is_configured {
            print("TRAPLINE_API_KEY or --api-key would make it again: take it out there too.\n")?;
        }
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
    let read = |text: &String| {
        let wanted = "wants a time such as 2030-01-01T00:00:00Z";
        text.parse::<Time>().ok().with_context(|| format!("--expires-at {text}: {wanted}"))
    };
    let expires_at = args.expires_at.as_ref().map(read).transpose()?;
    Ok(NewKey { name: args.name.clone(), access, expires_at, value: None })
}

/// The team that is named, or else the first one.
async fn team(app: &App, first: TeamId, named: Option<&String>) -> Result<TeamId> {
    let Some(id) = named else { return Ok(first) };
    let team = id.parse().ok().with_context(|| format!("--team {id}: wants a team's id"))?;
    anyhow::ensure!(app.access().team_exists(team).await?, "--team {id}: there is no such team");
    Ok(team)
}

/// Works on an installation, with its first team; makes none.
async fn with_app(
    backend: config::Backend,
    work: impl AsyncFnOnce(&App, TeamId) -> Result<()>,
) -> Result<()> {
    Box::pin(with_settings(Settings::default(), backend, work)).await
}

/// The same, with settings of its own.
async fn with_settings(
    settings: Settings,
    backend: config::Backend,
    work: impl AsyncFnOnce(&App, TeamId) -> Result<()>,
) -> Result<()> {
    let none = match &backend {
        config::Backend::Folder(folder) => {
            let data = std::path::absolute(&folder.settings.data)
                .unwrap_or_else(|_| folder.settings.data.clone());
            let none = format!(
                "no installation in {}: name its data folder with --data or TRAPLINE_DATA",
                data.display()
            );
            anyhow::ensure!(Folder::is_installed(&folder.settings.data), none);
            none
        }
        config::Backend::Cluster(cluster) => {
            format!(
                "no installation in keyspace {}: `trapline migrate` makes one",
                cluster.urls.keyspace
            )
        }
    };
    let clock = clock();
    let Opened { backend, master, .. } = Backend::open(backend, clock.clone(), false).await?;
    let shutdown = CancellationToken::new();
    let _shutdown = shutdown.clone().drop_guard();
    let app = backend.start(clock, settings, &master, false, shutdown.clone()).await?;
    let outcome = match app.access().first_team().await? {
        Some(first) => work(&app, first).await,
        None => Err(anyhow::anyhow!(none)),
    };
    shutdown.cancel();
    drop(app);
    backend.close().await;
    outcome
}
