//! What checks of a message ask of others.

mod auth;
mod links;
mod zone;

pub use auth::MailAuthenticator;
pub use links::HttpLinkVisitor;
