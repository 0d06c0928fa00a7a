//! What a path asks for.

use hyper::StatusCode;

/// How a call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// With this status, at once.
    Status(StatusCode),
    /// Not at all, until the caller gives up.
    Never,
}

impl Endpoint {
    /// By the path's first part; `None` when it names nothing that can be done.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let first = path.strip_prefix('/')?.split('/').next()?;
        if first == "never" {
            return Some(Self::Never);
        }
        let status = StatusCode::from_bytes(first.as_bytes()).ok()?;
        (200..600).contains(&status.as_u16()).then_some(Self::Status(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_decides() {
        let status = |status| Some(Endpoint::Status(status));
        let cases = [
            ("/200", status(StatusCode::OK)),
            ("/200/7", status(StatusCode::OK)),
            ("/503/a/b", status(StatusCode::SERVICE_UNAVAILABLE)),
            ("/never", Some(Endpoint::Never)),
            ("/never/1", Some(Endpoint::Never)),
            ("/", None),
            ("", None),
            ("200", None),
            ("/100", None),
            ("/600", None),
            ("/0200", None),
            ("/nevermore", None),
        ];
        for (path, expected) in cases {
            assert_eq!(Endpoint::of(path), expected, "{path:?}");
        }
    }
}
