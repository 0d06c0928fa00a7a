//! Rotation of the client's secret, at once, and of keys, with an overlap.

use std::{sync::Arc, time::Duration};

use trapline_model::{Idp, IdpEventKind, IdpId, Principal, SigningAlg, Time};
use trapline_store::records::{IdpKeyPair, IdpRecord};

use super::{IdpHandle, Idps, NewIdpEvent, keys::NewKeyPair, manage::new_secret, secret_context};
use crate::{AuditAction, Result};

/// Shortest time for which a retired key is published.
const MIN_OVERLAP: Duration = Duration::from_hours(1);
/// Keys of one algorithm, the one that signs among them.
const MAX_KEYS: usize = 4;

/// What is rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdpRotation {
    /// The client's secret; the old one is worth nothing at once.
    Secret,
    /// The keys; the old ones stay published for as long as their tokens may be good.
    Keys,
}

impl Idps {
    /// Makes a new secret, or new keys, which sign from the next token on.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the team has no such provider,
    /// [`Error::Unavailable`](crate::Error::Unavailable) while too many wait for keys,
    /// [`Error::Conflict`](crate::Error::Conflict) when others changed it at the same moment again and
    /// again, and when the store does not answer.
    pub async fn rotate(&self, by: &Principal, id: IdpId, what: IdpRotation) -> Result<Idp> {
        let known = self.load_record(by.team, id).await?;
        let (idp, summary) = match what {
            IdpRotation::Secret => {
                let secret = self.secrets.seal(&secret_context(id), &new_secret())?;
                let edited = self.edit(by, id, AuditAction::IdpSecretRotated, |idp| {
                    idp.client_secret.clone_from(&secret);
                });
                (edited.await?, "The client's secret was rotated.".to_owned())
            }
            IdpRotation::Keys => {
                let idp = self.with_new_keys(by, &known).await?;
                let kid = &idp.keys[0].kid;
                let summary = format!("The keys were rotated; {kid} is the newest.");
                (idp, summary)
            }
        };
        self.record_event(&idp, NewIdpEvent::told(IdpEventKind::Rotate, summary)).await;
        self.present(&idp, by)
    }

    /// Rotates the keys of a provider in the midst of a sign-in, as a fault asks for; the provider as it is
    /// then.
    ///
    /// # Errors
    ///
    /// Those of [`Idps::rotate`].
    pub async fn rotate_amid(&self, provider: &IdpHandle) -> Result<IdpHandle> {
        let by = Principal::system(provider.settings.team);
        let rotated = self.with_new_keys(&by, &provider.settings).await?;
        let kid = &rotated.keys[0].kid;
        let summary = format!("The keys were rotated amid a sign-in; {kid} is the newest.");
        self.record_event(&rotated, NewIdpEvent::told(IdpEventKind::Rotate, summary)).await;
        let issuer = provider.issuer.clone();
        Ok(IdpHandle { settings: Arc::new(rotated), issuer })
    }

    async fn with_new_keys(&self, by: &Principal, known: &IdpRecord) -> Result<IdpRecord> {
        let now = self.clock.now();
        let mut pairs = vec![self.rsa.take().await?];
        if known.keys.iter().any(|key| key.alg == SigningAlg::ES256) {
            pairs.push(NewKeyPair::p256()?);
        }
        let keys =
            pairs.into_iter().map(|pair| pair.of_idp(&self.secrets, known.id, &known.slug, now));
        let keys: Vec<_> = keys.collect::<Result<_>>()?;
        let edited = self.edit(by, known.id, AuditAction::IdpKeysRotated, |idp| {
            retire(idp, now);
            idp.keys.splice(0..0, keys.clone());
            drop_old(&mut idp.keys, now);
        });
        edited.await
    }
}

/// Takes every key out of use; they stay published for as long as what they signed is good.
fn retire(idp: &mut IdpRecord, now: Time) {
    let overlap = MIN_OVERLAP.max(Duration::from_secs(idp.token_ttl.into()));
    for key in idp.keys.iter_mut().filter(|key| key.retires_at.is_none()) {
        key.retires_at = Some(now.after(overlap));
    }
}

/// Drops what is published no more, and the oldest beyond [`MAX_KEYS`] of each algorithm.
fn drop_old(keys: &mut Vec<IdpKeyPair>, now: Time) {
    let mut counts = [0, 0];
    keys.retain(|key| {
        let count = &mut counts[usize::from(key.alg == SigningAlg::ES256)];
        *count += 1;
        key.retires_at.is_none_or(|at| at > now) && *count <= MAX_KEYS
    });
}
