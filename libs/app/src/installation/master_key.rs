//! Whether this process has the key that the installation's secrets were sealed with.

use trapline_model::TeamId;
use trapline_store::{load, records::SharedSecret};

use super::Installation;
use crate::{Result, access::password_context};

/// The name of a shared secret that is there only to be opened.
const CANARY: &str = "master_key_check";

impl Installation {
    /// Checks that the installation's secrets were sealed with this process's master key. Where there
    /// is no installation yet, nothing is read or made; one of an earlier release that has no canary is
    /// checked once it is upgraded.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`](crate::Error::WrongMasterKey) when they were sealed with another key.
    pub(crate) async fn check_master_key(&self) -> Result<()> {
        let Some(run) = self.access.installed().await? else { return Ok(()) };
        let canary = SharedSecret::row(CANARY);
        if load::<SharedSecret>(&*self.store, &canary).await?.is_none() {
            // An earlier release made the installation. A canary must not vouch for another key.
            if !self.upgrades.are_finished().await? {
                return Ok(());
            }
            self.open_a_password(run.team).await?;
        }
        self.access.shared_secret(CANARY, CANARY).await.map(drop)
    }

    /// Opens the password of an inbox of the team, if it has one.
    async fn open_a_password(&self, team: TeamId) -> Result<()> {
        if let Some(inbox) = self.inboxes.some_of(team).await? {
            self.secrets.open(&password_context(&inbox.username), &inbox.password)?;
        }
        Ok(())
    }
}
