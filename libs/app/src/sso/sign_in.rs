//! Signing in at a team's provider: begins here, and ends when the browser comes back.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::SemaphorePermit;
use trapline_model::{PersonId, Principal, Role, TeamId, Time};
use trapline_store::{
    Op, PortError, When, load,
    records::{Membership, Person, Sso, SsoLink},
};

use super::{ExternalAccount, ProviderAnswer, SingleSignOn, connection::domain_of_address};
use crate::{
    AuditAction, Error, NewSession, Result, SsoProblem, Visitor,
    audit::{Target, TargetKind},
    mail::EmailAddress,
    metrics,
    secrets::sha256_hex,
};

/// How long a sign-in may take at the provider.
const SIGN_IN_TIMEOUT: Duration = Duration::from_mins(10);
/// When a sign-in may be tried again that met too many others.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// A begun sign-in.
#[derive(Debug)]
pub struct SsoStart {
    /// The URL at the provider to which the browser goes.
    pub url: String,
    /// The state that the browser keeps until it comes back, sealed by this installation.
    pub sealed: String,
}

/// The authorization response, as the browser brings it.
#[derive(Debug, Default)]
pub struct SsoAnswer {
    /// The `state` of the address.
    pub state: String,
    /// The `code` of the address; empty where the provider sends none.
    pub code: String,
    /// The `error` of the address; empty where there is none.
    pub error: String,
    /// The `iss` of the address (RFC 9207); empty where the provider does not say.
    pub issuer: String,
    /// See [`SsoStart::sealed`].
    pub sealed: String,
}

/// The state of a sign-in, which the browser keeps.
#[derive(Serialize, Deserialize)]
struct PendingSignIn {
    team: TeamId,
    nonce: String,
    verifier: String,
    expires_at: Time,
}

impl SingleSignOn {
    /// Begins a sign-in of whoever has this address, at the provider of the team whose domain it is of.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for what is no address, [`Error::Sso`] when no team has the domain or the
    /// provider does not answer, and [`Error::TooMany`] after many tries.
    pub async fn begin(&self, email: &str, visitor: &Visitor) -> Result<SsoStart> {
        self.people.take_of_address(visitor).await?;
        let email = EmailAddress::parse("email", email)?;
        let team = self.team_of(&domain_of_address(&email)).await?;
        let team = team.ok_or(Error::Sso(SsoProblem::NoTeam))?;
        let (sso, _) = self.of_team(team).await?.ok_or(Error::Sso(SsoProblem::NoTeam))?;
        let client = self.client(&sso)?;
        let _permit = self.begin_exchange()?;
        let begun = self.provider()?.authorize(&client, email.as_str()).await;
        let begun = begun.map_err(|failure| Error::Sso(SsoProblem::Provider(failure)))?;
        let expires_at = self.clock.now().after(SIGN_IN_TIMEOUT);
        let pending =
            PendingSignIn { team, nonce: begun.nonce, verifier: begun.verifier, expires_at };
        let pending = serde_json::to_string(&pending).map_err(|_| Error::Crypto)?;
        let sealed = self.secrets.seal_for_url(&state_context(&begun.state), &pending)?;
        Ok(SsoStart { url: begun.url, sealed })
    }

    /// Ends a sign-in: a session begins, which acts for this team.
    ///
    /// # Errors
    ///
    /// [`Error::Sso`] says why not, and [`Error::TooMany`] after many tries.
    pub async fn finish(
        &self,
        team: TeamId,
        answer: &SsoAnswer,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        self.people.take_of_address(visitor).await?;
        let finished = self.finished(team, answer, visitor).await;
        if let Err(Error::Sso(_)) = finished {
            metrics::auth_failed("sso");
        }
        finished
    }

    async fn finished(
        &self,
        team: TeamId,
        answer: &SsoAnswer,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        let pending = self.pending(team, answer).ok_or(Error::Sso(SsoProblem::NotBegun))?;
        let (sso, _) = self.of_team(team).await?.ok_or(Error::Sso(SsoProblem::NoTeam))?;
        if !answer.issuer.is_empty() && answer.issuer != sso.issuer {
            return Err(Error::Sso(SsoProblem::NotBegun));
        }
        if !answer.error.is_empty() || answer.code.is_empty() {
            return Err(Error::Sso(SsoProblem::Denied(error_code(&answer.error))));
        }
        let PendingSignIn { nonce, verifier, .. } = pending;
        let brought = ProviderAnswer { code: answer.code.clone(), nonce, verifier };
        let client = self.client(&sso)?;
        let account = {
            let _permit = self.begin_exchange()?;
            let account = self.provider()?.account(&client, &brought).await;
            account.map_err(|failure| Error::Sso(SsoProblem::Provider(failure)))?
        };
        let person = self.person_of(&sso, &account, visitor).await?;
        self.record_proof(&sso).await;
        self.people.begin_by_sso(team, person, visitor).await
    }

    /// The state of the sign-in, if this browser began it and it has not expired. It is sealed with the `state`
    /// of the request, so with another one it does not open.
    fn pending(&self, team: TeamId, answer: &SsoAnswer) -> Option<PendingSignIn> {
        let opened = self.secrets.open_from_url(&state_context(&answer.state), &answer.sealed)?;
        let pending: PendingSignIn = serde_json::from_str(&opened).ok()?;
        (pending.team == team && pending.expires_at > self.clock.now()).then_some(pending)
    }

    /// The person of an account: the one it is linked to, else the one with its mail address, whom it is then
    /// linked to.
    async fn person_of(
        &self,
        sso: &Sso,
        account: &ExternalAccount,
        visitor: &Visitor,
    ) -> Result<PersonId> {
        let subject = sha256_hex(&format!("{}\n{}", sso.issuer, account.subject));
        let row = SsoLink::row(sso.team, &subject);
        if let Some((link, _)) = load::<SsoLink>(&*self.store, &row).await? {
            return if self.is_member(sso.team, link.person).await? {
                Ok(link.person)
            } else {
                Err(Error::Sso(SsoProblem::NotAMember))
            };
        }
        let person = self.person_to_link(sso, account, visitor).await?;
        let link = SsoLink { team: sso.team, subject, person, linked_at: self.clock.now() };
        let by = Principal::of_person(sso.team, person, Role::Member).at(visitor.address);
        let target = Target::new(TargetKind::Member, &person, &self.audit.name_of(&by).await);
        let entry = self.audit.entry(&by, AuditAction::MemberLinked, target).await;
        match self.audit.write(&entry, vec![Op::put(&link, None, When::Absent)?]).await {
            // The same account came twice at the same moment.
            Ok(()) | Err(PortError::Conflict) => Ok(person),
            Err(error) => Err(error.into()),
        }
    }

    /// The person with the account's mail address, which has to be verified and of a domain of the team. They
    /// join the team if they are not in it.
    async fn person_to_link(
        &self,
        sso: &Sso,
        account: &ExternalAccount,
        visitor: &Visitor,
    ) -> Result<PersonId> {
        let unverified = || Error::Sso(SsoProblem::UnverifiedEmail);
        let email = account.email.as_deref().filter(|_| account.is_email_verified);
        let email = EmailAddress::parse("email", email.ok_or_else(unverified)?)
            .map_err(|_| unverified())?;
        if self.team_of(&domain_of_address(&email)).await? != Some(sso.team) {
            return Err(Error::Sso(SsoProblem::OtherDomain));
        }
        let person = self.people.vouched_for(sso.team, email, &account.name).await?;
        if !self.is_member(sso.team, person).await? {
            self.plans.check_room(sso.team).await?;
            let by = Principal::of_person(sso.team, person, Role::Member).at(visitor.address);
            self.people.join(&by, person).await?;
        }
        Ok(person)
    }

    async fn is_member(&self, team: TeamId, person: PersonId) -> Result<bool> {
        let member = load::<Membership>(&*self.store, &Membership::row(team, person)).await?;
        let known = load::<Person>(&*self.store, &Person::row(person)).await?;
        Ok(member.is_some() && known.is_some())
    }

    /// Records that the settings work. Where they change at the same moment, the next sign-in does.
    async fn record_proof(&self, sso: &Sso) {
        if sso.proven_at.is_some() {
            return;
        }
        let noted = async {
            let Some((now, version)) = self.of_team(sso.team).await? else { return Ok(()) };
            if now != *sso {
                return Ok(());
            }
            let proven = Sso { proven_at: Some(self.clock.now()), ..now };
            let put = Op::put(&proven, None, When::Version(version))?;
            Ok::<_, Error>(self.store.write(vec![put]).await?)
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, "that a single sign-on works was not recorded");
        }
    }

    /// Takes one of the concurrent exchanges with providers, until the permit is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] when all are taken.
    pub(super) fn begin_exchange(&self) -> Result<SemaphorePermit<'_>> {
        let permit = self.exchanges.try_acquire();
        permit.map_err(|_| Error::TooMany { retry_after: RETRY_AFTER })
    }
}

/// The context that a sign-in's state is sealed with.
fn state_context(state: &str) -> String {
    format!("sso|{state}")
}

/// A provider's error code (RFC 6749, section 4.1.2.1), cut to 40 characters that are safe to show.
fn error_code(error: &str) -> String {
    let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let word: String = error.chars().take_while(is_word).take(40).collect();
    if word.is_empty() { "no code".to_owned() } else { word }
}
