//! Which checks there are.

use trapline_checks::{html, spam};
use trapline_model::{ChecksOverview, SpamCheckInfo, SpamEngineInfo};

use super::Checks;

impl Checks {
    /// The engines and the data that checks are made with.
    #[must_use]
    pub fn overview(&self) -> ChecksOverview {
        let builtin = SpamEngineInfo {
            name: spam::ENGINE.to_owned(),
            version: Some(spam::VERSION.to_owned()),
            available: true,
        };
        ChecksOverview {
            outgoing: self.settings.outgoing_checks,
            spam: SpamCheckInfo { threshold: self.settings.spam_threshold, engines: vec![builtin] },
            html: html::overview(),
        }
    }
}
