//! The charset that an HTML names itself.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Bytes in which an HTML may name its charset (HTML Living Standard, section 4.2.5.4).
pub(crate) const PRESCAN: usize = 1_024;

/// The label of the charset that `html` names in a `meta` element near its start.
pub(crate) fn label(html: &[u8]) -> Option<&[u8]> {
    static META: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let label = r#"charset\s*=\s*["']?\s*([^\s"'/>;]+)"#;
        Regex::new(&format!(r"(?i-u)<!--.*?-->|<meta(?:[\s/][^>]*?)??(?:[\s;\x22'/]){label}")).ok()
    });
    let start = &html[..html.len().min(PRESCAN)];
    // A comment matches without a label.
    let mut found = META.iter().flat_map(|regex| regex.captures_iter(start));
    found.find_map(|meta| Some(meta.get(1)?.as_bytes()))
}
