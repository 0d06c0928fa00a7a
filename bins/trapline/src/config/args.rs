//! The command line. Values are texts here; `check` reads them, so that all faults come at once.

mod edge;
mod groups;

use clap::{Args, Parser, Subcommand};

pub(crate) use edge::EdgeArgs;
pub(crate) use groups::{
    ApiArgs, ClusterArgs, FolderArgs, HttpArgs, ObserveArgs, PublicArgs, RelayArgs, SecretArgs,
    WebhookArgs,
};

/// Catches the mail that an application sends while it is tested.
#[derive(Debug, Parser)]
#[command(name = "trapline", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything in this process over one data folder (the default).
    Serve(Box<ServeArgs>),
    /// Run the API of a cluster.
    Api(Box<ApiRoleArgs>),
    /// Run an SMTP edge of a cluster.
    Smtp(Box<SmtpRoleArgs>),
    /// Run a worker of a cluster.
    Worker(Box<WorkerRoleArgs>),
    /// Make or update what a cluster keeps in its services; safe to repeat. The first time, this
    /// makes the first team, inbox and key too.
    Migrate(Box<MigrateArgs>),
    /// Manage API keys, beside running servers too.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Manage teams, beside running servers too.
    #[command(subcommand)]
    Team(TeamCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make an API key and print it; it is shown once.
    Create(NewKeyArgs),
    /// List a team's API keys, newest first. Their values are kept nowhere and so are not shown.
    List(ListKeysArgs),
    /// Take an API key back. Every process refuses it within 5 seconds.
    Revoke(RevokeKeyArgs),
}

impl KeyCommand {
    /// Where the keys are.
    pub(crate) fn backend(&self) -> &BackendArgs {
        match self {
            Self::Create(args) => &args.backend,
            Self::List(args) => &args.backend,
            Self::Revoke(args) => &args.backend,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommand {
    /// Make a team and print its id.
    Create {
        /// The team's name.
        name: String,
        #[command(flatten)]
        backend: BackendArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// What the key is for.
    #[arg(long, default_value = "Command line")]
    pub name: String,
    /// The team's id; the first team when left out.
    #[arg(long, value_name = "ID")]
    pub team: Option<String>,
    /// What the key may do: `write`, which includes reading, or `read`.
    #[arg(long, default_value = "write", value_name = "ACCESS")]
    pub access: String,
    /// When the key stops working, as in 2030-01-01T00:00:00Z; never when left out.
    #[arg(long, value_name = "TIME")]
    pub expires_at: Option<String>,
    #[command(flatten)]
    pub backend: BackendArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListKeysArgs {
    /// The team's id; the first team when left out.
    #[arg(long, value_name = "ID")]
    pub team: Option<String>,
    #[command(flatten)]
    pub backend: BackendArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeKeyArgs {
    /// The key: its id or its prefix, as `trapline key list` shows them, or its whole value.
    pub key: String,
    /// The team's id; the first team when left out.
    #[arg(long, value_name = "ID")]
    pub team: Option<String>,
    #[command(flatten)]
    pub backend: BackendArgs,
}

/// Where a command finds the data: in a cluster when `--cql` is there, else in a folder.
#[derive(Debug, Args)]
pub(crate) struct BackendArgs {
    #[command(flatten)]
    pub folder: FolderArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub secret: SecretArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub http: HttpArgs,
    #[command(flatten)]
    pub edge: EdgeArgs,
    #[command(flatten)]
    pub public: PublicArgs,
    /// An API key that the first team is to have: `tl_` and at least 20 letters and digits. It takes
    /// the place of the key that was set here before. Clients keep their key in the same variable.
    #[arg(
        long,
        env = "TRAPLINE_API_KEY",
        hide_env_values = true,
        value_name = "KEY",
        help_heading = "Secrets"
    )]
    pub api_key: Option<String>,
    #[command(flatten)]
    pub folder: FolderArgs,
    #[command(flatten)]
    pub secret: SecretArgs,
    #[command(flatten)]
    pub api: ApiArgs,
    #[command(flatten)]
    pub webhooks: WebhookArgs,
    #[command(flatten)]
    pub relay: RelayArgs,
    #[command(flatten)]
    pub observe: ObserveArgs,
}

/// What every process of a cluster has.
#[derive(Debug, Args)]
pub(crate) struct MemberArgs {
    #[command(flatten)]
    pub http: HttpArgs,
    #[command(flatten)]
    pub public: PublicArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub secret: SecretArgs,
    #[command(flatten)]
    pub observe: ObserveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ApiRoleArgs {
    #[command(flatten)]
    pub member: MemberArgs,
    #[command(flatten)]
    pub api: ApiArgs,
    #[command(flatten)]
    pub webhooks: WebhookArgs,
    #[command(flatten)]
    pub relay: RelayArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SmtpRoleArgs {
    #[command(flatten)]
    pub member: MemberArgs,
    #[command(flatten)]
    pub edge: EdgeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerRoleArgs {
    #[command(flatten)]
    pub member: MemberArgs,
    #[command(flatten)]
    pub webhooks: WebhookArgs,
    #[command(flatten)]
    pub relay: RelayArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    pub public: PublicArgs,
    /// An API key that the first team is to have: `tl_` and at least 20 letters and digits. It takes
    /// the place of the key that was set here before. Clients keep their key in the same variable.
    #[arg(
        long,
        env = "TRAPLINE_API_KEY",
        hide_env_values = true,
        value_name = "KEY",
        help_heading = "Secrets"
    )]
    pub api_key: Option<String>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub secret: SecretArgs,
    #[command(flatten)]
    pub observe: ObserveArgs,
}
