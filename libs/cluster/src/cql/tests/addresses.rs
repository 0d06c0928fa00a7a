use std::path::Path;

use trapline_store::Clock;

use crate::cql::{AddressError, CqlError, CqlOptions, options::Settings};

fn options(url: &str) -> CqlOptions {
    let (url, keyspace) = (url.to_owned(), "trapline".to_owned());
    CqlOptions { url, keyspace, clock: Clock::system(), create: false }
}

fn settings(url: &str) -> Settings {
    Settings::of(&options(url)).unwrap()
}

#[test]
fn hosts_with_and_without_ports() {
    let cases = [
        ("localhost", vec!["localhost:9042"]),
        ("127.0.0.1:9043", vec!["127.0.0.1:9043"]),
        ("cql://a.example,b-1.example:19042/", vec!["a.example:9042", "b-1.example:19042"]),
        ("cql://[::1],[2001:db8::7]:9043", vec!["[::1]:9042", "[2001:db8::7]:9043"]),
    ];
    for (url, hosts) in cases {
        assert_eq!(settings(url).hosts, hosts, "{url}");
    }
}

#[test]
fn everything_at_once() {
    let url =
        "cql://us%40er:p%2Fa%3A+w@a,b?tls=true&ca=/etc/ca%20file.pem&dc=eu+west&replication=5";
    let settings = settings(url);
    let login = settings.login.as_ref().unwrap();
    assert_eq!((login.user.as_str(), login.password.as_str()), ("us@er", "p/a:+w"));
    assert!(settings.tls);
    assert_eq!(settings.authorities.as_deref(), Some(Path::new("/etc/ca file.pem")));
    assert_eq!(settings.datacenter.as_deref(), Some("eu west"));
    assert_eq!(settings.replication, Some(5));
}

#[test]
fn nothing_but_a_host() {
    let settings = settings("a");
    assert!(settings.login.is_none() && !settings.tls && settings.authorities.is_none());
    assert!(settings.datacenter.is_none() && settings.replication.is_none());
}

#[test]
fn what_cannot_be_understood() {
    let hosts = "a,".repeat(64) + "a";
    let cases = [
        ("", AddressError::Hosts),
        ("cql://", AddressError::Hosts),
        ("cql://?tls=true", AddressError::Hosts),
        (&hosts, AddressError::Hosts),
        ("redis://a", AddressError::Scheme),
        ("a,,b", AddressError::Host(2)),
        ("a:", AddressError::Host(1)),
        ("a:0", AddressError::Host(1)),
        ("a:65536", AddressError::Host(1)),
        ("a:1:2", AddressError::Host(1)),
        ("a b", AddressError::Host(1)),
        ("a/keyspace", AddressError::Host(1)),
        ("[::1", AddressError::Host(1)),
        ("[nine]:9042", AddressError::Host(1)),
        ("[::1]9042", AddressError::Host(1)),
        ("cql://user@a", AddressError::Login),
        ("cql://:secret@a", AddressError::Login),
        ("cql://user:%ff@a", AddressError::Login),
        ("a?TLS=true", AddressError::Parameter("TLS".to_owned())),
        ("a?tls=yes", AddressError::Value("tls must be true or false")),
        ("a?ca=/ca.pem", AddressError::Value("ca is of no use without tls=true")),
        ("a?tls=true&ca=", AddressError::Value("ca must be a path")),
        ("a?dc=", AddressError::Value("dc must be a name")),
        ("a?replication=0", AddressError::Value("replication must be a number from 1 to 15")),
        ("a?replication=16", AddressError::Value("replication must be a number from 1 to 15")),
    ];
    for (url, expected) in cases {
        match Settings::of(&options(url)) {
            Err(CqlError::Address(error)) => assert_eq!(error, expected, "{url}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[test]
fn keyspaces() {
    for name in ["a", "trapline_2", &"a".repeat(32)] {
        let options = CqlOptions { keyspace: name.to_owned(), ..options("a") };
        assert_eq!(Settings::of(&options).unwrap().keyspace, name);
    }
    for name in ["", "Trapline", "2nd", "_a", "a-b", "a\"b", "ä", &"a".repeat(33)] {
        let options = CqlOptions { keyspace: name.to_owned(), ..options("a") };
        let refused = Settings::of(&options);
        assert!(matches!(refused, Err(CqlError::KeyspaceName(_))), "{name}: {refused:?}");
    }
}

#[test]
fn a_password_is_never_shown() {
    let with_secret = [
        "cql://user:s3cret@a",
        "cql://user:s3cret@a:x",
        "user:s3cret",
        "cql://user:s3cret",
        "cql://s3cret@a",
        "cql://user:s3cret%ff@a",
        "cql://user:x/s3cret@a b",
        "cql://user:s3cret@a?what=1",
        "nats://user:s3cret@a",
    ];
    for url in with_secret {
        let options = options(url);
        let parsed = Settings::of(&options);
        let shown = match &parsed {
            Ok(settings) => format!("{settings:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!format!("{shown} {options:?}").contains("s3cret"), "{url}: {shown}");
    }
}
