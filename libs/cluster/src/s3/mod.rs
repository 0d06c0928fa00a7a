//! Message bytes on S3-compatible stores, or in a folder that every process mounts; and the commit
//! of the receiving path over them.
//!
//! A segment is one object, written once and never changed. Every call ends within its deadline:
//! 10 s for a put, 5 s for anything else, retries included.

mod blobs;
mod failure;
mod intake;
mod meters;
mod objects;
mod options;
mod segments;
#[cfg(test)]
mod tests;

use crate::UrlError;
use options::SegmentsLocation;

pub use intake::{ClusterIntake, RowWriter};
pub use objects::{Objects, Upload};
pub use options::{SegmentError, SegmentOptions};
pub use segments::Segments;

/// Whether a URL is one of segments; asks no server and reads no file.
pub(crate) fn check_url(url: &str) -> Result<(), UrlError> {
    SegmentsLocation::parse(url).map(drop)
}
