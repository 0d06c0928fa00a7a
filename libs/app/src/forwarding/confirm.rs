//! Confirmation links. Opening one changes nothing, for mail scanners open every link; its page has a
//! button that does.

use std::net::IpAddr;

use trapline_model::Principal;
use trapline_store::{
    Op, Record as _, When, load,
    records::{ForwardAddress, Team, Verification},
};

use super::{Forwarding, notifications};
use crate::{
    AuditAction, Error, Result,
    audit::Target,
    secrets::{new_token, sha256_hex},
};

/// What a link asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The address whose owner is asked.
    pub email: String,
    /// The team that wants to forward mail there.
    pub team_name: String,
}

/// A link that still works, and what it is about.
struct PendingConfirmation {
    verification: Verification,
    address: ForwardAddress,
    version: i64,
    team: Team,
}

impl Forwarding {
    /// What a link asks.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the link is over or was never sent, and when the store does not answer.
    pub async fn confirmation(&self, token: &str) -> Result<Confirmation> {
        let PendingConfirmation { address, team, .. } = self.pending(token).await?;
        Ok(Confirmation { email: address.email, team_name: team.name })
    }

    /// Confirms the address that a link is about; the client is at `from`. A link works once.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the link is over or was never sent, [`Error::Conflict`] when the address
    /// was changed at the same moment, and when the store does not answer.
    pub async fn confirm(&self, token: &str, from: Option<IpAddr>) -> Result<Confirmation> {
        let PendingConfirmation { verification, mut address, version, team } =
            self.pending(token).await?;
        address.verified_at = Some(self.clock.now());
        let when = When::Version(version);
        let put = Op::put(&address, None, when)?;
        let used = Op::Delete { key: verification.key(), when: When::Always };
        // Whoever has the link is nobody that the team knows.
        let by = Principal::system(address.team).at(from);
        let target = Target::forward_address(&address);
        let entry = self.audit.entry(&by, AuditAction::ForwardAddressVerified, target).await;
        self.audit.write(&entry, vec![put, used]).await?;
        Ok(Confirmation { email: address.email, team_name: team.name })
    }

    /// Sends a link to the owner of an address.
    pub(super) async fn send_link(&self, address: &ForwardAddress) -> Result<()> {
        let token = new_token();
        let verification = Verification {
            sha256: sha256_hex(&token),
            team: address.team,
            address: address.id,
            added_at: address.created_at,
        };
        let put = Op::put(&verification, Some(Verification::VALID), When::Always)?;
        self.store.write(vec![put]).await?;
        let base = &self.settings.base_url;
        let link = format!("{base}/api/forward-addresses/confirm?token={token}");
        let team_name = self.team_name(address).await?;
        self.mail
            .send(&address.email, &notifications::confirm(&team_name, &address.email, &link))
            .await
    }

    /// The link, and the address that still waits for it. Once an address is confirmed, every link to
    /// it is over; one that was removed meanwhile is not brought back.
    async fn pending(&self, token: &str) -> Result<PendingConfirmation> {
        let store = &*self.store;
        let row = Verification::row(&sha256_hex(token));
        let (verification, _) = load::<Verification>(store, &row).await?.ok_or(Error::NotFound)?;
        let row = ForwardAddress::row(verification.team, verification.address);
        let (address, version) =
            load::<ForwardAddress>(store, &row).await?.ok_or(Error::NotFound)?;
        let row = Team::row(verification.team);
        let (team, _) = load::<Team>(store, &row).await?.ok_or(Error::NotFound)?;
        let waits = team.deleted_at.is_none()
            && address.verified_at.is_none()
            && address.created_at == verification.added_at;
        if waits {
            Ok(PendingConfirmation { verification, address, version, team })
        } else {
            Err(Error::NotFound)
        }
    }

    async fn team_name(&self, address: &ForwardAddress) -> Result<String> {
        let team = load::<Team>(&*self.store, &Team::row(address.team)).await?;
        Ok(team.map(|(team, _)| team.name).unwrap_or_default())
    }
}
