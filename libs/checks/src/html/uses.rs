//! Which features a message uses, where, and for whom.

use super::matchers::{Matchers, UseKind, matchers};

/// Who is meant to read a part of the page (conditional comments of Outlook).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    Everyone,
    /// Outlook on Windows.
    Outlook,
    /// All but Outlook on Windows.
    Others,
}

/// Places of one feature that are told.
pub(super) const LOCATIONS: usize = 50;

/// Where a feature is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) count: usize,
    /// Bytes from the start of the HTML; the first [`LOCATIONS`].
    pub(super) offsets: Vec<usize>,
    for_outlook: bool,
    for_others: bool,
}

impl Use {
    /// Whether the client, which is Outlook on Windows or another one, meets the feature.
    pub(super) fn is_for(&self, is_outlook: bool) -> bool {
        if is_outlook { self.for_outlook } else { self.for_others }
    }
}

/// What was found so far.
pub(super) struct Uses {
    matchers: &'static Matchers,
    /// By place in the data set.
    pub(super) by_feature: Vec<Use>,
    pub(super) audience: Audience,
}

impl Uses {
    pub(super) fn new() -> Self {
        let matchers = matchers();
        let by_feature = vec![Use::default(); matchers.impacts.len()];
        Self { matchers, by_feature, audience: Audience::Everyone }
    }

    /// The message has `name`, in any case, at `offset`.
    pub(super) fn found(&mut self, kind: UseKind, name: &str, offset: usize) {
        for at in self.matchers.features_in_any_case(kind, name) {
            let seen = &mut self.by_feature[*at];
            seen.count += 1;
            if seen.offsets.len() < LOCATIONS {
                seen.offsets.push(offset);
            }
            seen.for_outlook |= self.audience != Audience::Others;
            seen.for_others |= self.audience != Audience::Outlook;
        }
    }
}
