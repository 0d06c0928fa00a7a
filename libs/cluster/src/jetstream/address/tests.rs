#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn parsed(url: &str) -> NatsAddress {
    NatsAddress::parse(url).map_err(|error| format!("{url}: {error}")).unwrap()
}

fn refused(url: &str) -> String {
    NatsAddress::parse(url).err().unwrap_or_else(|| panic!("{url} was taken")).to_string()
}

#[test]
fn servers() {
    for (url, hosts) in [
        ("h1", "h1:4222"),
        ("h1:1,h2:2", "h1:1,h2:2"),
        ("nats://h1,h2:7/", "h1:4222,h2:7"),
        ("nats://user:word@10.0.0.1:4333?tls=true", "10.0.0.1:4333"),
        ("nats://[::1]:5,h", "[::1]:5,h:4222"),
    ] {
        assert_eq!(parsed(url).hosts, hosts, "{url}");
    }
}

#[test]
fn logins() {
    let password = |user: &str, password: &str| NatsLogin::Password {
        user: user.to_owned(),
        password: password.to_owned(),
    };
    for (url, login) in [
        ("nats://h", NatsLogin::Nobody),
        ("nats://joe:secret@h1,h2", password("joe", "secret")),
        ("nats://j%40e:a%2Fb%3A+@h", password("j@e", "a/b:+")),
        ("nats://joe:a@b@h", password("joe", "a@b")),
        ("nats://t0ken@h", NatsLogin::Token("t0ken".to_owned())),
        ("h?creds=/etc/a%20b", NatsLogin::Credentials("/etc/a b".into())),
        ("h?nkey=/seed", NatsLogin::Seed("/seed".into())),
    ] {
        assert!(parsed(url).login == login, "{url}");
    }
}

#[test]
fn options() {
    let address = parsed("tls://h?ca=/ca.pem&replicas=3");
    assert!(address.tls);
    assert_eq!((address.ca, address.replicas), (Some("/ca.pem".into()), Some(3)));
    let address = parsed("tls://h?tls=false");
    assert!(!address.tls);
    assert_eq!((address.ca, address.replicas), (None, None));
}

#[test]
fn refusals_say_why_and_keep_secrets() {
    for (url, why) in [
        ("", "host"),
        ("http://u:hidden@h", "nats:// or tls://"),
        ("nats://u:hidden@h1,,h2", "host 2"),
        ("nats://u:hidden@h/path", "may follow the hosts"),
        ("nats://u:hidden@h:port", "host 1"),
        ("nats://u:%ff-hidden@h", "UTF-8"),
        ("nats://u:hidden@h?creds=/file", "one of"),
        ("h?nkey=/hidden&creds=/hidden", "one of"),
        ("h?tls=hidden", "tls"),
        ("h?replicas=0", "replicas"),
        ("h?replicas=6", "replicas"),
        ("h?password=hidden", "parameter 1"),
        ("h?ca=", "ca must be a path"),
    ] {
        let text = refused(url);
        assert!(text.contains(why), "{url}: {text}");
        assert!(!text.contains("hidden"), "{url}: {text}");
    }
}

#[tokio::test]
async fn missing_files_are_named() {
    for url in ["h?ca=/no/such.pem", "h?creds=/no/such.pem", "h?nkey=/no/such.pem"] {
        let error = parsed(url).options().await.err().unwrap().to_string();
        assert!(error.contains("/no/such.pem"), "{error}");
    }
}
