//! Settings as flags, as variables, and beside what else an environment holds.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Output},
};

/// Free text refuses nothing; every other setting refuses this.
const BAD: &str = "no such thing;";

struct Setting {
    flag: String,
    variable: String,
    default: Option<String>,
}

/// The settings of a role, as the page that is made from them has them.
fn settings(role: &str) -> Vec<Setting> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    let mut settings = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| `--")) {
        let cells: Vec<_> = line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        let code = |cell: &str| Some(cell.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        if cells[3].split(", ").any(|of| of == role) {
            settings.push(Setting {
                flag: code(cells[0]).unwrap(),
                variable: code(cells[1]).unwrap(),
                default: code(cells[2]),
            });
        }
    }
    assert!(settings.len() > 10, "{role}");
    settings
}

/// `trapline` in an environment that holds only these variables.
fn trapline(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trapline"));
    command.args(arguments).env_clear().envs(variables.iter().copied());
    command
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(all).unwrap()
}

fn good(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = trapline(arguments, variables).arg("--check-config").output().unwrap();
    assert!(output.status.success(), "{variables:?} {}", text(&output));
    text(&output)
}

fn bad(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = trapline(arguments, variables).arg("--check-config").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{variables:?} {}", text(&output));
    text(&output)
}

/// What the lines of a report begin with.
fn named(report: &str) -> BTreeSet<String> {
    let lines = report.lines().filter_map(|line| line.strip_prefix("  "));
    lines.filter_map(|line| Some(line.split([' ', ':']).next()?.to_owned())).collect()
}

#[test]
fn a_bad_value_is_named_by_where_it_came_from() {
    for role in ["serve", "api", "smtp", "worker"] {
        let settings = settings(role);
        let flags = settings.iter().map(|setting| format!("{}={BAD}", setting.flag));
        let flags: Vec<_> = [role.to_owned()].into_iter().chain(flags).collect();
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        let by_flag = named(&bad(&flags, &[]));
        let variables: Vec<_> =
            settings.iter().map(|setting| (setting.variable.as_str(), BAD)).collect();
        let by_variable = named(&bad(&[role], &variables));
        for Setting { flag, variable, .. } in &settings {
            assert_eq!(by_flag.contains(flag), by_variable.contains(variable), "{role} {flag}");
        }
        assert_eq!(by_flag.len(), by_variable.len(), "{role}: {by_flag:?} {by_variable:?}");
        assert!(by_flag.len() > settings.len() / 3, "{role}: {by_flag:?}");
    }
}

#[test]
fn a_setting_is_taken_from_a_flag_and_from_a_variable_and_an_empty_one_is_none() {
    let settings = settings("serve");
    let defaults: Vec<_> = settings
        .iter()
        .filter_map(|setting| Some((setting, setting.default.as_deref()?)))
        .collect();
    let variables: Vec<_> =
        defaults.iter().map(|(setting, value)| (setting.variable.as_str(), *value)).collect();
    let flags: Vec<_> =
        defaults.iter().map(|(setting, value)| format!("{}={value}", setting.flag)).collect();
    good(&["serve"], &variables);
    good(&flags.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let empty: Vec<_> = settings.iter().map(|setting| (setting.variable.as_str(), "")).collect();
    assert_eq!(good(&["serve"], &empty), "The settings are good.\n");
}

/// Everything that Kubernetes sets for a Service, and Docker for a link.
fn of_service(name: &str) -> Vec<(String, String)> {
    let values = [
        ("SERVICE_HOST", "10.0.0.1"),
        ("SERVICE_PORT", "25"),
        ("SERVICE_PORT_SMTP", "25"),
        ("PORT", "tcp://10.0.0.1:25"),
        ("PORT_25_TCP", "tcp://10.0.0.1:25"),
        ("PORT_25_TCP_PROTO", "tcp"),
        ("PORT_25_TCP_PORT", "25"),
        ("PORT_25_TCP_ADDR", "10.0.0.1"),
        ("PORT_53_UDP", "udp://10.0.0.1:53"),
    ];
    let variable = |(end, value): (&str, &str)| (format!("{name}_{end}"), value.to_owned());
    values.into_iter().map(variable).collect()
}

#[test]
fn services_of_our_names_are_no_settings() {
    let settings = settings("serve");
    let ports: Vec<_> =
        settings.iter().filter_map(|setting| setting.variable.strip_suffix("_PORT")).collect();
    assert!(ports.contains(&"TRAPLINE_SMTP"));
    let others = ["TRAPLINE", "TRAPLINE_HTTP", "TRAPLINE_API", "TRAPLINE_WORKER", "TRAPLINE_RELAY"];
    for name in ports.iter().chain(&others) {
        let variables = of_service(name);
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let told = good(&["serve"], &variables);
        let port = format!("{name}_PORT");
        let is_setting = settings.iter().any(|setting| setting.variable == port);
        assert_eq!(told.lines().count(), 1 + usize::from(is_setting), "{told}");
        assert_eq!(told.contains(&format!("{port} is ignored")), is_setting, "{told}");
    }
}

#[test]
fn a_variable_that_is_no_setting_is_told_with_the_nearest_one() {
    let strangers =
        [("TRAPLINE_SMPT", "0.0.0.0:25"), ("TRAPLINE_QWERTY", "1"), ("TRAPLINE_URL", "http://a")];
    let told = good(&["serve"], &strangers);
    assert!(told.contains("TRAPLINE_SMPT is no setting and is ignored; is TRAPLINE_SMTP meant?"));
    assert!(told.contains("TRAPLINE_QWERTY is no setting and is ignored."), "{told}");
    assert!(!told.contains("TRAPLINE_URL"), "clients have it: {told}");
}

#[test]
fn the_clock_of_a_test_is_known_to_builds_that_follow_it() {
    let told = good(&["serve"], &[("TRAPLINE_TEST_CLOCK", "/nowhere")]);
    let is_known = cfg!(feature = "test-clock");
    assert_eq!(told.contains("TRAPLINE_TEST_CLOCK is no setting"), !is_known, "{told}");
}

/// Arguments, variables, and what the report says.
type Case = (&'static [&'static str], &'static [(&'static str, &'static str)], &'static str);

#[test]
fn what_is_needed_says_with_what() {
    let cases: [Case; 7] = [
        (
            &[],
            &[("TRAPLINE_RELAY_HOST", "a.example")],
            "--relay-from: is needed with TRAPLINE_RELAY_HOST",
        ),
        (&["--relay-host=a.example"], &[], "--relay-from: is needed with --relay-host"),
        (&[], &[("TRAPLINE_TLS_CERT", "a.pem")], "--tls-key: is needed with TRAPLINE_TLS_CERT"),
        (&["--tls-key=a.pem"], &[], "--tls-cert: is needed with --tls-key"),
        (&["api", "--tls-key=a.pem"], &[], "--tls-cert: is needed with --tls-key"),
        (
            &["--relay-host=a.example", "--relay-from=a@b.example"],
            &[("TRAPLINE_RELAY_PASSWORD", "pa55")],
            "--relay-username: is needed with TRAPLINE_RELAY_PASSWORD",
        ),
        (&["api"], &[], "--cql: is needed in a cluster"),
    ];
    for (arguments, variables, wanted) in cases {
        let report = bad(arguments, variables);
        assert!(report.contains(wanted), "{wanted:?} in {report}");
        assert!(!report.contains("pa55"), "{report}");
    }
}

#[test]
fn a_variable_that_is_no_text_is_named() {
    let bytes = OsStr::from_bytes(b"/data/caf\xe9");
    let mut command = trapline(&["serve", "--check-config"], &[]);
    let output = command.env("TRAPLINE_DATA", bytes).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("TRAPLINE_DATA: wants a text in UTF-8"), "{}", text(&output));
}

#[test]
fn a_metrics_token_that_can_be_guessed_is_told() {
    let short = "fifteen letters";
    let told = good(&["serve"], &[("METRICS_TOKEN", short)]);
    assert!(told.contains("the metrics token can be guessed"), "{told}");
    assert!(!told.contains(short), "{told}");
    assert_eq!(
        good(&["serve", "--metrics-token=sixteen letters!"], &[]),
        "The settings are good.\n"
    );
}

#[test]
fn a_folder_in_memory_is_refused() {
    let report = bad(&["--data", ":memory:"], &[]);
    assert!(report.contains("--data :memory:: wants a folder"), "{report}");
}

/// Values that each secret setting takes.
const SECRETS: [(&str, &str); 10] = [
    ("TRAPLINE_API_KEY", "tl_abcdefghijklmnopqrstuvwxyz"),
    ("TRAPLINE_BACKUP_TO", "s3://backups?region=eu-west-1&key=a&secret=pa55"),
    ("TRAPLINE_BLOBS", "s3://mail?region=eu-west-1&key=a&secret=pa55"),
    ("TRAPLINE_CQL", "cql://ada:pa55@127.0.0.1:9042"),
    ("METRICS_TOKEN", "sixteen letters!"),
    ("TRAPLINE_NATS", "nats://ada:pa55@127.0.0.1:4222"),
    ("TRAPLINE_REDIS", "redis://:pa55@127.0.0.1:6379"),
    ("TRAPLINE_RELAY_PASSWORD", "pa55"),
    ("TRAPLINE_SECRET_KEY", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
    ("TRAPLINE_SPAM_ENGINE", "rspamd://127.0.0.1:11334?password=pa55"),
];
/// Settings that some of these need.
const BESIDE: [(&str, &str); 3] = [
    ("TRAPLINE_RELAY_HOST", "relay.example"),
    ("TRAPLINE_RELAY_FROM", "a@mail.example"),
    ("TRAPLINE_RELAY_USERNAME", "ada"),
];

#[test]
fn every_secret_may_be_in_a_file() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    let rows = page.lines().filter(|line| line.contains("*Secret*"));
    let documented: BTreeSet<_> = rows.filter_map(|line| line.split('`').nth(3)).collect();
    assert_eq!(documented, SECRETS.iter().map(|(variable, _)| *variable).collect());
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (variable, value) in SECRETS {
        let path = folder.path().join(variable);
        // As editors leave them, and as Kubernetes mounts them.
        fs::write(&path, format!("{value}\n")).unwrap();
        files.push((format!("{variable}_FILE"), path.to_str().unwrap().to_owned()));
    }
    let files = files.iter().map(|(name, path)| (name.as_str(), path.as_str()));
    let variables: Vec<_> = files.chain(BESIDE).collect();
    assert_eq!(good(&["serve"], &variables[..1]), "The settings are good.\n");
    if cfg!(feature = "cluster") {
        // Each of them is needed there.
        assert_eq!(good(&["api"], &variables), "The settings are good.\n");
    }
    let flag = format!("--secret-key-file={}", variables[8].1);
    good(&["serve", &flag], &[]);
}

#[test]
fn a_secret_in_a_file_and_by_itself_is_one_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, "pa55 of the metrics").unwrap();
    let path = path.to_str().unwrap();
    let flag = format!("--metrics-token-file={path}");
    let too_many = "--metrics-token or METRICS_TOKEN is given too";
    let report = bad(&["serve", &flag], &[("METRICS_TOKEN", "pa55 of the others")]);
    assert!(report.contains(&format!("--metrics-token-file {path}: {too_many}")), "{report}");
    let report = bad(&["serve", "--metrics-token=pa55"], &[("METRICS_TOKEN_FILE", path)]);
    assert!(report.contains(&format!("METRICS_TOKEN_FILE {path}: {too_many}")), "{report}");
    assert!(!report.contains("pa55"), "{report}");
    // An environment may leave either of them empty.
    good(&["serve", &flag], &[("METRICS_TOKEN", "")]);
    good(&["serve"], &[("METRICS_TOKEN", "sixteen letters!"), ("METRICS_TOKEN_FILE", "")]);
}

#[test]
fn a_file_that_holds_no_secret_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cases = [
        (folder.path().join("none").to_str().unwrap().to_owned(), "cannot be read: "),
        (folder.path().to_str().unwrap().to_owned(), "cannot be read: "),
        (file("empty", b"\r\n"), "is empty"),
        (file("latin1", b"caf\xe9"), "cannot be read: "),
        (file("large", &vec![b'x'; 65_537]), "has more than 65536 bytes"),
    ];
    for (path, wrong) in cases {
        let report = bad(&["serve", "--secret-key-file", &path], &[]);
        assert!(report.contains(&format!("--secret-key-file {path}: {wrong}")), "{report}");
    }
    let path = file("key", b"pa55");
    let report = bad(&["serve", "--secret-key-file", &path], &[]);
    assert!(report.contains("--secret-key (hidden): wants 32 bytes in base64"), "{report}");
}
