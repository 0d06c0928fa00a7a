use std::path::Path;

use trapline_store::Clock;

use crate::{
    UrlError,
    cql::{CqlError, CqlOptions, options::CqlSettings},
};

fn options(url: &str) -> CqlOptions {
    let (url, keyspace) = (url.to_owned(), "trapline".to_owned());
    CqlOptions { url, keyspace, clock: Clock::system(), create: false }
}

fn settings(url: &str) -> CqlSettings {
    CqlSettings::of(&options(url)).unwrap()
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
    let user = settings.user.as_ref().unwrap();
    assert_eq!((user.user.as_str(), user.password.as_deref()), ("us@er", Some("p/a:+w")));
    assert!(settings.tls);
    assert_eq!(settings.authorities.as_deref(), Some(Path::new("/etc/ca file.pem")));
    assert_eq!(settings.datacenter.as_deref(), Some("eu west"));
    assert_eq!(settings.replication, Some(5));
}

#[test]
fn nothing_but_a_host() {
    let settings = settings("a");
    assert!(settings.user.is_none() && !settings.tls && settings.authorities.is_none());
    assert!(settings.datacenter.is_none() && settings.replication.is_none());
}

#[test]
fn what_cannot_be_understood() {
    let value = |parameter, wanted: &str| UrlError::Value { parameter, wanted: wanted.to_owned() };
    let copies = || value("replication", "a number from 1 to 15");
    let known = "tls, ca, dc, replication".to_owned();
    let login = || {
        UrlError::User(
            "before the @ must come a user name, a colon and a password, percent-encoded",
        )
    };
    let cases = [
        ("", UrlError::Hosts(100)),
        ("redis://a", UrlError::Scheme("cql://".to_owned())),
        ("a,,b", UrlError::Host(2)),
        ("a/keyspace", UrlError::Path("nothing but parameters may follow the hosts")),
        ("cql://user@a", login()),
        ("cql://:secret@a", login()),
        ("a?TLS=true", UrlError::Parameter { number: 1, known }),
        ("a?tls=yes", value("tls", "true or false")),
        ("a?ca=/ca.pem", UrlError::Together("ca is of no use without tls=true")),
        ("a?tls=true&ca=", value("ca", "a path")),
        ("a?dc=", value("dc", "a name")),
        ("a?replication=0", copies()),
        ("a?replication=16", copies()),
    ];
    for (url, expected) in cases {
        match CqlSettings::of(&options(url)) {
            Err(CqlError::Address(error)) => assert_eq!(error, expected, "{url}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[test]
fn keyspaces() {
    for name in ["a", "trapline_2", &"a".repeat(32)] {
        let options = CqlOptions { keyspace: name.to_owned(), ..options("a") };
        assert_eq!(CqlSettings::of(&options).unwrap().keyspace, name);
    }
    for name in ["", "Trapline", "2nd", "_a", "a-b", "a\"b", "ä", &"a".repeat(33)] {
        let options = CqlOptions { keyspace: name.to_owned(), ..options("a") };
        let refused = CqlSettings::of(&options);
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
        let parsed = CqlSettings::of(&options);
        let shown = match &parsed {
            Ok(settings) => format!("{settings:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!format!("{shown} {options:?}").contains("s3cret"), "{url}: {shown}");
    }
}
