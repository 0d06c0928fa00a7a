//! How mail clients show a message.

use std::sync::Arc;

use trapline_checks::html::{self, Dataset};
use trapline_model::{HtmlReport, MessageId, Principal};

use super::Checks;
use crate::{Error, Result, Settings};

impl Checks {
    /// How mail clients show a message: all, or those that `clients` names by id or family.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, [`Error::Invalid`] when there is no such
    /// client, [`Error::Damaged`] when its bytes are gone or not those that were stored, and
    /// [`Error::Unavailable`] when too much work waits for a processor.
    pub async fn html(
        &self,
        by: &Principal,
        id: MessageId,
        clients: &[&str],
    ) -> Result<Arc<HtmlReport>> {
        let data = self.html_data.clone();
        let chosen = match html::clients(&data, clients) {
            Ok(chosen) => chosen,
            Err(name) => {
                self.messages.record(by.team, id).await?;
                let message = format!("\"{name}\" is no client: GET /api/checks lists them");
                return Err(Error::invalid("clients", "unknown_client", message));
            }
        };
        let parameters = format!("{chosen:?}");
        self.report(by, id, ("html", &parameters), move |raw| html::check(raw, &chosen, &data))
            .await
    }
}

/// The data of the check, by the operator's settings. What of it nothing matches is logged once.
pub(super) fn data(settings: &Settings) -> Arc<Dataset> {
    let Some(data) = &settings.html_data else { return Arc::new(Dataset::builtin().clone()) };
    if !data.left_out().is_empty() {
        let features = data.left_out().join(", ");
        tracing::warn!(features, "features of the data set have no matcher and are left out");
    }
    data.clone()
}
