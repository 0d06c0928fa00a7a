//! Providers: made, changed and removed.

use trapline_model::{
    Idp, IdpClientType, IdpId, IdpUserId, NameIdFormat, Principal, RefreshTokenPolicy, SamlSign,
    SigningAlg,
};
use trapline_store::{
    Op, Record as _, When,
    records::{IdpKeyPair, IdpRecord, IdpUserRecord},
};

use super::{
    Idps, MAX_IDPS, checks::Issues, keys::NewKeyPair, secret_context,
    settings::DEFAULT_REUSE_GRACE, settings::DEFAULT_TOKEN_TTL,
};
use crate::{
    AuditAction, Error, IdpChange, NewIdp, Result,
    audit::Target,
    secrets::{BASE62, random_text},
};

/// 256 bits.
const SECRET_LETTERS: usize = 43;

impl Idps {
    /// Makes a provider with a key of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for settings that are out of bounds, for a slug that is taken, and for more than
    /// 1,000 providers of a team; [`Error::Unavailable`] while too many wait for keys;
    /// [`Error::StorageFull`] when there is no room; and when the store does not answer.
    pub async fn create(&self, by: &Principal, new: NewIdp) -> Result<Idp> {
        new.check()?;
        self.room.check().await?;
        if self.counts.is_full(by.team, IdpRecord::of_team(by.team, MAX_IDPS)).await? {
            let message = format!("a team has at most {MAX_IDPS} identity providers");
            return Err(Error::invalid("", "too_many", message));
        }
        let id = IdpId(self.ids.next());
        let pair = self.rsa.take().await?;
        let slug = self.claim_slug(by.team, id, new.slug.clone()).await?;
        let key = pair.of_idp(&self.secrets, id, &slug, self.clock.now())?;
        let idp = self.new_record(by, id, new, slug, key)?;
        let (action, target) = (AuditAction::IdpCreated, Target::idp(&idp));
        self.audit.put(by, action, target, &idp, When::Absent).await?;
        self.present(&idp, by)
    }

    fn new_record(
        &self,
        by: &Principal,
        id: IdpId,
        new: NewIdp,
        slug: String,
        key: IdpKeyPair,
    ) -> Result<IdpRecord> {
        let now = self.clock.now();
        let secret = new.client_secret.unwrap_or_else(new_secret);
        Ok(IdpRecord {
            id,
            team: by.team,
            name: new.name,
            slug,
            redirect_uris: new.redirect_uris,
            post_logout_redirect_uris: Vec::new(),
            token_ttl: DEFAULT_TOKEN_TTL,
            auto_login_user: None,
            require_team_session: false,
            saml_acs_url: None,
            saml_sp_entity_id: None,
            saml_name_id_format: NameIdFormat::EmailAddress,
            saml_slo_url: None,
            saml_sign: SamlSign::Both,
            client_id: new.client_id.unwrap_or_else(|| id.to_string()),
            client_secret: self.secrets.seal(&secret_context(id), &secret)?,
            client_type: IdpClientType::Any,
            signing_alg: SigningAlg::RS256,
            keys: vec![key],
            refresh_tokens: RefreshTokenPolicy::OfflineAccess,
            refresh_reuse_grace: DEFAULT_REUSE_GRACE,
            auto_login_on_prompt: false,
            epoch: 0,
            created_at: now,
            updated_at: now,
        })
    }

    /// Changes a provider; it counts from the next request on.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider, [`Error::Invalid`] for settings that are
    /// out of bounds and for a user who is not the provider's, [`Error::Conflict`] when others changed it
    /// at the same moment again and again, and when the store does not answer.
    pub async fn update(&self, by: &Principal, id: IdpId, change: IdpChange) -> Result<Idp> {
        let known = self.load_record(by.team, id).await?;
        let mut issues = change.check();
        if let Some(Some(user)) = change.auto_login_user {
            self.check_user(id, user, "autoLoginUserId", &mut issues).await?;
        }
        issues.done()?;
        let is_signing =
            |key: &IdpKeyPair| key.alg == SigningAlg::ES256 && key.retires_at.is_none();
        let needs_key =
            change.signing_alg == Some(SigningAlg::ES256) && !known.keys.iter().any(is_signing);
        let key = if needs_key {
            let pair = NewKeyPair::p256()?;
            Some(pair.of_idp(&self.secrets, id, &known.slug, self.clock.now())?)
        } else {
            None
        };
        let edited = self.edit(by, id, AuditAction::IdpUpdated, |idp| {
            change.apply(idp);
            if let Some(key) = key.clone().filter(|_| !idp.keys.iter().any(is_signing)) {
                idp.keys.insert(0, key);
            }
        });
        self.present(&edited.await?, by)
    }

    /// Notes a user who is not the provider's.
    pub(super) async fn check_user(
        &self,
        idp: IdpId,
        user: IdpUserId,
        path: &str,
        issues: &mut Issues,
    ) -> Result<()> {
        if self.store.get(&IdpUserRecord::row(idp, user)).await?.is_none() {
            issues.add(path, "unknown", "must be a test user of this identity provider");
        }
        Ok(())
    }

    /// Removes a provider with its users and its log. From then on it is not there, and its slug stays
    /// taken for 30 days.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider, [`Error::Conflict`] when somebody changed it
    /// at the same moment, and when the store does not answer.
    pub async fn delete(&self, by: &Principal, id: IdpId) -> Result<()> {
        let (idp, version) = self.versioned(by.team, id).await?;
        // First the job, so that a crash in between leaves nothing: it waits until the provider is gone.
        self.schedule_removal(&idp).await?;
        let delete = Op::Delete { key: idp.key(), when: When::Version(version) };
        let entry = self.audit.entry(by, AuditAction::IdpDeleted, Target::idp(&idp)).await;
        Ok(self.audit.write(&entry, vec![delete]).await?)
    }
}

pub(super) fn new_secret() -> String {
    random_text(SECRET_LETTERS, BASE62)
}
