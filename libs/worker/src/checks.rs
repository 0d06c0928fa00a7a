//! What checks of a message ask of others.

mod auth;
mod links;
mod rspamd;
mod spamd;
mod spf;
mod zone;

pub use auth::MailAuthenticator;
pub use links::HttpLinkVisitor;
pub use rspamd::RspamdEngine;
pub use spamd::SpamdEngine;
use trapline_model::MatchedRule;

/// Puts rules that weigh most first, and those that weigh the same by their names.
fn by_weight(rules: &mut [MatchedRule]) {
    rules.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()).then_with(|| a.name.cmp(&b.name)));
}
