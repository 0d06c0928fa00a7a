//! Subjects, of which each is one user's.

use trapline_store::{
    Op, PortError, Record as _, When, load,
    records::{IdpSubject, IdpUserRecord},
};

use crate::{Error, Idps, Result, idps::slugs::CLAIM_TIMEOUT, rows::delete_unchanged};

impl Idps {
    /// Takes a subject for a user before the user's own row is written.
    pub(super) async fn claim_subject(&self, user: &IdpUserRecord) -> Result<()> {
        let claimed_at = self.clock.now();
        let claim =
            IdpSubject { idp: user.idp, subject: user.subject.clone(), user: user.id, claimed_at };
        let put = |when| Op::put(&claim, None, when);
        match self.store.write(vec![put(When::Absent)?]).await {
            Err(PortError::Conflict) => {}
            outcome => return Ok(outcome?),
        }
        let taken = || Error::invalid("subject", "taken", "is another user's");
        let known = load::<IdpSubject>(&*self.store, &claim.key()).await?;
        let Some((known, version)) = known else { return Err(taken()) };
        // A claim whose user is not there, or has another subject, was left behind, unless it is so young that
        // its user is about to be written.
        if known.user != user.id {
            let is_young = claimed_at.since(known.claimed_at) < CLAIM_TIMEOUT;
            let holder = self.user_record(user.idp, known.user).await?;
            if is_young || holder.is_some_and(|holder| holder.subject == user.subject) {
                return Err(taken());
            }
        }
        match self.store.write(vec![put(When::Version(version))?]).await {
            Err(PortError::Conflict) => Err(taken()),
            outcome => Ok(outcome?),
        }
    }

    /// Gives back the subject that a user has no more.
    pub(super) async fn release_subject(&self, user: &IdpUserRecord) -> Result<()> {
        let row = IdpSubject::row(user.idp, &user.subject);
        let known = load::<IdpSubject>(&*self.store, &row).await?;
        let Some((_, version)) = known.filter(|(known, _)| known.user == user.id) else {
            return Ok(());
        };
        // Of one that has changed somebody else is the owner already.
        Ok(delete_unchanged(&*self.store, row, version).await?)
    }

    /// The user whom a subject names.
    pub(in crate::idps) async fn user_by_subject(
        &self,
        idp: trapline_model::IdpId,
        subject: &str,
    ) -> Result<Option<IdpUserRecord>> {
        let found = load::<IdpSubject>(&*self.store, &IdpSubject::row(idp, subject)).await?;
        let Some((known, _)) = found else { return Ok(None) };
        let user = self.user_record(idp, known.user).await?;
        Ok(user.filter(|user| user.subject == subject))
    }
}
