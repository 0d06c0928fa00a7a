//! Alignment and policies of DMARC (RFC 9989), with SPF as what passes.

use trapline_app::AuthMail;
use trapline_model::DnsZone;

use super::{authenticate, mail, text};

const CLIENT: &str = "192.0.2.1";

/// A mail of authors and of an envelope's sender, and records of DMARC beside SPF for both domains.
struct PolicyCase {
    about: &'static str,
    from: &'static str,
    sender: &'static str,
    policies: &'static [(&'static str, &'static str)],
    /// Result, policy, and whether SPF is aligned.
    expected: (&'static str, Option<&'static str>, Option<bool>),
}

const OWN: &str = "_dmarc.example.com";
const BELOW: &str = "_dmarc.news.example.com";

const CASES: &[PolicyCase] = &[
    PolicyCase {
        about: "the same domain, strictly",
        from: "ada@example.com",
        sender: "bounce@example.com",
        policies: &[(OWN, "v=DMARC1; p=reject; aspf=s")],
        expected: ("pass", Some("reject"), Some(true)),
    },
    PolicyCase {
        about: "the same organisation, which relaxed alignment takes",
        from: "ada@example.com",
        sender: "bounce@mail.example.com",
        policies: &[(OWN, "v=DMARC1; p=reject")],
        expected: ("pass", Some("reject"), Some(true)),
    },
    PolicyCase {
        about: "the same organisation, which strict alignment refuses",
        from: "ada@example.com",
        sender: "bounce@mail.example.com",
        policies: &[(OWN, "v=DMARC1; p=quarantine; aspf=s")],
        expected: ("fail", Some("quarantine"), Some(false)),
    },
    PolicyCase {
        about: "another organisation",
        from: "ada@example.com",
        sender: "bounce@example.net",
        policies: &[(OWN, "v=DMARC1; p=none")],
        expected: ("fail", Some("none"), Some(false)),
    },
    PolicyCase {
        about: "a subdomain without a record has the organisation's policy for those",
        from: "ada@news.example.com",
        sender: "bounce@example.net",
        policies: &[(OWN, "v=DMARC1; p=none; sp=reject")],
        expected: ("fail", Some("reject"), Some(false)),
    },
    PolicyCase {
        about: "where there is none for those, the organisation's own",
        from: "ada@news.example.com",
        sender: "bounce@example.net",
        policies: &[(OWN, "v=DMARC1; p=quarantine")],
        expected: ("fail", Some("quarantine"), Some(false)),
    },
    PolicyCase {
        about: "a subdomain's own record comes first",
        from: "ada@news.example.com",
        sender: "bounce@example.net",
        policies: &[(OWN, "v=DMARC1; p=reject; sp=reject"), (BELOW, "v=DMARC1; p=none")],
        expected: ("fail", Some("none"), Some(false)),
    },
    PolicyCase {
        about: "no record",
        from: "ada@example.com",
        sender: "bounce@example.com",
        policies: &[],
        expected: ("none", None, None),
    },
    PolicyCase {
        about: "a record that is none",
        from: "ada@example.com",
        sender: "bounce@example.com",
        policies: &[(OWN, "v=DMARC2; p=reject")],
        expected: ("none", None, None),
    },
    PolicyCase {
        about: "authors of one domain",
        from: "ada@example.com, bob@example.com",
        sender: "bounce@example.com",
        policies: &[(OWN, "v=DMARC1; p=reject")],
        expected: ("pass", Some("reject"), Some(true)),
    },
    PolicyCase {
        about: "authors of two domains, of which there is no policy",
        from: "ada@example.com, bob@example.net",
        sender: "bounce@example.com",
        policies: &[(OWN, "v=DMARC1; p=reject"), ("_dmarc.example.net", "v=DMARC1; p=reject")],
        expected: ("none", None, None),
    },
];

#[tokio::test]
async fn alignment_and_policies_are_those_of_the_standard() {
    for case in CASES {
        let domain = case.sender.rsplit('@').next().unwrap();
        let policies = case.policies.iter().map(|(name, value)| text(name, value));
        let spf = text(domain, &format!("v=spf1 ip4:{CLIENT} -all"));
        // News is there, so that no policy for names that are not there holds.
        let news = text("news.example.com", "a name that is there");
        let records = policies.chain([spf, news]).collect();
        let raw = format!("From: {}\r\nSubject: Hello\r\n\r\nHello\r\n", case.from);
        let mail = AuthMail {
            sender: case.sender.to_owned(),
            client_ip: CLIENT.parse().ok(),
            ..mail(&raw)
        };
        let report = authenticate(mail, DnsZone { records, ..DnsZone::default() }).await;
        assert_eq!(report.spf.result.as_deref(), Some("pass"), "{}: {report:?}", case.about);
        let told = &report.dmarc;
        assert_eq!(
            (told.result.as_deref().unwrap_or_default(), told.policy.as_deref(), told.spf_aligned),
            case.expected,
            "{}: {report:?}",
            case.about
        );
    }
}
