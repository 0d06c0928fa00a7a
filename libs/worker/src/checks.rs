//! What checks of a message ask of others.

mod links;

pub use links::HttpLinkVisitor;
