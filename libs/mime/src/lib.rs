//! Mail as people see it: summary, bodies, attachments, links, one-time codes and a safe preview.
//!
//! Pure functions over the raw bytes of a message. None refuses a message or panics: what cannot be
//! understood is kept as text or as an attachment, and reported in `warnings`.

mod addresses;
mod bare;
mod bodies;
mod charset;
mod codes;
mod digest;
mod entities;
mod fields;
mod flowed;
mod fold;
mod iso2022;
mod limits;
mod lines;
mod links;
pub mod markup;
mod meta_charset;
mod names;
mod params;
mod parsed;
mod part;
pub mod preview;
mod structure;
mod transfer;
mod utf7;
mod uuencode;
mod view;
mod visible;
mod warnings;
mod words;

#[cfg(test)]
mod tests;

pub use digest::{Digest, digest};
pub use entities::{decode as decode_html, escape_html};
pub use fold::fold;
pub use parsed::{AttachmentBody, Parsed, attachment, codes, digest_and_code, parse};
pub use view::{PartView, View, visible_text};

/// Runs `read`; none when it panics. A fault in a parser must not cost a message.
fn catch_panic<T>(read: impl FnOnce() -> T) -> Option<T> {
    // Nothing outlives the call that a panic could leave half changed.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).ok()
}
