//! References to the message's own parts.

use std::cell::Cell;

use super::urls;

/// Finds the URLs of parts, and stops when they come to more than a page may hold.
pub(super) struct Parts<'a> {
    resolve: &'a dyn Fn(&str) -> Option<String>,
    left: Cell<usize>,
}

impl<'a> Parts<'a> {
    /// `bound` is in bytes of URLs.
    pub(super) fn new(resolve: &'a dyn Fn(&str) -> Option<String>, bound: usize) -> Self {
        Self { resolve, left: Cell::new(bound) }
    }

    /// The URL of the part that `reference`, with its character references decoded, names by its
    /// Content-ID.
    pub(super) fn url(&self, reference: &str) -> Option<String> {
        if self.are_too_many() {
            return None;
        }
        let id = urls::content_id(reference)?;
        let url = (self.resolve)(id).or_else(|| (self.resolve)(&urls::decoded(id)?))?;
        self.left.set(self.left.get().saturating_sub(url.len()));
        Some(url)
    }

    /// Whether references were left as they are because there are too many.
    pub(super) fn are_too_many(&self) -> bool {
        self.left.get() == 0
    }
}
