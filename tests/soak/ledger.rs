//! What was promised to the clients of the month.

use std::collections::{BTreeMap, BTreeSet};

use trapline_tests::Inbox;

/// The messages that a lasting inbox keeps.
pub(crate) const KEPT: usize = 1_000;

/// A lasting inbox, with what was accepted into it.
pub(crate) struct Lasting {
    pub(crate) inbox: Inbox,
    /// In the order of acceptance: the id, and the SHA-256 of what was sent.
    pub(crate) accepted: Vec<(String, String)>,
    pub(crate) deleted: BTreeSet<String>,
    /// Messages whose stored bytes were changed.
    pub(crate) damaged: BTreeSet<String>,
}

impl Lasting {
    pub(crate) fn new(inbox: Inbox) -> Self {
        Self { inbox, accepted: Vec::new(), deleted: BTreeSet::new(), damaged: BTreeSet::new() }
    }

    /// The messages that must be there, by id: the newest, of which some were deleted.
    pub(crate) fn kept(&self) -> BTreeMap<&str, &str> {
        // An older one may be there too, in the place of a deleted one.
        let newest = self.accepted.iter().rev().take(KEPT);
        let present = newest.filter(|(id, _)| !self.deleted.contains(id));
        present.map(|(id, hash)| (id.as_str(), hash.as_str())).collect()
    }
}

/// Everything that is counted.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Disposable inboxes with one message each: the paths that must be 404 at the end.
    pub(crate) ended: Vec<[String; 2]>,
    /// Messages that the webhook that answers must be called for.
    pub(crate) told: BTreeSet<String>,
    pub(crate) accepted: usize,
    pub(crate) waits: usize,
    pub(crate) events: usize,
    pub(crate) faults: Vec<String>,
}
