#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chart;
mod page;

use std::{fs, net::SocketAddr, time::Duration};

use clap::{Args, FromArgMatches, Parser};

use trapline_worker::RelayTls;

use self::page::default;
use super::{
    Cli, Command, RelayConfig,
    errors::ConfigErrors,
    setting::{SettingGroup, SettingTexts, settings},
    values::{address, text},
};

#[test]
fn every_bad_setting_is_reported_at_once() {
    let cli = Cli::parse_from([
        "trapline",
        "--http=nowhere",
        "--smtp-message=25XB",
        "--smtp-errors=0",
        "--durability=never",
        "--api-key=tl_secret!",
        "--mail-domain=a..b",
        "--base-url=ftp://x",
        "--drain=26s",
    ]);
    let report = cli.serve.assemble().err().unwrap().to_string();
    for flag in [
        "http",
        "smtp-message",
        "smtp-errors",
        "durability",
        "api-key",
        "mail-domain",
        "base-url",
        "drain",
    ] {
        assert!(report.contains(&format!("--{flag} ")), "{flag} in {report}");
    }
    assert!(!report.contains("tl_secret"), "{report}");
}

#[test]
fn a_cluster_says_what_it_needs() {
    let cli = Cli::parse_from(["trapline", "worker", "--cql-keyspace=Trap-line"]);
    let Some(Command::Worker(args)) = cli.command else { panic!("another command") };
    let report = args.assemble().err().unwrap().to_string();
    for flag in ["cql", "cql-keyspace", "blobs", "nats", "redis", "secret-key"] {
        assert!(report.contains(&format!("--{flag}")), "{flag} in {report}");
    }
    assert!(report.contains("--cql: is needed in a cluster"), "{report}");
}

#[cfg(feature = "cluster")]
#[test]
fn bad_urls_of_services_are_reported_with_the_rest_and_without_their_passwords() {
    let cli = Cli::parse_from([
        "trapline",
        "worker",
        "--cql=cql://pa55@a",
        "--blobs=s3://mail?secret=pa55",
        "--nats=nats://joe:pa55@a:port",
        "--redis=redis://:pa55@a,b",
        "--secret-key=pa55",
    ]);
    let Some(Command::Worker(args)) = cli.command else { panic!("another command") };
    let report = args.assemble().err().unwrap().to_string();
    for line in [
        "--cql (hidden): before the @ must come a user name",
        "--blobs (hidden): key and secret go together",
        "--nats (hidden): host 1 is not a name or address",
        "--redis (hidden): several hosts need cluster=true",
        "--secret-key (hidden): wants 32 bytes",
    ] {
        assert!(report.contains(line), "{line} in {report}");
    }
    assert!(!report.contains("pa55"), "{report}");
}

#[test]
fn the_defaults_are_good() {
    let config = Cli::parse_from(["trapline"]).serve.assemble().unwrap();
    assert_eq!(config.edge.unwrap().limits.message_size, 25 << 20);
    let api = config.api.unwrap();
    assert!(api.api_rate.is_none());
    assert_eq!(api.inbox_rate.unwrap().burst, 1_000);
}

#[test]
fn a_file_of_plans_is_read_and_all_that_is_wrong_in_it_is_reported() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let flag = format!("--plans={}", file.path().display());
    let check = |flags: &[&str]| {
        let cli = Cli::parse_from(["trapline"].iter().chain(flags));
        cli.serve.assemble().map(|config| config.plans).map_err(|report| report.to_string())
    };
    let report = check(&["--plans=/nowhere", "--upgrade-url=javascript:x"]).err().unwrap();
    for wrong in ["--plans /nowhere: cannot be read: ", "--upgrade-url javascript:x: wants an http"]
    {
        assert!(report.contains(wrong), "{report}");
    }
    let good = trapline_app::PlanCatalog::built_in_json();
    fs::write(file.path(), good.replace("\"inboxes\": 10,", "\"inboxs\": 10,")).unwrap();
    let report = check(&[&flag]).err().unwrap();
    for wrong in [
        "plans[0].limits: there is no field inboxs",
        "plans[0].limits.inboxes: is missing; null is no limit",
    ] {
        assert!(report.contains(wrong), "{report}");
    }
    fs::write(file.path(), good.replace("\"default\": \"unlimited\"", "\"default\": \"free\""))
        .unwrap();
    let settings = check(&[&flag]).unwrap().fill(trapline_app::Settings::default());
    assert_eq!(settings.plans.default_plan().id, "free");
    // A file without an end is no way to fill the memory.
    fs::write(file.path(), "[".repeat(3 << 20)).unwrap();
    assert!(check(&[&flag]).is_err());
}

/// What these settings of a relay lead to, or the report of what is wrong with them.
fn relay(flags: &[&str]) -> Result<Option<RelayConfig>, String> {
    let cli = Cli::parse_from(["trapline"].iter().chain(flags));
    cli.serve.assemble().map(|config| config.relay).map_err(|report| report.to_string())
}

#[test]
fn a_relay_needs_a_host_and_an_author() {
    let host = "--relay-host=relay.example";
    let from = "--relay-from=Trapline <no-reply@mail.example>";
    assert!(relay(&[from]).unwrap().is_none(), "no host, no relay");
    assert!(relay(&["--relay-host=", from]).unwrap().is_none(), "environments can leave one empty");
    let found = relay(&[host, from]).unwrap().unwrap();
    assert_eq!((found.host.as_str(), found.port), ("relay.example", 587));
    assert_eq!(found.from.address, "no-reply@mail.example");
    assert_eq!(found.from.name, "Trapline");
    assert!(found.tls == RelayTls::Starttls && found.credentials.is_none());
    assert!(found.bounces.is_none() && found.ca.is_none());
}

#[test]
fn a_relay_has_one_of_four_ways_of_tls() {
    let common = ["--relay-host=127.0.0.1", "--relay-from=a@mail.example"];
    let cases = [
        ("starttls", RelayTls::Starttls, 587),
        ("implicit", RelayTls::Implicit, 465),
        ("opportunistic", RelayTls::Opportunistic, 587),
        ("none", RelayTls::None, 587),
    ];
    for (mode, tls, port) in cases {
        let mode = format!("--relay-tls={mode}");
        let flags = [&common[..], &[&mode]].concat();
        let found = relay(&flags).unwrap().unwrap();
        assert!(found.tls == tls && found.port == port, "{mode}");
        let found = relay(&[&flags[..], &["--relay-port=2525"]].concat()).unwrap().unwrap();
        assert_eq!(found.port, 2525, "{mode}");
    }
}

#[test]
fn a_relay_gets_both_credentials_or_none() {
    let (username, password) = ("--relay-username=ada", "--relay-password=pa55");
    let both = Some(("ada".to_owned(), "pa55".to_owned()));
    let cases: [(&[&str], _); 6] = [
        (&[], Ok(None)),
        (&["--relay-username=", "--relay-password="], Ok(None)),
        (&[username, password], Ok(both)),
        (&[username], Err(())),
        (&[username, "--relay-password="], Err(())),
        (&[password], Err(())),
    ];
    for (flags, wanted) in cases {
        let common = ["--relay-host=relay.example", "--relay-from=a@mail.example"];
        let found = relay(&[&common[..], flags].concat());
        let found = found.map(|relay| relay.unwrap().credentials).map_err(|report| {
            assert!(report.contains(": is needed with --relay-"), "{report}");
            assert!(!report.contains("pa55"), "{report}");
        });
        assert_eq!(found, wanted, "{flags:?}");
    }
}

#[test]
fn what_is_wrong_with_a_relay_is_reported_by_its_flag() {
    let (host, from) = ("--relay-host=relay.example", "--relay-from=a@mail.example");
    let cases: [(&[&str], &str); 9] = [
        (&[host], "--relay-from: is needed with --relay-host"),
        (&[host, "--relay-from="], "--relay-from: is needed with --relay-host"),
        (&[host, "--relay-from=nobody"], "--relay-from nobody: "),
        (&[host, "--relay-from=a@b\r\nX: y"], "--relay-from a@b"),
        (&[host, from, "--relay-bounces=@"], "--relay-bounces @: "),
        (&["--relay-host=a..b", from], "--relay-host a..b: "),
        (&[host, from, "--relay-port=0"], "--relay-port 0: "),
        (&[host, from, "--relay-port=65536"], "--relay-port 65536: "),
        (&[host, from, "--relay-tls=ssl"], "--relay-tls ssl: wants starttls or implicit or "),
    ];
    for (flags, wanted) in cases {
        let report = relay(flags).err().unwrap();
        assert!(report.contains(wanted), "{wanted:?} in {report}");
    }
}

#[test]
fn load_balancers_are_named_where_they_are_required() {
    let check = |flags: &[&str]| {
        let cli = Cli::parse_from(["trapline"].iter().chain(flags));
        let config = cli.serve.assemble().map_err(|report| report.to_string())?;
        Ok::<_, String>(config.edge.unwrap().proxy_protocol())
    };
    let (required, from) =
        ("--smtp-proxy-protocol=required", "--smtp-proxy-from=10.0.0.0/8,::1/128");
    assert!(check(&[]).unwrap().is_none());
    assert!(check(&[from]).unwrap().is_none());
    assert_eq!(check(&[required, from]).unwrap().unwrap().from.len(), 2);
    let report = check(&[required]).unwrap_err();
    assert!(report.contains("--smtp-proxy-from: is needed with --smtp-proxy-protocol"), "{report}");
    for (flag, wanted) in [
        ("--smtp-proxy-protocol=v1", "wants off or required"),
        ("--smtp-proxy-from=10.0.0.1", "wants ranges such as 10.0.0.0/8"),
    ] {
        let report = check(&[flag]).unwrap_err();
        assert!(report.contains(wanted), "{report}");
    }
}

#[test]
fn a_shutdown_may_be_delayed() {
    let check = |text: &str| {
        let cli = Cli::parse_from(["trapline".to_owned(), format!("--shutdown-delay={text}")]);
        cli.serve.assemble().map(|config| config.shutdown_delay).map_err(|bad| bad.to_string())
    };
    for (text, seconds) in [("0s", 0), ("5s", 5), ("5m", 300)] {
        assert_eq!(check(text), Ok(Duration::from_secs(seconds)));
    }
    for text in ["5", "6m", "-1s", "soon"] {
        assert!(check(text).unwrap_err().contains("from 0ns to 300s"), "{text}");
    }
}

settings! {
    /// Settings that no command has.
    struct Toys(Some("Toys")) {
        /// Where the toy listens. Its value may be
        /// shown.
        address: SocketAddr = TRAPLINE_TOY_ADDRESS("ADDRESS") default("127.0.0.1:1") public, address;
        /// The toy's password.
        password: Option<String> = TOY_PASSWORD("PASSWORD") optional secret, text;
        /// What a cluster must say of the toy.
        cluster: String = TRAPLINE_TOY_CLUSTER("NAME") needed public, text;
    }
}

/// Adding a setting touches one place: everything below comes from the declaration above.
#[test]
fn one_declaration_makes_a_setting() {
    let command = SettingTexts::<Toys>::augment_args(clap::Command::new("toys"));
    let rows: Vec<_> = command
        .get_arguments()
        .map(|arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let variable = arg.get_env().unwrap().to_str().unwrap().to_owned();
            (arg.get_long().unwrap(), variable, default(arg), arg.is_hide_env_values_set(), help)
        })
        .collect();
    let row = |flag, variable: &str, default: &str, is_secret, help: &str| {
        (flag, variable.to_owned(), default.to_owned(), is_secret, help.to_owned())
    };
    let address = "Where the toy listens. Its value may be shown";
    assert_eq!(
        rows,
        [
            row("toy-address", "TRAPLINE_TOY_ADDRESS", "`127.0.0.1:1`", false, address),
            row("toy-password", "TOY_PASSWORD", "–", true, "The toy's password"),
            row(
                "toy-password-file",
                "TOY_PASSWORD_FILE",
                "–",
                false,
                "A file that holds the value of --toy-password"
            ),
            row(
                "toy-cluster",
                "TRAPLINE_TOY_CLUSTER",
                "–",
                false,
                "What a cluster must say of the toy"
            ),
        ]
    );
    let texts = |flags: &[&str]| {
        let matches = command.clone().get_matches_from([&["toys"][..], flags].concat());
        SettingTexts::<Toys>::from_arg_matches(&matches).unwrap()
    };
    let given = texts(&["--toy-password=pa55", "--toy-cluster=us"]);
    assert!(!format!("{given:?}").contains("pa55"), "{given:?}");
    let toys = ConfigErrors::collect(|errors| given.read(errors)).unwrap();
    assert_eq!(toys.address, "127.0.0.1:1".parse().unwrap());
    assert_eq!((toys.password.as_deref(), toys.cluster.as_str()), (Some("pa55"), "us"));
    let report = ConfigErrors::collect(|errors| texts(&["--toy-address=here"]).read(errors));
    let report = report.err().unwrap().to_string();
    assert!(report.contains("--toy-address here: wants an IP address"), "{report}");
    assert!(report.contains("--toy-cluster: is needed in a cluster"), "{report}");
}

/// Where a library has a default of its own, it is what the settings say.
#[test]
fn libraries_have_the_defaults_of_the_settings() {
    fn defaults<G: SettingGroup>() -> G {
        let command = SettingTexts::<G>::augment_args(clap::Command::new("defaults"));
        let texts =
            SettingTexts::<G>::from_arg_matches(&command.get_matches_from(["defaults"])).unwrap();
        ConfigErrors::collect(|errors| texts.read(errors)).unwrap()
    }
    fn same<T: std::fmt::Debug>(one: T, other: T) {
        assert_eq!(format!("{one:#?}"), format!("{other:#?}"));
    }
    same(defaults(), crate::http::Limits::default());
    same(defaults(), trapline_smtp::Limits::default());
    // Tests that make inboxes by the thousand have no limit on them.
    let settings: trapline_app::Settings = defaults();
    same(
        trapline_app::Settings { inbox_rate: None, ..settings },
        trapline_app::Settings::default(),
    );
}

#[test]
fn backups_need_a_place_for_several() {
    let backups = |flags: &[&str]| {
        let cli = Cli::parse_from([&["trapline"], flags].concat());
        cli.serve.assemble().map(|config| config.backups).map_err(|bad| bad.to_string())
    };
    assert!(backups(&["--backup-to=/srv/backups"]).unwrap().is_none());
    let daily = backups(&["--backup-to=/srv/backups", "--backup-every=1d"]).unwrap().unwrap();
    assert_eq!((daily.to.as_str(), daily.keep), ("/srv/backups", 7));
    assert_eq!(daily.every, Duration::from_hours(24));
    for (flags, wanted) in [
        (&["--backup-every=1d"][..], "--backup-to: is needed with --backup-every"),
        (&["--backup-to=a.tar"], "wants a folder, or s3://bucket/prefix"),
        (&["--backup-to=ftp://here"], "wants a file that ends in .tar, a folder, or s3://"),
        (&["--backup-to=s3://bucket?secret=pa55"], "key and secret go together"),
        (&["--backup-keep=0"], "--backup-keep"),
    ] {
        let report = backups(flags).err().unwrap();
        assert!(report.contains(wanted) && !report.contains("pa55"), "{report}");
    }
}

#[test]
fn no_secret_is_in_the_debug_form_of_the_command_line() {
    let secrets =
        ["api-key", "secret-key", "relay-password", "metrics-token", "spam-engine", "backup-to"];
    let flags = secrets.map(|flag| format!("--{flag}=pa55"));
    let cli = Cli::parse_from(["trapline"].into_iter().chain(flags.iter().map(String::as_str)));
    let text = format!("{cli:?}");
    assert_eq!(text.matches("(hidden)").count(), secrets.len(), "{text}");
    assert!(!text.contains("pa55"), "{text}");
}
