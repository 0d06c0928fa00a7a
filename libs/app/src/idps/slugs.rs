//! Slugs: claimed by a provider, followed to it, and kept from others for a while after its end.

use std::time::Duration;

use trapline_model::{IdpId, TeamId};
use trapline_store::{
    Op, PortError, When, load,
    records::{IdpRecord, IdpSlug},
};

use super::Idps;
use crate::{Error, Result, secrets::random_text};

/// Characters of a slug that is made: 56 random bits.
const SLUG_LENGTH: usize = 14;
const HEX: &[u8] = b"0123456789abcdef";
/// How long nobody else gets a slug, so that nobody inherits an app that still points at it.
const TOMBSTONE_TTL: Duration = Duration::from_hours(30 * 24);
/// After this time a claim of a slug or a subject, whose owner is not there, was left behind by a creation that
/// was cut off.
pub(super) const CLAIM_TIMEOUT: Duration = Duration::from_mins(5);

impl Idps {
    /// Takes a slug for a provider that is about to be made.
    pub(super) async fn claim_slug(
        &self,
        team: TeamId,
        idp: IdpId,
        wanted: Option<String>,
    ) -> Result<String> {
        let slug = wanted.unwrap_or_else(|| random_text(SLUG_LENGTH, HEX));
        let claimed_at = self.clock.now();
        let claim = IdpSlug { slug: slug.clone(), team, idp, is_deleted: false, claimed_at };
        let put = |when| Op::put(&claim, None, when);
        match self.store.write(vec![put(When::Absent)?]).await {
            Err(PortError::Conflict) => {}
            outcome => return outcome.map(|()| slug).map_err(Error::from),
        }
        let taken =
            || Error::invalid("slug", "taken", "is another provider's, or was until lately");
        let known = load::<IdpSlug>(&*self.store, &IdpSlug::row(&slug)).await?;
        let Some((known, version)) = known else { return Err(taken()) };
        let is_young = claimed_at.since(known.claimed_at) < CLAIM_TIMEOUT;
        if known.is_deleted || is_young || self.is_there(&known).await? {
            return Err(taken());
        }
        match self.store.write(vec![put(When::Version(version))?]).await {
            Err(PortError::Conflict) => Err(taken()),
            outcome => outcome.map(|()| slug).map_err(Error::from),
        }
    }

    async fn is_there(&self, slug: &IdpSlug) -> Result<bool> {
        Ok(self.store.get(&IdpRecord::row(slug.team, slug.idp)).await?.is_some())
    }

    /// Keeps the slug of a provider that is gone from everybody for 30 days.
    pub(super) async fn retire_slug(&self, slug: &str, idp: IdpId) -> Result<()> {
        let known = load::<IdpSlug>(&*self.store, &IdpSlug::row(slug)).await?;
        let Some((known, version)) = known.filter(|(known, _)| known.idp == idp) else {
            return Ok(());
        };
        if known.is_deleted {
            return Ok(());
        }
        let tombstone = IdpSlug { is_deleted: true, ..known };
        let put = Op::put(&tombstone, Some(TOMBSTONE_TTL), When::Version(version))?;
        Ok(self.store.write(vec![put]).await?)
    }
}
