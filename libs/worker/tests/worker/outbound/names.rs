//! What is refused by how a URL is written, and how names are looked up.

use std::{io, net::IpAddr, sync::Arc};

use async_trait::async_trait;
use trapline_worker::outbound::{
    Client, Guard, GuardOptions, OutboundFailure, Refusal, Resolver, Url,
};

use super::{Fixed, LONG, guard, parse, post};

#[test]
fn urls_are_refused_for_what_is_wrong_with_them() {
    let long = format!("https://example.com/{}", "a".repeat(2048));
    let label = format!("https://{}.example.com/", "a".repeat(64));
    let cases = [
        ("", Refusal::Malformed),
        ("example.com/hook", Refusal::Malformed),
        ("http://", Refusal::Malformed),
        ("http://exa mple.com/", Refusal::Malformed),
        ("http://[::1", Refusal::Malformed),
        ("http://[fe80::1%25eth0]/", Refusal::Malformed),
        ("http://[fe80::1%eth0]/", Refusal::Malformed),
        ("http://1.2.3.4.5/", Refusal::Malformed),
        ("http://256.256.256.256/", Refusal::Malformed),
        ("http://0x100000000/", Refusal::Malformed),
        ("http://example.com:99999/", Refusal::Malformed),
        ("http://a..example.com/", Refusal::Malformed),
        (&label, Refusal::Malformed),
        (&long, Refusal::TooLong),
        ("ftp://example.com/", Refusal::Scheme),
        ("file:///etc/passwd", Refusal::Scheme),
        ("gopher://example.com/", Refusal::Scheme),
        ("javascript:alert(1)", Refusal::Scheme),
        ("ws://example.com/", Refusal::Scheme),
        ("https://user@example.com/", Refusal::Credentials),
        ("https://user:secret@example.com/", Refusal::Credentials),
        ("https://:secret@example.com/", Refusal::Credentials),
        ("https://example.com@127.0.0.1/", Refusal::Credentials),
        ("https://example.com/#part", Refusal::Fragment),
        ("https://example.com/#", Refusal::Fragment),
        ("http://example.com:0/", Refusal::Port),
        ("http://example.com:22/", Refusal::Port),
        ("http://example.com:25/", Refusal::Port),
        ("http://example.com:465/", Refusal::Port),
        ("http://example.com:587/", Refusal::Port),
        ("http://example.com:6667/", Refusal::Port),
        ("http://localhost/", Refusal::Name),
        ("http://LOCALHOST/", Refusal::Name),
        ("http://localhost./", Refusal::Name),
        ("http://local%68ost/", Refusal::Name),
        ("http://ⓛocalhost/", Refusal::Name),
        ("http://a.localhost/", Refusal::Name),
        ("http://printer.local/", Refusal::Name),
        ("http://vault.internal/", Refusal::Name),
        ("http://vault.internal./", Refusal::Name),
        ("http://metadata.google.internal/computeMetadata/v1/", Refusal::Name),
        ("http://metadata/", Refusal::Name),
        ("http://router.home.arpa/", Refusal::Name),
        ("http://kubernetes/", Refusal::Name),
    ];
    let guard = guard(GuardOptions::default(), &["8.8.8.8"]);
    for (text, refusal) in cases {
        assert_eq!(parse(&guard, text), Err(refusal), "{text:?}");
    }
}

#[test]
fn ordinary_urls_pass_as_they_are_meant() {
    let guard = guard(GuardOptions::default(), &["8.8.8.8"]);
    let cases = [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM:443/Hook?a=b", "https://example.com/Hook?a=b"),
        ("http://example.com:8080/", "http://example.com:8080/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://a_b.example.com/ü|^", "https://a_b.example.com/%C3%BC|^"),
        ("https://example.com./", "https://example.com./"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
    ];
    for (text, read) in cases {
        let parsed = parse(&guard, text).map(String::from).unwrap_or_default();
        assert_eq!(parsed, read, "{text}");
    }
}

#[test]
fn near_by_names_are_allowed_with_private_addresses_but_metadata_is_not() {
    let guard = guard(GuardOptions { allow_private: true, ..<_>::default() }, &["127.0.0.1"]);
    for host in ["localhost", "app", "host.docker.internal", "printer.local", "127.0.0.1"] {
        assert!(parse(&guard, &format!("http://{host}:3000/")).is_ok(), "{host}");
    }
    for host in ["metadata.google.internal", "metadata.google.internal.", "169.254.169.254"] {
        assert!(parse(&guard, &format!("http://{host}/")).is_err(), "{host}");
    }
}

#[test]
fn this_service_calls_only_its_own_sinks() {
    let own_hosts = vec![Url::parse("https://trap.example.com").unwrap()];
    let guard = guard(GuardOptions { own_hosts, ..<_>::default() }, &["8.8.8.8"]);
    let own = Err(Refusal::OwnHost);
    let cases = [
        ("https://trap.example.com/api/inboxes", own),
        ("https://trap.example.com./api/inboxes", own),
        ("https://TRAP.example.com:443/", own),
        ("https://trap.example.com/mock/../api/inboxes", own),
        ("https://trap.example.com/mock/%2e%2e/api", own),
        ("https://trap.example.com/mock", own),
        ("https://trap.example.com/mock/demo", Ok(())),
        ("https://trap.example.com:8443/", Ok(())),
        ("https://other.example.com/", Ok(())),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(&guard, text).map(drop), expected, "{text}");
    }
}

/// By the addresses that it listens on, whatever the URL calls them.
#[tokio::test]
async fn this_service_is_not_called_under_another_name() {
    let everywhere = "0.0.0.0:8025".parse().unwrap();
    let one = "127.0.0.1:1025".parse().unwrap();
    let cases = [
        ("http://localhost:8025/", "127.0.0.1", false),
        ("http://127.0.0.2:8025/", "", false),
        ("http://[::1]:8025/", "", false),
        ("http://[::ffff:127.0.0.1]:8025/", "", false),
        ("http://hook.example.com:8025/", "127.0.0.9", false),
        ("http://127.0.0.1:1025/", "", false),
        ("http://hook.example.com:1025/", "127.0.0.1", false),
        ("http://127.0.0.2:1025/", "", true),
        ("http://127.0.0.1:9000/", "", true),
        // An address of another machine.
        ("http://10.255.255.254:8025/", "", true),
        ("http://localhost:8025/mock/demo", "127.0.0.1", true),
    ];
    for (url, answer, is_allowed) in cases {
        let options = GuardOptions {
            allow_private: true,
            own_listeners: vec![everywhere, one],
            ..GuardOptions::default()
        };
        let answers = if answer.is_empty() { vec![] } else { vec![answer] };
        let resolved = guard(options, &answers).resolve(&Url::parse(url).unwrap()).await;
        assert_eq!(resolved.is_ok(), is_allowed, "{url}: {resolved:?}");
    }
}

#[tokio::test]
async fn search_domains_complete_names_only_where_they_may() {
    for (search_domains, asked) in [(true, "orders"), (false, "orders.")] {
        let fixed = Fixed::new(&["10.0.0.1"]);
        let options =
            GuardOptions { allow_private: true, search_domains, ..GuardOptions::default() };
        let guard = Guard::with_resolver(options, fixed.clone());
        guard.resolve(&Url::parse("http://orders:8080/").unwrap()).await.unwrap();
        assert_eq!(*fixed.last.lock().unwrap(), asked);
    }
}

#[tokio::test]
async fn names_are_looked_up_once_as_absolute_and_few_addresses_are_tried() {
    let public: Vec<_> = (1..=20).map(|last| format!("8.8.8.{last}")).collect();
    let public: Vec<_> = public.iter().map(String::as_str).collect();
    for host in ["hook.example.com", "hook.example.com."] {
        let fixed = Fixed::new(&public);
        let guard = Guard::with_resolver(GuardOptions::default(), fixed.clone());
        let url = Url::parse(&format!("https://{host}:8443/")).unwrap();
        let resolved = guard.resolve(&url).await.unwrap();
        assert_eq!((resolved.len(), resolved[0].port()), (8, 8443));
        assert_eq!((fixed.asked(), fixed.last.lock().unwrap().as_str()), (1, "hook.example.com."));
    }
}

/// Fails, or never answers.
struct Broken {
    hangs: bool,
}

#[async_trait]
impl Resolver for Broken {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_without_an_answer_is_tried_again_later() {
    let resolvers: [Arc<dyn Resolver>; 3] =
        [Arc::new(Broken { hangs: false }), Arc::new(Broken { hangs: true }), Fixed::new(&[])];
    for resolver in resolvers {
        let guard = Guard::with_resolver(GuardOptions::default(), resolver);
        let client = Client::new(guard, &[]).unwrap();
        let answer = post(&client, "http://hook.example.com/", LONG).await;
        assert_eq!(answer.outcome, Err(OutboundFailure::DnsError));
        let failure = answer.outcome.unwrap_err();
        assert_eq!((failure.code(), failure.is_final()), ("dns_error", false));
        assert!(answer.took.as_secs() <= 3, "cut off after {:?}", answer.took);
    }
}
