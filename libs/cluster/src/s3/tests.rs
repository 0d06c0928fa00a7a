//! What needs no server.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod deadlines;
mod folder;
mod intake;
mod objects;
mod options;

use super::{SegmentOptions, Segments};

fn open(url: impl Into<String>) -> Segments {
    Segments::open(&SegmentOptions { url: url.into() }).unwrap()
}
