//! The files that the frontend was built into.

/// A file of the frontend, with the forms that were compressed when it was built.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path from the console's root, such as `assets/index-B2x.js`.
    pub name: &'static str,
    pub plain: &'static [u8],
    pub gzip: Option<&'static [u8]>,
    pub brotli: Option<&'static [u8]>,
}

impl File {
    /// Its media type, by its name.
    pub(crate) fn kind(&self) -> &'static str {
        match self.name.rsplit_once('.').map(|(_, end)| end) {
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("txt") => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// Whether its name changes with its contents.
    pub(crate) fn is_immutable(&self) -> bool {
        self.name.starts_with("assets/")
    }
}

/// Empty where the console was left out of the build.
pub(crate) static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));
