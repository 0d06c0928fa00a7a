//! Message bodies as pages that are safe to show in a sandboxed frame.
//!
//! The headers of [`HEADERS`] and [`content_security_policy`] are what keeps a hostile body in its
//! frame; the rewriting is a second fence, and makes the page work (images, links).

mod css;
mod html;
mod policy;
mod text;
mod urls;

pub use html::{Options, html};
pub use policy::{ATTACHMENT_HEADERS, HEADERS, SANDBOX, content_security_policy};
pub use text::text;
pub(crate) use urls::is_dangerous;
