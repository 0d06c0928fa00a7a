//! Sign-ins: requests that wait, codes, grants and the refresh tokens of these.

use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use trapline_model::RefreshTokenPolicy;
use trapline_store::{
    Op, PortError, Record, When, load,
    records::{IdpCode, IdpGrant, IdpLogin, IdpSignIn},
};

use super::{IdpHandle, Idps};
use crate::{
    Error, Result,
    secrets::{new_token, sha256_hex},
};

/// How long a request waits for somebody to choose a user.
pub(super) const LOGIN_TTL: Duration = Duration::from_mins(15);
/// How long a code is good for (RFC 6749, section 4.1.2, recommends ten minutes at most).
pub const CODE_LIFETIME: Duration = Duration::from_mins(1);
/// How long it is known that a code was one.
const CODE_TTL: Duration = Duration::from_hours(1);
/// How long a refresh token is good for after its last use.
const REFRESH_TTL: Duration = Duration::from_hours(30 * 24);
const EDIT_TRIES: usize = 8;

/// What becomes of a code.
#[derive(Debug)]
pub enum Redeemed {
    /// It was good, and led to this grant.
    Grant(Box<IdpGrant>),
    /// It was used before; its grant has ended now, with all its tokens.
    Again,
}

/// What becomes of a refresh token.
#[derive(Debug)]
pub enum Refreshed {
    /// The grant with the next generation, or again with the one that a lost answer had.
    Next(Box<IdpGrant>),
    /// The token was used before, so that somebody may have stolen it; its grant has ended now.
    Reused,
    /// The grant has ended, or its time is over.
    Ended,
}

/// A refresh token that this installation made, whatever became of its grant.
#[derive(Debug)]
pub struct RefreshToken {
    /// The grant's id.
    pub grant: String,
    /// How often the grant had been refreshed when it was made.
    pub generation: u32,
}

impl Idps {
    /// Keeps a request for 15 minutes. Returns what names it.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn keep_login(&self, provider: &IdpHandle, request: String) -> Result<String> {
        let rid = new_token();
        let login = IdpLogin { sha256: sha256_hex(&rid), idp: provider.settings.id, request };
        let put = Op::put(&login, Some(LOGIN_TTL), When::Always)?;
        self.store.write(vec![put]).await?;
        Ok(rid)
    }

    /// The request that was kept under this name at this provider.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn kept_login(&self, provider: &IdpHandle, rid: &str) -> Result<Option<String>> {
        let found = load::<IdpLogin>(&*self.store, &IdpLogin::row(&sha256_hex(rid))).await?;
        let ours = found.filter(|(login, _)| login.idp == provider.settings.id);
        Ok(ours.map(|(login, _)| login.request))
    }

    /// Makes a code.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn issue_code(
        &self,
        provider: &IdpHandle,
        sign_in: IdpSignIn,
        redirect_uri: String,
        (challenge, nonce): (Option<String>, Option<String>),
    ) -> Result<String> {
        let code = new_token();
        let (idp, issued_at) = (provider.settings.id, self.clock.now());
        let sha256 = code_hash(provider, &code);
        let bound = IdpCode { sha256, idp, sign_in, redirect_uri, challenge, nonce, issued_at };
        self.store.write(vec![Op::put(&bound, Some(CODE_TTL), When::Always)?]).await?;
        Ok(code)
    }

    /// What a code is bound to, good or not; `None` for one that this provider did not make within an hour.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn code(&self, provider: &IdpHandle, code: &str) -> Result<Option<IdpCode>> {
        let row = IdpCode::row(&code_hash(provider, code));
        Ok(load(&*self.store, &row).await?.map(|(code, _)| code))
    }

    /// Redeems a code, which works once over all processes: the grant's row is the proof of it.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where it is not known whether it was redeemed, and when the store does not
    /// answer.
    pub async fn redeem(&self, provider: &IdpHandle, code: &IdpCode) -> Result<Redeemed> {
        let settings = &provider.settings;
        let scope = &code.sign_in.scope;
        let is_refreshable = settings.refresh_tokens == RefreshTokenPolicy::Always
            || scope.iter().any(|name| name == "offline_access");
        let grant = IdpGrant {
            id: code.sha256.clone(),
            idp: settings.id,
            sign_in: Some(code.sign_in.clone()),
            redemption: new_token(),
            redeemed_at: self.clock.now(),
            is_refreshable,
            generation: 0,
            rotated_at: None,
            ended_at: None,
        };
        if self.put_settled(&grant, Some(ttl_of(provider, &grant)), When::Absent).await? {
            return Ok(Redeemed::Grant(Box::new(grant)));
        }
        self.end_grant(provider, &grant.id).await?;
        Ok(Redeemed::Again)
    }

    /// A grant of this provider.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn grant(&self, provider: &IdpHandle, id: &str) -> Result<Option<IdpGrant>> {
        Ok(self.versioned_grant(provider, id).await?.map(|(grant, _)| grant))
    }

    async fn versioned_grant(
        &self,
        provider: &IdpHandle,
        id: &str,
    ) -> Result<Option<(IdpGrant, i64)>> {
        let found = load::<IdpGrant>(&*self.store, &IdpGrant::row(id)).await?;
        Ok(found.filter(|(grant, _)| grant.idp == provider.settings.id))
    }

    /// Ends a grant; its tokens are worth nothing at any process from the next request on. One that is not
    /// there is noted as ended, for tokens that need none.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when others change it at the same moment again and again, and when the store
    /// does not answer.
    pub async fn end_grant(&self, provider: &IdpHandle, id: &str) -> Result<()> {
        for _ in 0..EDIT_TRIES {
            let now = self.clock.now();
            let (grant, when) = match self.versioned_grant(provider, id).await? {
                Some((grant, _)) if grant.ended_at.is_some() => return Ok(()),
                Some((grant, version)) => {
                    (IdpGrant { ended_at: Some(now), ..grant }, When::Version(version))
                }
                None => (self.ended(provider, id), When::Absent),
            };
            if self.put_settled(&grant, Some(ttl_of(provider, &grant)), when).await? {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    fn ended(&self, provider: &IdpHandle, id: &str) -> IdpGrant {
        let now = self.clock.now();
        IdpGrant {
            id: id.to_owned(),
            idp: provider.settings.id,
            sign_in: None,
            redemption: new_token(),
            redeemed_at: now,
            is_refreshable: false,
            generation: 0,
            rotated_at: None,
            ended_at: Some(now),
        }
    }

    /// The refresh token of a grant's present generation.
    #[must_use]
    pub fn refresh_token(&self, grant: &IdpGrant) -> String {
        let (id, generation) = (&grant.id, grant.generation);
        let mac = self.secrets.sign(&refresh_context(grant.idp, id, generation));
        format!("{id}.{generation}.{mac}")
    }

    /// Reads a refresh token; `None` for one that no provider of this name made, which ends nothing.
    #[must_use]
    pub fn read_refresh_token(&self, provider: &IdpHandle, token: &str) -> Option<RefreshToken> {
        let mut parts = token.split('.');
        let (id, generation, mac) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        let known = self.secrets.sign(&refresh_context(provider.settings.id, id, generation));
        let is_ours: bool = known.as_bytes().ct_eq(mac.as_bytes()).into();
        (is_ours && parts.next().is_none())
            .then(|| RefreshToken { grant: id.to_owned(), generation })
    }

    /// Uses a refresh token: each generation follows once over all processes. Within the provider's grace
    /// the one before gives the same successor again, since a lost answer is no theft.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when others refresh it at the same moment again and again,
    /// [`Error::Unavailable`] where it is not known whether it was used, and when the store does not
    /// answer.
    pub async fn refresh(&self, provider: &IdpHandle, token: &RefreshToken) -> Result<Refreshed> {
        for _ in 0..EDIT_TRIES {
            let found = self.versioned_grant(provider, &token.grant).await?;
            let Some((grant, version)) = found.filter(|(grant, _)| grant.ended_at.is_none()) else {
                return Ok(Refreshed::Ended);
            };
            let now = self.clock.now();
            if token.generation != grant.generation {
                let grace = Duration::from_secs(provider.settings.refresh_reuse_grace.into());
                let is_last = token.generation.checked_add(1) == Some(grant.generation);
                if is_last && grant.rotated_at.is_some_and(|at| now.since(at) < grace) {
                    return Ok(Refreshed::Next(Box::new(grant)));
                }
                self.end_grant(provider, &token.grant).await?;
                return Ok(Refreshed::Reused);
            }
            let generation = grant.generation.saturating_add(1);
            let next = IdpGrant { generation, rotated_at: Some(now), ..grant };
            if self
                .put_settled(&next, Some(ttl_of(provider, &next)), When::Version(version))
                .await?
            {
                return Ok(Refreshed::Next(Box::new(next)));
            }
        }
        Err(Error::Conflict)
    }

    /// Writes a guarded record, and reads it again where it is not known whether it was written. Returns
    /// whether it is there.
    pub(super) async fn put_settled<R: Record + PartialEq>(
        &self,
        record: &R,
        ttl: Option<Duration>,
        when: When,
    ) -> Result<bool> {
        match self.store.write(vec![Op::put(record, ttl, when)?]).await {
            Ok(()) => Ok(true),
            Err(PortError::Conflict) => Ok(false),
            Err(PortError::Timeout) => match load::<R>(&*self.store, &record.key()).await? {
                Some((known, _)) if known == *record => Ok(true),
                _ => Err(Error::Unavailable),
            },
            Err(error) => Err(error.into()),
        }
    }
}

/// How long a grant is kept: longer than any of its tokens is good for.
fn ttl_of(provider: &IdpHandle, grant: &IdpGrant) -> Duration {
    let hour = Duration::from_hours(1);
    let tokens = Duration::from_secs(provider.settings.token_ttl.into()).max(hour) + hour;
    if grant.is_refreshable { REFRESH_TTL.max(tokens) } else { tokens }
}

fn code_hash(provider: &IdpHandle, code: &str) -> String {
    let hash = Sha256::new().chain_update(provider.settings.id.0.as_bytes()).chain_update(code);
    HEXLOWER.encode(&hash.finalize())
}

fn refresh_context(idp: trapline_model::IdpId, grant: &str, generation: u32) -> String {
    format!("idp-refresh|{idp}|{grant}|{generation}")
}
