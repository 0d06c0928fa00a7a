//! Which build this is. What nobody knew when it was built is `unknown`.

/// The version of the package.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that it was built from.
pub(crate) const COMMIT: &str = env!("TRAPLINE_BUILD_COMMIT");
/// The day of that commit, as in 2026-01-31.
pub(crate) const COMMIT_DATE: &str = env!("TRAPLINE_BUILD_COMMIT_DATE");
/// All that `--version` says of it, with the platform that it runs on.
pub(crate) const DETAILS: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("TRAPLINE_BUILD_COMMIT"),
    ", ",
    env!("TRAPLINE_BUILD_COMMIT_DATE"),
    ", ",
    env!("TRAPLINE_BUILD_TARGET"),
    ")"
);
