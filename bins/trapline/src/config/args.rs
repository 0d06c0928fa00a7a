//! The commands and which settings each has, as texts: `assemble` reads them, and reports all that is wrong.

use clap::{Args, Parser, Subcommand};

use super::{
    groups::{
        ApiDefaults, BackupPlace, BackupSchedule, CertificateSettings, ClusterUrls, DataFolder,
        FirstKey, HttpAddress, HttpsAddress, MasterSecret, Observability, PlanSettings,
        PublicAddresses, RelaySettings, SignIn, SmtpSettings, Stopping, WebhookSettings,
    },
    setting::SettingTexts,
};
use crate::{http, manual::Shell, version};

/// Catches the mail that an application sends while it is tested.
#[derive(Debug, Parser)]
#[command(name = "trapline", version = version::DETAILS, args_conflicts_with_subcommands = true)]
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
    /// Make a link that lets a person in, beside running servers too. It works once, within 24 hours.
    Link(Box<LinkArgs>),
    /// Manage teams, beside running servers too.
    #[command(subcommand)]
    Team(TeamCommand),
    /// Verify mail domains for the single sign-on of teams, beside running servers too.
    #[command(subcommand)]
    Sso(SsoCommand),
    /// Print the audit log of a team, as far as it is kept (400 days), newest first: a line of JSON for
    /// each entry. That of a deleted team is kept, too.
    Audit {
        /// The team's id, also that of a deleted one; the first team when left out.
        #[arg(long, value_name = "ID")]
        team: Option<String>,
        #[command(flatten)]
        backend: Box<BackendArgs>,
    },
    /// List the plans that teams can be on, and put a team on one.
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Write an archive of everything, beside running servers too: for a restore into an empty installation
    /// of either mode.
    Backup(Box<BackupArgs>),
    /// Restore an archive into an empty data folder, or into a cluster that has nothing yet.
    Restore {
        /// The archive: a file, or an object such as `s3://bucket/prefix/trapline-….tar`. Of a folder or a
        /// prefix it is the newest.
        #[arg(long, value_name = "PLACE")]
        from: String,
        #[command(flatten)]
        backend: Box<BackendArgs>,
    },
    /// Read an archive whole, and say what is in it or what is wrong with it.
    Verify {
        /// The archive, as in `trapline restore`.
        #[arg(long, value_name = "PLACE")]
        from: String,
    },
    /// Ask a server whether it is ready: the exit code is 0 when it is, and 1 when not.
    Probe(ProbeArgs),
    /// Print the manual page of a command, for `man -l -`.
    Man {
        /// The command, as in `key create`; all commands together when left out.
        command: Vec<String>,
    },
    /// Print what a shell reads to complete commands and flags.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// List the plans and what they allow.
    List {
        #[command(flatten)]
        plans: SettingTexts<PlanSettings>,
    },
    /// Put a team on a plan, beside running servers too. Every process follows within 5 seconds.
    Set {
        /// The plan's id, as `trapline plan list` shows it.
        plan: String,
        /// The team's id; the first team when left out.
        #[arg(long, value_name = "ID")]
        team: Option<String>,
        #[command(flatten)]
        plans: SettingTexts<PlanSettings>,
        #[command(flatten)]
        backend: Box<BackendArgs>,
    },
}

impl PlanCommand {
    /// The plans that there are.
    pub(crate) fn plans(&self) -> &SettingTexts<PlanSettings> {
        match self {
            Self::List { plans } | Self::Set { plans, .. } => plans,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SsoCommand {
    /// Verify that a mail domain is a team's, which has named it in its settings: from then on the team's
    /// identity provider speaks for everybody who has an address there.
    VerifyDomain {
        /// The domain, such as example.com.
        domain: String,
        /// The team's id; the first team when left out.
        #[arg(long, value_name = "ID")]
        team: Option<String>,
        #[command(flatten)]
        backend: Box<BackendArgs>,
    },
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
        plans: SettingTexts<PlanSettings>,
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
pub(crate) struct LinkArgs {
    /// Whom it lets in, with a new password. When left out, the owner of the first team; where there is
    /// none yet, whoever opens the link becomes it.
    #[arg(long, value_name = "ADDRESS")]
    pub email: Option<String>,
    #[command(flatten)]
    pub http: SettingTexts<HttpAddress>,
    #[command(flatten)]
    pub public: SettingTexts<PublicAddresses>,
    #[command(flatten)]
    pub backend: BackendArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// The server's URL, and what is asked of it, as in `http://10.0.0.1:8025/readyz?services=false`. The
    /// path is /readyz when left out, and the server the one at the HTTP address when all is.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    #[command(flatten)]
    pub http: SettingTexts<HttpAddress>,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Where the archive goes: a file that ends in .tar, a folder, or `s3://bucket/prefix` with the
    /// parameters of `--blobs`. In a folder or under a prefix its name is the time. Without it,
    /// `--backup-to`.
    #[arg(long, value_name = "PLACE")]
    pub to: Option<String>,
    /// Leave the secret key and the certificate authority out, for who keeps them elsewhere.
    #[arg(long)]
    pub without_keys: bool,
    #[command(flatten)]
    pub place: SettingTexts<BackupPlace>,
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
    pub folder: SettingTexts<DataFolder>,
    #[command(flatten)]
    pub cluster: SettingTexts<ClusterUrls>,
    #[command(flatten)]
    pub secret: SettingTexts<MasterSecret>,
}

/// The HTTP listener, and how a process starts and ends.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    #[command(flatten)]
    pub address: SettingTexts<HttpAddress>,
    #[command(flatten)]
    pub limits: SettingTexts<http::Limits>,
    #[command(flatten)]
    pub stopping: SettingTexts<Stopping>,
    /// Print nothing at the start: no addresses, and no secrets that a collector of logs would keep.
    #[arg(long)]
    pub quiet: bool,
    /// Check the settings and the variables, report everything that is wrong, and exit.
    #[arg(long)]
    pub check_config: bool,
}

/// The SMTP edge.
#[derive(Debug, Args)]
pub(crate) struct EdgeArgs {
    #[command(flatten)]
    pub certificate: SettingTexts<CertificateSettings>,
    #[command(flatten)]
    pub smtp: SettingTexts<SmtpSettings>,
    #[command(flatten)]
    pub limits: SettingTexts<trapline_smtp::Limits>,
}

/// The API.
#[derive(Debug, Args)]
pub(crate) struct ApiArgs {
    #[command(flatten)]
    pub https: SettingTexts<HttpsAddress>,
    #[command(flatten)]
    pub defaults: SettingTexts<ApiDefaults>,
    #[command(flatten)]
    pub settings: SettingTexts<trapline_app::Settings>,
}

/// What is sent to others.
#[derive(Debug, Args)]
pub(crate) struct OutboundArgs {
    #[command(flatten)]
    pub webhooks: SettingTexts<WebhookSettings>,
    #[command(flatten)]
    pub relay: SettingTexts<RelaySettings>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub http: HttpArgs,
    #[command(flatten)]
    pub edge: EdgeArgs,
    #[command(flatten)]
    pub public: SettingTexts<PublicAddresses>,
    #[command(flatten)]
    pub first_key: SettingTexts<FirstKey>,
    #[command(flatten)]
    pub folder: SettingTexts<DataFolder>,
    #[command(flatten)]
    pub secret: SettingTexts<MasterSecret>,
    #[command(flatten)]
    pub api: ApiArgs,
    #[command(flatten)]
    pub sign_in: SettingTexts<SignIn>,
    #[command(flatten)]
    pub plans: SettingTexts<PlanSettings>,
    #[command(flatten)]
    pub outbound: OutboundArgs,
    #[command(flatten)]
    pub backup_place: SettingTexts<BackupPlace>,
    #[command(flatten)]
    pub backups: SettingTexts<BackupSchedule>,
    #[command(flatten)]
    pub observe: SettingTexts<Observability>,
}

/// What every process of a cluster has.
#[derive(Debug, Args)]
pub(crate) struct MemberArgs {
    #[command(flatten)]
    pub http: HttpArgs,
    #[command(flatten)]
    pub public: SettingTexts<PublicAddresses>,
    #[command(flatten)]
    pub cluster: SettingTexts<ClusterUrls>,
    #[command(flatten)]
    pub secret: SettingTexts<MasterSecret>,
    #[command(flatten)]
    pub plans: SettingTexts<PlanSettings>,
    #[command(flatten)]
    pub observe: SettingTexts<Observability>,
}

#[derive(Debug, Args)]
pub(crate) struct ApiRoleArgs {
    #[command(flatten)]
    pub member: MemberArgs,
    #[command(flatten)]
    pub api: ApiArgs,
    #[command(flatten)]
    pub certificate: SettingTexts<CertificateSettings>,
    #[command(flatten)]
    pub outbound: OutboundArgs,
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
    pub outbound: OutboundArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    pub public: SettingTexts<PublicAddresses>,
    #[command(flatten)]
    pub first_key: SettingTexts<FirstKey>,
    #[command(flatten)]
    pub cluster: SettingTexts<ClusterUrls>,
    #[command(flatten)]
    pub secret: SettingTexts<MasterSecret>,
    #[command(flatten)]
    pub observe: SettingTexts<Observability>,
    /// Print nothing: neither addresses nor the first key, which `trapline key create` makes another of.
    #[arg(long)]
    pub quiet: bool,
}
