//! Message bodies as pages that are safe to show in a sandboxed frame.
//!
//! The headers, of which [`content_security_policy`] is one, are what keeps a hostile body in its
//! frame; the rewriting is a second fence, and makes the page work (images, links).

mod attributes;
mod css;
mod html;
mod output;
mod parts;
mod policy;
mod text;
mod urls;

pub use html::{Options, html};
pub use policy::content_security_policy;
pub use text::text;
pub(crate) use urls::is_dangerous;
