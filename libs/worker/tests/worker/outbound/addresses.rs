//! Every way to write an address that is not public, and every such address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use tokio::net::TcpListener;
use trapline_worker::outbound::{Client, GuardOptions, OutboundFailure, Refusal, Url};

use super::{LONG, allowing, guard, parse, post};

/// Hosts that name an address outside the public Internet, in the forms that were used against others.
const REFUSED_HOSTS: [&str; 77] = [
    // Loopback, as itself and in the number forms of inet_aton(3).
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0X7F.0x0.0x0.0x1",
    "017700000001",
    "0177.0.0.1",
    "00000177.0.0.1",
    "127.0.0.01",
    "127.0.0.0x1",
    "127.0.0.1.",
    "0",
    "0.0.0.0",
    "0x0",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000::0001]",
    // Other scripts' digits and dots, and percent-encoding.
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127.0.0.1",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "%30x7f.1",
    // An IPv4 address inside an IPv6 one: mapped, compatible, NAT64, 6to4, Teredo, SIIT, ISATAP.
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:169.254.169.254]",
    "[::ffff:10.0.0.1]",
    "[::ffff:192.168.1.1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::8.8.8.8]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001:0:7f00:1::]",
    "[2001:0000:4136:e378:8000:63bf:3fff:fdd2]",
    "[fe80::5efe:7f00:1]",
    // Private, shared and link-local networks; metadata.
    "10.0.0.1",
    "012.0.0.1",
    "167772161",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "3232235521",
    "169.254.169.254",
    "2852039166",
    "0xA9FEA9FE",
    "0251.0376.0251.0376",
    "168.63.129.16",
    "[fd00:ec2::254]",
    "[fd12:3456::1]",
    "[fc00::1]",
    "[fe80::1]",
    "[fec0::1]",
    // Reserved, multicast, documentation, benchmarks.
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
    "[2001:db8::1]",
    "[5f00::1]",
];

#[test]
fn no_form_of_an_address_that_is_not_public_passes() {
    let guard = guard(GuardOptions::default(), &["8.8.8.8"]);
    for host in REFUSED_HOSTS {
        for url in [format!("http://{host}/"), format!("https://{host}:8443/x?y=z")] {
            assert_eq!(parse(&guard, &url), Err(Refusal::Address), "{url}");
        }
    }
}

#[tokio::test]
async fn a_name_with_one_such_address_among_its_answers_is_refused() {
    let plain = REFUSED_HOSTS.iter().map(|host| host.trim_matches(['[', ']']));
    for ip in plain.filter(|ip| ip.parse::<IpAddr>().is_ok()) {
        for answers in [&[ip][..], &["8.8.8.8", ip], &[ip, "2606:4700::1111"]] {
            let guard = guard(GuardOptions::default(), answers);
            let url = Url::parse("https://hook.example.com/").unwrap();
            let resolved = guard.resolve(&url).await;
            assert_eq!(resolved, Err(OutboundFailure::AddressNotAllowed), "{answers:?}");
        }
    }
}

#[tokio::test]
async fn public_addresses_pass_as_literals_and_as_answers() {
    let public = [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "126.255.255.255",
        "128.0.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.255.255",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "2a00:1450::1",
        "3ffe::1",
    ];
    for text in public {
        let ip: IpAddr = text.parse().unwrap();
        let guard = guard(GuardOptions::default(), &[text]);
        let literal = if ip.is_ipv6() { format!("[{text}]") } else { text.to_owned() };
        for host in [literal.as_str(), "hook.example.com"] {
            let url = parse(&guard, &format!("https://{host}/")).unwrap();
            assert_eq!(guard.resolve(&url).await.unwrap(), [(ip, 443).into()], "{host} {text}");
        }
    }
}

#[test]
fn operators_can_allow_more_but_credentials_only_by_their_exact_address() {
    let private = GuardOptions { allow_private: true, ..<_>::default() };
    let cases: [(GuardOptions, &[&str], &[&str]); 6] = [
        (
            private,
            &["127.0.0.1", "::1", "10.1.2.3", "100.64.0.1", "fd12::1", "::ffff:10.0.0.1"],
            &[
                "169.254.169.254",
                "169.254.0.1",
                "100.100.100.200",
                "fd00:ec2::254",
                "fe80::1",
                "0.0.0.0",
                "224.0.0.1",
                "64:ff9b::a00:1",
                "168.63.129.16",
            ],
        ),
        (allowing(&["127.0.0.0/8"]), &["127.9.9.9", "::ffff:127.0.0.1"], &["10.0.0.1", "::1"]),
        (allowing(&["169.254.0.0/16", "fe80::/10"]), &[], &["169.254.169.254", "fe80::1"]),
        (allowing(&["169.254.169.254/32"]), &["169.254.169.254"], &["169.254.169.253"]),
        (allowing(&["0.0.0.0/0", "::/0"]), &["10.0.0.1", "64:ff9b::1"], &["169.254.169.254"]),
        (allowing(&["198.18.0.0/15"]), &["198.18.0.1"], &["127.0.0.1"]),
    ];
    for (options, allowed, refused) in cases {
        let guard = guard(options.clone(), &[]);
        for ip in allowed {
            assert!(guard.allows(ip.parse().unwrap()), "{ip} with {options:?}");
        }
        for ip in refused {
            assert!(!guard.allows(ip.parse().unwrap()), "{ip} with {options:?}");
        }
    }
}

#[tokio::test]
async fn a_refused_request_is_final_and_reaches_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = Client::new(guard(GuardOptions::default(), &["127.0.0.1"]), &[]).unwrap();
    let hosts =
        ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost", "a.example.com"];
    for host in hosts {
        let answer = post(&client, &format!("http://{host}:{}/", address.port()), LONG).await;
        assert_eq!(answer.outcome, Err(OutboundFailure::AddressNotAllowed), "{host}");
        let failure = answer.outcome.unwrap_err();
        assert!(failure.is_final());
        assert_eq!(failure.code(), "address_not_allowed");
    }
    let probe = tokio::net::TcpStream::connect(address).await.unwrap();
    let (_, first) = listener.accept().await.unwrap();
    assert_eq!(first, probe.local_addr().unwrap(), "somebody connected before the probe");
}

/// Global unicast, by the standard library's own tests and by bits where it has none.
fn is_global_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_global_unicast_v4(ip),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => is_global_unicast_v4(ip),
            None => is_global_unicast_v6(ip),
        },
    }
}

fn is_global_unicast_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let special =
        ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_documentation();
    let shared = a == 100 && b & 0xc0 == 64;
    let assigned = (a, b, c) == (192, 0, 0) || (a, b, c) == (192, 88, 99);
    let benchmark = a == 198 && b & 0xfe == 18;
    !(special || shared || assigned || benchmark || a == 0 || a >= 224)
}

fn is_global_unicast_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    let assigned = a == 0x2001 && b < 0x200;
    let documentation = (a, b) == (0x2001, 0xdb8) || (a == 0x3fff && b < 0x1000);
    a >> 13 == 1 && !assigned && !documentation && a != 0x2002
}

/// Any address, and often one at the edge of a range or with another address inside.
fn any_ip() -> impl Strategy<Value = IpAddr> {
    let near = (0..REFUSED_HOSTS.len(), -2_i8..=2).prop_filter_map("no address", |(at, by)| {
        let plain = REFUSED_HOSTS[at].trim_matches(['[', ']']);
        Some(match plain.parse().ok()? {
            IpAddr::V4(ip) => {
                IpAddr::from(u32::from(ip).wrapping_add_signed(by.into()).to_be_bytes())
            }
            IpAddr::V6(ip) => {
                IpAddr::from(u128::from(ip).wrapping_add_signed(by.into()).to_be_bytes())
            }
        })
    });
    let inside = (any::<u32>(), prop::sample::select(vec![0xffff_u128 << 32, 0x64_ff9b << 96, 0]))
        .prop_map(|(v4, prefix)| IpAddr::from(Ipv6Addr::from(prefix | u128::from(v4))));
    prop_oneof![
        any::<u32>().prop_map(|bits| IpAddr::from(Ipv4Addr::from(bits))),
        any::<u128>().prop_map(|bits| IpAddr::from(Ipv6Addr::from(bits))),
        (any::<u128>(), 0x2000_u128..0x4000)
            .prop_map(|(bits, top)| Ipv6Addr::from(top << 112 | bits >> 16).into()),
        near,
        inside,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn exactly_global_unicast_passes(ip in any_ip()) {
        // Azure's service to its machines has a public number.
        let azure = ip.to_canonical() == IpAddr::from([168, 63, 129, 16]);
        let allowed = guard(GuardOptions::default(), &[]).allows(ip);
        prop_assert_eq!(allowed, is_global_unicast(ip) && !azure, "{}", ip);
    }

    #[test]
    fn no_text_makes_the_guard_panic(text in "\\PC{0,80}") {
        let guard = guard(GuardOptions::default(), &[]);
        drop(parse(&guard, &text));
        if let Ok(url) = parse(&guard, &format!("http://{text}/")) {
            prop_assert!(parse(&guard, url.as_str()).is_ok(), "{}", url);
        }
    }
}
