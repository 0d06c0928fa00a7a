//! Targets that a preview must not keep, and references to the message's own parts.

use crate::transfer;

/// Schemes that run code or show markup of their own.
const DANGEROUS: &[&str] = &["javascript:", "vbscript:", "livescript:", "data:"];
/// Data that cannot hold markup or code.
const HARMLESS: &[&str] =
    &["data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp"];

/// Whether following `url` (decoded) could run code. Browsers ignore blanks and control characters
/// within a scheme, so they are ignored here.
pub(crate) fn is_dangerous(url: &str) -> bool {
    let start: String = url
        .chars()
        .filter(|char| !(char.is_whitespace() || char.is_control()))
        .take(24)
        .map(|char| char.to_ascii_lowercase())
        .collect();
    DANGEROUS.iter().any(|scheme| start.starts_with(scheme))
        && !HARMLESS.iter().any(|scheme| start.starts_with(scheme))
}

/// What a `cid:` URL (RFC 2392) names, as it stands there.
pub(super) fn content_id(url: &str) -> Option<&str> {
    let url = url.trim();
    let scheme = url.get(..4).filter(|scheme| scheme.eq_ignore_ascii_case("cid:"))?;
    Some(bare(&url[scheme.len()..]))
}

/// A Content-ID without its percent-encoding; none where it has none.
pub(super) fn decoded(id: &str) -> Option<String> {
    let bytes = id.contains('%').then(|| transfer::percent(id.as_bytes()))?;
    Some(bare(&String::from_utf8_lossy(&bytes)).to_owned())
}

fn bare(id: &str) -> &str {
    id.trim().trim_start_matches('<').trim_end_matches('>')
}
