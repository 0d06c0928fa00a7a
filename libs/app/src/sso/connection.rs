//! A team's identity provider: sets, shows and removes it.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use trapline_model::{ClaimedDomain, Principal, Role, SsoConnection};
use trapline_store::{
    Op, PortError, Record as _, When,
    records::{Sso, SsoDomain},
};

use super::{SingleSignOn, seal_context, target_of};
use crate::{AuditAction, Error, Forbidden, Result, mail::EmailAddress};

/// The settings of a team's provider.
#[derive(Debug, Clone)]
pub struct SsoSettings {
    /// The issuer identifier.
    pub issuer: String,
    /// The id of this service as the provider's client.
    pub client_id: String,
    /// The client's secret; `None` keeps the present one.
    pub client_secret: Option<String>,
    /// The mail domains whose people sign in there.
    pub domains: Vec<String>,
    /// Whether members other than the owner can sign in in no other way.
    pub enforced: bool,
}

impl SingleSignOn {
    /// The team's provider.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for whoever is no admin, and [`Error::NotFound`] when the team has none.
    pub async fn get(&self, by: &Principal) -> Result<SsoConnection> {
        if by.role < Role::Admin {
            return Err(Error::Forbidden(Forbidden::AdminRequired));
        }
        let (sso, _) = self.of_team(by.team).await?.ok_or(Error::NotFound)?;
        self.present(sso).await
    }

    /// Sets the team's provider, or changes it. The discovery document of a new issuer is read at once, so
    /// that a mistake is an error here.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for whoever is not the owner, [`Error::Invalid`] for what cannot work,
    /// [`Error::TooMany`] while many providers are being asked, and [`Error::Conflict`] when somebody
    /// else changed it at the same moment.
    pub async fn put(&self, by: &Principal, settings: SsoSettings) -> Result<SsoConnection> {
        require_owner(by)?;
        let known = self.of_team(by.team).await?;
        let domains = domains_of(&settings.domains)?;
        let before = known.as_ref().map(|(sso, _)| sso);
        if before.is_none_or(|before| before.issuer != settings.issuer) {
            self.check_issuer(&settings.issuer).await?;
        }
        let is_same = |before: &&Sso| {
            before.issuer == settings.issuer
                && before.client_id == settings.client_id
                && settings.client_secret.is_none()
        };
        let same = before.filter(is_same);
        let client_secret = match (&settings.client_secret, same) {
            (Some(secret), _) => self.secrets.seal(&seal_context(by.team), secret)?,
            (None, Some(same)) => same.client_secret.clone(),
            (None, None) => {
                let message = "is needed with a new issuer or client";
                return Err(Error::invalid("clientSecret", "required", message));
            }
        };
        let sso = Sso {
            team: by.team,
            issuer: settings.issuer,
            client_id: settings.client_id,
            client_secret,
            domains,
            enforced: settings.enforced,
            proven_at: same.and_then(|same| same.proven_at),
            updated_at: self.clock.now(),
        };
        if sso.enforced && !before.is_some_and(|before| before.enforced) {
            self.check_can_enforce(&sso).await?;
        }
        let when = known.as_ref().map_or(When::Absent, |(_, version)| When::Version(*version));
        self.audit.put(by, AuditAction::SsoUpdated, target_of(&sso), &sso, when).await?;
        self.people.forget_sso(by.team);
        if let Some((before, _)) = &known {
            let gone = before.domains.iter().filter(|domain| !sso.domains.contains(domain));
            for domain in gone {
                self.release_domain(by, domain).await?;
            }
        }
        self.present(sso).await
    }

    /// Removes the team's provider. Its people sign in by their passwords, or by links to set one.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for whoever is not the owner, and [`Error::NotFound`] when there is none.
    pub async fn delete(&self, by: &Principal) -> Result<()> {
        require_owner(by)?;
        let (sso, version) = self.of_team(by.team).await?.ok_or(Error::NotFound)?;
        // The domains come first: they could not be found again.
        for domain in &sso.domains {
            self.release_domain(by, domain).await?;
        }
        let entry = self.audit.entry(by, AuditAction::SsoDeleted, target_of(&sso)).await;
        let delete = Op::Delete { key: sso.key(), when: When::Version(version) };
        self.audit.write(&entry, vec![delete]).await?;
        self.people.forget_sso(by.team);
        Ok(())
    }

    async fn check_issuer(&self, issuer: &str) -> Result<()> {
        let provider = self.provider()?;
        let refused = |why: String| Error::invalid("issuer", "invalid_issuer", why);
        provider.check(issuer).map_err(refused)?;
        let _permit = self.begin_exchange()?;
        provider.discover(issuer).await.map_err(|failure| refused(failure.to_string()))
    }

    /// Checks that single sign-on can be enforced: settings that nobody has used yet might shut the team's
    /// people out.
    async fn check_can_enforce(&self, sso: &Sso) -> Result<()> {
        if sso.proven_at.is_none() {
            let message = "somebody must have signed in by these settings first";
            return Err(Error::invalid("enforced", "not_proven", message));
        }
        let is_verified = self.claimed(sso).await?.iter().any(|claim| claim.verified_at.is_some());
        if is_verified {
            return Ok(());
        }
        let message = "one of the domains must be verified first";
        Err(Error::invalid("enforced", "no_domain", message))
    }

    /// Frees a domain that was verified as the team's.
    async fn release_domain(&self, by: &Principal, domain: &str) -> Result<()> {
        if let Some((row, version)) = self.domain(domain).await?
            && row.team == by.team
        {
            let delete = Op::Delete { key: row.key(), when: When::Version(version) };
            match self.store.write(vec![delete]).await {
                // Somebody else did the same.
                Ok(()) | Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn present(&self, sso: Sso) -> Result<SsoConnection> {
        Ok(SsoConnection {
            domains: self.claimed(&sso).await?,
            redirect_uri: self.redirect_uri(sso.team),
            issuer: sso.issuer,
            client_id: sso.client_id,
            enforced: sso.enforced,
            proven_at: sso.proven_at,
            updated_at: sso.updated_at,
        })
    }

    async fn claimed(&self, sso: &Sso) -> Result<Vec<ClaimedDomain>> {
        try_join_all(sso.domains.iter().map(|name| async {
            let row = self.domain(name).await?;
            let own =
                |(row, _): (SsoDomain, i64)| (row.team == sso.team).then_some(row.verified_at);
            Ok(ClaimedDomain { name: name.clone(), verified_at: row.and_then(own) })
        }))
        .await
    }
}

fn require_owner(by: &Principal) -> Result<()> {
    if by.role == Role::Owner { Ok(()) } else { Err(Error::Forbidden(Forbidden::OwnerRequired)) }
}

/// The domains in the form in which they are compared, each once.
fn domains_of(given: &[String]) -> Result<Vec<String>> {
    let one = |name: &String| super::domains::domain_of(name);
    let domains = given.iter().map(one).collect::<Result<BTreeSet<_>>>()?;
    Ok(domains.into_iter().collect())
}

/// The domain of an address, in the form in which it is compared.
pub(super) fn domain_of_address(email: &EmailAddress) -> String {
    let folded = email.folded();
    folded.rsplit_once('@').map(|(_, domain)| domain.to_owned()).unwrap_or_default()
}
