#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;

const LOOSE: Scheme = Scheme {
    name: "toy",
    tls: Some("toys"),
    is_optional: true,
    default_port: Some(7),
    user: UserForm::Either,
    path: PathForm::Database,
    parameters: &["tls", "dc", "ca", "copies"],
};

const STRICT: Scheme = Scheme {
    name: "strict",
    tls: None,
    is_optional: false,
    user: UserForm::Both,
    path: PathForm::Empty,
    parameters: &[],
    ..LOOSE
};

const BUCKET: Scheme =
    Scheme { default_port: None, user: UserForm::Refused, path: PathForm::Any, ..LOOSE };

fn parsed(text: &str) -> ServiceUrl {
    ServiceUrl::parse(text, &LOOSE).map_err(|error| format!("{text}: {error}")).unwrap()
}

fn user(user: &str, password: Option<&str>) -> UserInfo {
    UserInfo { user: user.to_owned(), password: password.map(str::to_owned) }
}

#[test]
fn every_part_is_read() {
    let url = parsed(
        "toys://us%40er:p%2Fa%3A+w@a,[::1]:9,b.example:1/3?tls=true&dc=eu+west&ca=/a%20b&copies=5",
    );
    assert!(url.tls);
    assert_eq!(url.hosts(), "a:7,[::1]:9,b.example:1");
    assert_eq!(url.user, Some(user("us@er", Some("p/a:+w"))));
    assert_eq!(url.database(), Ok(3));
    assert_eq!(url.flag("tls"), Ok(Some(true)));
    assert_eq!(url.name("dc"), Ok(Some("eu west".to_owned())));
    assert_eq!(url.file("ca"), Ok(Some("/a b".into())));
    assert_eq!(url.number("copies", 1..=5), Ok(Some(5)));
}

#[test]
fn most_parts_may_be_absent() {
    for text in ["a", "toy://a", "toy://a/"] {
        let url = parsed(text);
        assert_eq!((url.tls, url.hosts(), url.user.is_none()), (false, "a:7".to_owned(), true));
        assert_eq!((url.database(), url.flag("tls"), url.file("ca")), (Ok(0), Ok(None), Ok(None)));
    }
    for (text, found) in [
        ("toy://t0ken@a", user("t0ken", None)),
        ("toy://:word@a", user("", Some("word"))),
        ("toy://joe:a@b@h", user("joe", Some("a@b"))),
        ("toy://joe:a/b@h", user("joe", Some("a/b"))),
    ] {
        assert_eq!(parsed(text).user, Some(found), "{text}");
    }
}

#[test]
fn a_bucket_has_a_path() {
    let url = ServiceUrl::parse("toy://Mail.box/a/b@c/?dc=d", &BUCKET).map_err(drop).unwrap();
    assert_eq!((url.hosts[0].name.as_str(), url.path.as_str()), ("Mail.box", "a/b@c/"));
}

fn parameter(number: usize, known: &str) -> UrlError {
    UrlError::Parameter { number, known: known.to_owned() }
}

#[test]
fn what_is_wrong_is_named_without_secrets() {
    let many = format!("hush:hush@{}", vec!["a"; MOST_HOSTS + 1].join(","));
    let known = "tls, dc, ca, copies";
    let user = UrlError::User;
    let not_text = user("a user name, password or token is not UTF-8, percent-encoded");
    let not_both =
        user("before the @ must come a user name, a colon and a password, percent-encoded");
    let cases = [
        (&LOOSE, "", UrlError::Hosts(MOST_HOSTS)),
        (&LOOSE, "toy://", UrlError::Hosts(MOST_HOSTS)),
        (&LOOSE, "toy://?tls=true", UrlError::Hosts(MOST_HOSTS)),
        (&LOOSE, many.as_str(), UrlError::Hosts(MOST_HOSTS)),
        (&LOOSE, "redis://hush@a", UrlError::Scheme("toy:// or toys://".to_owned())),
        (&STRICT, "hush:hush@a", UrlError::Scheme("strict://".to_owned())),
        (&LOOSE, "toy://hush@a,,b", UrlError::Host(2)),
        (&LOOSE, "a:", UrlError::Host(1)),
        (&LOOSE, "a:0", UrlError::Host(1)),
        (&LOOSE, "a:65536", UrlError::Host(1)),
        (&LOOSE, "a:1:2", UrlError::Host(1)),
        (&LOOSE, ":7", UrlError::Host(1)),
        (&LOOSE, "a b", UrlError::Host(1)),
        (&LOOSE, "[::1", UrlError::Host(1)),
        (&LOOSE, "[nine]:9042", UrlError::Host(1)),
        (&LOOSE, "[::1]9042", UrlError::Host(1)),
        (&LOOSE, "hush:hush", UrlError::Host(1)),
        (&LOOSE, "toy://hush:%ff@a", not_text),
        (&STRICT, "strict://hush@a", not_both.clone()),
        (&STRICT, "strict://:hush@a", not_both.clone()),
        (&STRICT, "strict://hush:%ff@a", not_both),
        (&STRICT, "strict://a/hush", UrlError::Path("nothing but parameters may follow the hosts")),
        (&STRICT, "strict://a?hush=1", parameter(1, "none")),
        (&LOOSE, "toy://u:hush?hush@a", parameter(1, known)),
        (&LOOSE, "a?tls=true&TLS=hush", parameter(2, known)),
        (&LOOSE, "a?dc=hush&dc=hush", parameter(2, known)),
        (&BUCKET, "toy:///mail", UrlError::Bucket),
        (&BUCKET, "toy://mail:hush", UrlError::Bucket),
        (&BUCKET, "toy://u:hush@mail", user("a user name and a password may not stand in it")),
    ];
    for (scheme, text, expected) in cases {
        let error = ServiceUrl::parse(text, scheme).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(error, expected, "{text}");
        assert!(!format!("{error} {error:?}").contains("hush"), "{text}: {error:?}");
    }
}

#[test]
fn a_wrong_value_is_named_without_itself() {
    let url = parsed("a/hush?tls=hush&dc=&ca=&copies=16");
    let value = |parameter, wanted: &str| UrlError::Value { parameter, wanted: wanted.to_owned() };
    assert_eq!(url.flag("tls"), Err(value("tls", "true or false")));
    assert_eq!(url.name("dc"), Err(value("dc", "a name")));
    assert_eq!(url.file("ca"), Err(value("ca", "a path")));
    assert_eq!(url.number("copies", 1..=15), Err(value("copies", "a number from 1 to 15")));
    assert_eq!(url.database(), Err(UrlError::Path("the path must be the number of a database")));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}") {
        for scheme in [&LOOSE, &STRICT, &BUCKET] {
            drop(ServiceUrl::parse(&text, scheme));
        }
    }

    #[test]
    fn any_password_is_read_back(name in "[^:]{1,9}", password in ".{0,20}") {
        let encode = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
        };
        let url = parsed(&format!("toy://{}:{}@h", encode(&name), encode(&password)));
        prop_assert_eq!(url.user, Some(user(&name, Some(&password))));
    }
}
