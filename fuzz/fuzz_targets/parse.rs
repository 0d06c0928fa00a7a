//! Any bytes as a message: nothing panics, and what is listed can be fetched.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trapline_mime::{attachment, codes, digest, parse, preview};

fuzz_target!(|raw: &[u8]| {
    let parsed = parse(raw);
    assert!(!parsed.digest.warnings.iter().any(|warning| warning.code == "parse_error"));
    assert_eq!(parsed.digest, digest(raw));
    assert_eq!(parsed.codes, codes(raw));
    for listed in &parsed.attachments {
        let found = attachment(raw, &listed.id);
        assert!(found.is_some_and(|found| found.meta == *listed));
    }
    if let Some(html) = &parsed.html {
        let resolve = |id: &str| Some(format!("/parts/{id}"));
        let page = preview::html(html, &preview::Options { resolve_cid: &resolve });
        assert!(page.contains("charset=\"utf-8\""));
    }
    if let Some(text) = &parsed.text {
        assert!(preview::text(text).ends_with("</pre>"));
    }
});
