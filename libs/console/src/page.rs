//! The page, whose references fit the path that it is asked for at.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What the build's references from the page to files begin with.
const OWN: &str = "\"./";

/// The one page of the console.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    html: &'static str,
    /// Changes with the page, and with any file that it names.
    version: u64,
}

/// The page as one path has it.
pub(crate) struct Rendered {
    pub html: String,
    /// For `ETag`, quotes and all (RFC 9110, section 8.8.3).
    pub tag: String,
}

impl Page {
    pub(crate) fn of(html: &'static [u8]) -> Option<Self> {
        let html = str::from_utf8(html).ok()?;
        let mut hasher = DefaultHasher::new();
        html.hash(&mut hasher);
        Some(Self { html, version: hasher.finish() })
    }

    /// A browser resolves references against the path that it asked for, of which a proxy may have
    /// taken a prefix off. So they go up as many folders as the path that arrives is deep. The root of
    /// a prefix may be asked for without a slash at its end, and has the prefix in its references.
    pub(crate) fn at(&self, path: &str, prefix: &str) -> Rendered {
        let root = match path.matches('/').count() {
            0 | 1 if path.len() <= 1 && !prefix.is_empty() => format!("{prefix}/"),
            0 | 1 => "./".to_owned(),
            parts => "../".repeat(parts - 1),
        };
        let mut hasher = DefaultHasher::new();
        (self.version, &root).hash(&mut hasher);
        Rendered {
            html: self.html.replace(OWN, &format!("\"{root}")),
            tag: format!("\"{:016x}\"", hasher.finish()),
        }
    }
}
