//! SAML messages on their way, as a binding has them.

use std::io::Write as _;

use data_encoding::BASE64;
use flate2::{Compression, write::DeflateEncoder};

use crate::{calls::Call, mutation::Random};

/// Bytes that a bomb inflates to.
const INFLATED: usize = 32 << 20;
/// Levels, attributes and namespaces of bombs, of which a binding carries as many as go into 64 KiB.
const LEVELS: usize = 40_000;
const REQUEST: &str = "<samlp:AuthnRequest xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" ID=\"_1\" Version=\"2.0\"";

/// The method of a seed whose body is a message in clear.
const REDIRECT: &str = "SAML-REDIRECT";
const POST: &str = "SAML-POST";

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Into memory, it cannot fail.
    let _infallible = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Encoded messages: zeros without end, entities in entities, elements in elements, attributes and namespaces.
pub(crate) fn bombs() -> Vec<String> {
    let entity = |level: usize| {
        let inner = format!("&l{};", level - 1).repeat(10);
        format!("<!ENTITY l{level} \"{inner}\">")
    };
    let entities = (1..12).map(entity).collect::<String>();
    let laughs = format!("<!DOCTYPE a [<!ENTITY l0 \"ha\">{entities}]><a>&l11;</a>");
    let number =
        |count: usize, form: &dyn Fn(usize) -> String| -> String { (0..count).map(form).collect() };
    let messages = [
        vec![0; INFLATED],
        vec![b' '; INFLATED],
        laughs.into_bytes(),
        "<a>".repeat(LEVELS).into_bytes(),
        format!("{REQUEST}>{}{}</samlp:AuthnRequest>", "<a>".repeat(9_000), "</a>".repeat(9_000))
            .into_bytes(),
        format!("{REQUEST}>{}</samlp:AuthnRequest>", "<a/>".repeat(20_000)).into_bytes(),
        format!("{REQUEST} {}/>", number(9_000, &|place| format!("a{place}=\"\" "))).into_bytes(),
        format!("{REQUEST} {}/>", number(900, &|place| format!("xmlns:a{place}=\"u{place}\" ")))
            .into_bytes(),
        format!(
            "{REQUEST}>{}</samlp:AuthnRequest>",
            number(900, &|place| format!("<a xmlns=\"u{place}\"/>"))
        )
        .into_bytes(),
        format!("{REQUEST}>{}</samlp:AuthnRequest>", "&#x41;".repeat(20_000)).into_bytes(),
    ];
    let plain =
        messages.iter().map(|message| BASE64.encode(&message[..message.len().min(48 << 10)]));
    messages.iter().map(|message| BASE64.encode(&deflated(message))).chain(plain).collect()
}

/// A message in clear as its binding carries it; now and then a bomb in its place.
pub(crate) fn encoded(mut call: Call, bombs: &[String], random: &mut Random) -> Call {
    let is_post = match call.method.as_str() {
        REDIRECT => false,
        POST => true,
        _ => return call,
    };
    let name = if contains(&call.body, b"LogoutResponse") { "SAMLResponse" } else { "SAMLRequest" };
    let message = if random.below(64) == 0 {
        random.pick::<String>(bombs).clone()
    } else if is_post {
        BASE64.encode(&call.body)
    } else {
        BASE64.encode(&deflated(&call.body))
    };
    let pair = form_urlencoded::Serializer::new(String::new()).append_pair(name, &message).finish();
    if is_post {
        "POST".clone_into(&mut call.method);
        call.body = pair.into_bytes();
    } else {
        "GET".clone_into(&mut call.method);
        call.query = format!("{}&{pair}", call.query);
        call.body.clear();
    }
    call
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|found| found == text)
}
