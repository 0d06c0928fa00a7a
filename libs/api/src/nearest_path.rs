//! The known path that a mistyped one is nearest to.

/// Requests with longer paths are not mistyped.
const MAX_PATH_LENGTH: usize = 200;
/// The most letters that a path may be away from one that was meant.
const MAX_DISTANCE: usize = 4;

/// Which of the known paths was meant: the one with the fewest letters to change, if they are few.
/// Parameters are as the request has them.
pub(crate) fn nearest<'a>(path: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let path = path.trim_end_matches('/');
    if path.len() > MAX_PATH_LENGTH {
        return None;
    }
    let filled = known.map(|known| filled(known, path));
    let near = filled.filter(|filled| filled.len().abs_diff(path.len()) <= MAX_DISTANCE);
    let far = |filled: String| (strsim::osa_distance(&filled, path), filled);
    let (distance, nearest) = near.map(far).min()?;
    (distance <= MAX_DISTANCE).then_some(nearest)
}

/// The known path with the request's own texts for its parameters.
fn filled(known: &str, path: &str) -> String {
    let mut given = path.split('/');
    let part = |part: &str| {
        let given = given.next().unwrap_or_default();
        if part.starts_with('{') && !given.is_empty() { given.to_owned() } else { part.to_owned() }
    };
    known.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] = [
        "/api/inboxes",
        "/api/inboxes/{id}",
        "/api/inboxes/{id}/messages",
        "/api/messages/{id}",
        "/api/messages/{id}/attachments/{attachmentId}",
    ];

    #[test]
    fn the_nearest_path_is_the_one_that_was_meant() {
        let cases = [
            ("/api/inboxes/", Some("/api/inboxes")),
            ("/api/inboxs", Some("/api/inboxes")),
            ("/inboxes", Some("/api/inboxes")),
            ("/api/v1/inboxes", Some("/api/inboxes")),
            ("/api/inbox/4711/messages", Some("/api/inboxes/4711/messages")),
            ("/api/inboxes//messages", Some("/api/inboxes/{id}/messages")),
            ("/api/message/4711/", Some("/api/messages/4711")),
            ("/api/messages/1/atachments/2", Some("/api/messages/1/attachments/2")),
            ("/api", None),
            ("/", None),
            ("", None),
            ("/wp-login.php", None),
        ];
        for (path, wanted) in cases {
            assert_eq!(nearest(path, KNOWN.into_iter()).as_deref(), wanted, "{path}");
        }
        let long = format!("/api/inboxes/{}", "a".repeat(10_000));
        assert_eq!(nearest(&long, KNOWN.into_iter()), None);
    }
}
