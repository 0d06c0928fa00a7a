//! How mail clients show a message.

use trapline_checks::html;
use trapline_model::{HtmlReport, MessageId, Principal};

use super::Checks;
use crate::{Error, Result};

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
    ) -> Result<HtmlReport> {
        let raw = self.messages.raw(by, id).await?;
        let clients = html::clients(clients).map_err(|name| {
            let message = format!("\"{name}\" is no client: see the ids of a report without it");
            Error::invalid("clients", "unknown_client", message)
        })?;
        self.messages.run_parser(raw, move |raw| html::check(raw, &clients)).await
    }
}
