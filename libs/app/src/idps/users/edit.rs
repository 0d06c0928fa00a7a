//! Test users: added, changed and removed.

use trapline_model::{IdpId, IdpUser, IdpUserId, Principal};
use trapline_store::{Op, Record as _, Scan, When, load, records::IdpUserRecord};

use super::{IdpUserChange, MAX_USERS, NewIdpUser};
use crate::{AuditAction, Error, Idps, Result, audit::Target};

impl Idps {
    /// Adds a test user.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider; [`Error::Invalid`] for what is out of
    /// bounds, for reserved claims, for a subject that another user has, and for more than 1,000 users of
    /// a provider; [`Error::StorageFull`] when there is no room; and when the store does not answer.
    pub async fn add_user(&self, by: &Principal, idp: IdpId, new: NewIdpUser) -> Result<IdpUser> {
        self.load_record(by.team, idp).await?;
        let given = IdpUserChange {
            email: Some(new.email.clone()),
            name: Some(new.name.clone()),
            groups: Some(new.groups.clone()),
            claims: Some(new.claims.clone()),
            subject: new.subject.clone(),
        };
        given.check()?;
        self.room.check().await?;
        let known = Scan { keys_only: true, ..IdpUserRecord::of_idp(idp, MAX_USERS) };
        if self.store.scan(known).await?.len() >= MAX_USERS {
            let message = format!("an identity provider has at most {MAX_USERS} users");
            return Err(Error::invalid("", "too_many", message));
        }
        let user = self.new_user(idp, new);
        self.claim_subject(&user).await?;
        self.put_user(by, AuditAction::IdpUserCreated, &user).await?;
        self.present_user(by.team, user).await
    }

    /// Changes a test user; groups and claims are replaced whole.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider or that no such user; otherwise those of
    /// [`Idps::add_user`].
    pub async fn update_user(
        &self,
        by: &Principal,
        idp: IdpId,
        id: IdpUserId,
        change: IdpUserChange,
    ) -> Result<IdpUser> {
        self.load_record(by.team, idp).await?;
        let before = self.user_record(idp, id).await?.ok_or(Error::NotFound)?;
        change.check()?;
        let mut user = before.clone();
        change.apply(&mut user);
        user.updated_at = self.clock.now();
        if user.subject != before.subject {
            self.claim_subject(&user).await?;
        }
        self.put_user(by, AuditAction::IdpUserUpdated, &user).await?;
        if user.subject != before.subject {
            self.release_subject(&before).await?;
        }
        self.present_user(by.team, user).await
    }

    /// Removes a test user; what the user was given is worth nothing any more.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider or that no such user, and when the store
    /// does not answer.
    pub async fn delete_user(&self, by: &Principal, idp: IdpId, id: IdpUserId) -> Result<()> {
        let provider = self.load_record(by.team, idp).await?;
        let user = self.user_record(idp, id).await?.ok_or(Error::NotFound)?;
        if provider.auto_login_user == Some(id) {
            let forget = self.edit(by, idp, AuditAction::IdpUpdated, |idp| {
                idp.auto_login_user = idp.auto_login_user.filter(|user| *user != id);
            });
            forget.await?;
        }
        let delete = Op::Delete { key: user.key(), when: When::Always };
        let entry = self.audit.entry(by, AuditAction::IdpUserDeleted, Target::idp_user(&user));
        self.audit.write(&entry.await, vec![delete]).await?;
        self.release_subject(&user).await
    }

    pub(in crate::idps) async fn user_record(
        &self,
        idp: IdpId,
        id: IdpUserId,
    ) -> Result<Option<IdpUserRecord>> {
        let found = load(&*self.store, &IdpUserRecord::row(idp, id)).await?;
        Ok(found.map(|(user, _)| user))
    }

    async fn put_user(
        &self,
        by: &Principal,
        action: AuditAction,
        user: &IdpUserRecord,
    ) -> Result<()> {
        Ok(self.audit.put(by, action, Target::idp_user(user), user, When::Always).await?)
    }
}
