//! Mail domains of teams, which the operator verifies.

use trapline_model::{Principal, TeamId};
use trapline_store::{Op, When, records::SsoDomain};

use super::{SingleSignOn, connection::domain_of_address, target_of};
use crate::{AuditAction, Error, Result, mail::EmailAddress};

impl SingleSignOn {
    /// Verifies a domain of the team's settings on the word of the operator: from then on its provider vouches
    /// for addresses of the domain.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for text that is no domain, [`Error::NotFound`] when it is not in the team's settings,
    /// and [`Error::Conflict`] when it is another team's.
    pub async fn verify_domain(&self, team: TeamId, domain: &str) -> Result<()> {
        let domain = domain_of(domain)?;
        let (sso, _) = self.of_team(team).await?.ok_or(Error::NotFound)?;
        if !sso.domains.contains(&domain) {
            return Err(Error::NotFound);
        }
        let when = match self.domain(&domain).await? {
            None => When::Absent,
            Some((known, _)) if known.team == team => return Ok(()),
            // Left behind by a team that no longer has it in its settings.
            Some((known, version)) if !self.claims(known.team, &domain).await? => {
                When::Version(version)
            }
            Some(_) => return Err(Error::Conflict),
        };
        let row = SsoDomain { domain: domain.clone(), team, verified_at: self.clock.now() };
        let mut target = target_of(&sso);
        target.name = domain;
        let by = Principal::system(team);
        let entry = self.audit.entry(&by, AuditAction::SsoDomainVerified, target).await;
        Ok(self.audit.write(&entry, vec![Op::put(&row, None, when)?]).await?)
    }

    /// Whether a domain is in a team's settings.
    async fn claims(&self, team: TeamId, domain: &str) -> Result<bool> {
        let sso = self.of_team(team).await?;
        Ok(sso.is_some_and(|(sso, _)| sso.domains.iter().any(|claimed| claimed == domain)))
    }

    /// The team whose provider vouches for addresses of a domain.
    pub(super) async fn team_of(&self, domain: &str) -> Result<Option<TeamId>> {
        let Some((row, _)) = self.domain(domain).await? else { return Ok(None) };
        Ok(self.claims(row.team, domain).await?.then_some(row.team))
    }
}

/// A domain in the form in which it is compared.
pub(super) fn domain_of(name: &str) -> Result<String> {
    let address = EmailAddress::parse("domains", &format!("x@{}", name.trim()));
    let wrong =
        |_| Error::invalid("domains", "invalid_domain", "must be domains such as example.com");
    address.map(|address| domain_of_address(&address)).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_compared_in_one_form() {
        for (name, domain) in [
            (" Example.COM ", Some("example.com")),
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("localhost", None),
            ("a@example.com", None),
            ("*.example.com", None),
            ("10.0.0.1", None),
            ("", None),
        ] {
            assert_eq!(domain_of(name).ok().as_deref(), domain, "{name}");
        }
    }
}
