#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fmt::Write as _, io::Write as _};

use data_encoding::BASE64;
use flate2::{Compression, write::DeflateEncoder};
use proptest::prelude::*;

use super::*;
use crate::{
    params::{RequestParams, encode},
    saml::decode::{Binding, message},
};

/// Seconds since 1970 of the request below.
const NOW: i64 = 1_764_460_800;

fn request(attributes: &str, children: &str) -> String {
    format!(
        "<samlp:AuthnRequest xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" \
         xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\" ID=\"_1\" Version=\"2.0\" \
         IssueInstant=\"2025-11-30T00:00:00Z\" {attributes}>{children}</samlp:AuthnRequest>"
    )
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What a binding carries, as the message or the words of its refusal.
fn carried(binding: Binding, bytes: &[u8]) -> Result<String, String> {
    let query = encode([("SAMLRequest", BASE64.encode(bytes).as_str())].into_iter());
    let params = RequestParams::of(query.as_bytes());
    message(binding, "SAMLRequest", &params).map_err(|refusal| refusal.hint)
}

fn read(xml: &str) -> Result<AuthnRequest, String> {
    AuthnRequest::read(xml, NOW).map_err(|refusal| refusal.hint)
}

#[test]
fn a_request_is_read() {
    let xml = request(
        "Destination=\"https://idp/saml/sso\" ForceAuthn=\"1\" IsPassive=\"true\" \
         AssertionConsumerServiceURL=\"https://sp/acs?a=b&amp;c\"",
        "<saml:Issuer> https://s<!-- -->p </saml:Issuer><saml:Subject><saml:NameID>ada</saml:NameID>\
         </saml:Subject><samlp:NameIDPolicy Format=\"a\"/><samlp:RequestedAuthnContext>\
         <saml:AuthnContextClassRef>b</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>",
    );
    let carried = carried(Binding::Redirect, &deflated(xml.as_bytes())).unwrap();
    let found = read(&carried).unwrap();
    assert_eq!(found.head.issuer.as_deref(), Some("https://sp"));
    assert_eq!(found.head.destination.as_deref(), Some("https://idp/saml/sso"));
    assert_eq!(found.head.note, None);
    assert_eq!(found.acs.as_deref(), Some("https://sp/acs?a=b&c"));
    assert_eq!((found.is_forced, found.is_passive), (true, true));
    assert_eq!(found.subject.as_deref(), Some("ada"));
    assert_eq!((found.name_id_format.as_deref(), found.class.as_deref()), (Some("a"), Some("b")));
    let late = AuthnRequest::read(&xml, NOW + 601).unwrap();
    assert_eq!(late.head.note.as_deref(), Some("IssueInstant is -601 s from our time"));
}

#[test]
fn usual_slips_are_named() {
    let xml = request("", "");
    for (binding, bytes, words) in [
        (Binding::Redirect, xml.clone().into_bytes(), "is not deflated"),
        (Binding::Redirect, vec![0x78, 0x9c, 1, 2], "is not raw DEFLATE"),
        (Binding::Post, vec![0xff, 0xfe], "is not in UTF-8"),
    ] {
        let told = carried(binding, &bytes).unwrap_err();
        assert!(told.contains(words), "{told}");
    }
    let params = RequestParams::of(b"SAMLRequest=ab+c");
    let told = message(Binding::Post, "SAMLRequest", &params).unwrap_err();
    assert!(told.hint.contains("%2B"), "{told:?}");
    for (xml, words) in [
        (xml.replace("2.0\" Issue", "1.1\" Issue"), "Version must be 2.0"),
        (xml.replace("\"_1\"", "\"1\""), "ID must be an NCName"),
        (xml.replace("AuthnRequest", "LogoutRequest"), "and is LogoutRequest"),
        (xml.replace(":2.0:protocol", ":1.0:protocol"), "SAML:1.0:protocol"),
        (format!("{xml}<a/>"), "no XML"),
        (xml.replace("_1", "&nbsp;"), "no XML"),
        (String::new(), "no XML"),
    ] {
        let told = read(&xml).unwrap_err();
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn bombs_are_refused() {
    let nested = format!("{}{}", "<a>".repeat(15_000), "</a>".repeat(15_000));
    let deep = format!("{}{}", "<a>".repeat(65), "</a>".repeat(65));
    let mut attributes = String::new();
    for number in 0..9_000 {
        write!(attributes, " a{number}=\"\"").unwrap();
    }
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;\">]>";
    let external = "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>";
    for (xml, words) in [
        (request("", &nested), "no XML"),
        (request("", &deep), "more than 64 levels"),
        (request("", &"<a/>".repeat(10_001)), "no XML"),
        (request(&attributes, ""), "more than 1000 attributes"),
        (format!("{bomb}{}", request("", "&c;")), "no XML"),
        (format!("{external}{}", request("", "&b;")), "no XML"),
    ] {
        let told = read(&xml).unwrap_err();
        assert!(told.contains(words), "{words}: {told}");
    }
    // A gigabyte of zeros is a megabyte, which is more than a request line has; this is what fits.
    let zeros = deflated(&vec![0; 40 << 20]);
    assert!(zeros.len() < 48 << 10);
    let told = carried(Binding::Redirect, &zeros).unwrap_err();
    assert!(told.contains("inflates to more than 128 KiB"), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_comes_is_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        is_redirect: bool,
    ) {
        let binding = if is_redirect { Binding::Redirect } else { Binding::Post };
        drop(carried(binding, &bytes));
    }

    /// Pieces of real messages in any order.
    #[test]
    fn whatever_is_said_is_read_or_refused(
        pieces in prop::collection::vec(prop::sample::select(&[
            "<", ">", "/>", "</", "samlp:", "saml:", "AuthnRequest", "LogoutRequest", "Issuer", " ID=\"_1\"",
            " Version=\"2.0\"", "\"", "=", "&#xD;", "&amp;", "<![CDATA[", "]]>", "<!--", "-->", "<!DOCTYPE a>",
            " xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\"", "<?xml version=\"1.0\"?>", "ä", "\u{0}",
        ]), 0..40),
    ) {
        let text: String = pieces.concat();
        for xml in [text.clone(), request("", &text), request(&text, "")] {
            drop(AuthnRequest::read(&xml, NOW));
            drop(LogoutRequest::read(&xml, NOW));
            drop(LogoutResponse::read(&xml));
        }
    }
}
