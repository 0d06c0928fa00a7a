//! Which checks there are.

use trapline_checks::html;
use trapline_model::{ChecksOverview, SpamCheckInfo};

use super::Checks;

impl Checks {
    /// The engines and the data that checks are made with.
    pub async fn overview(&self) -> ChecksOverview {
        let engines = self.engine_infos().await;
        ChecksOverview {
            outgoing: self.settings.outgoing_checks,
            spam: SpamCheckInfo { threshold: self.settings.spam_threshold, engines },
            html: html::overview(&self.html_data),
        }
    }
}
