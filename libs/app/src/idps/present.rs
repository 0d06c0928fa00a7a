//! A provider as the API shows it.

use trapline_model::{Idp, IdpEndpoints, IdpKey, Principal, Time};
use trapline_store::records::{IdpKeyPair, IdpRecord};

use super::{Idps, secret_context};
use crate::{Error, Result};

impl Idps {
    pub(super) fn present(&self, idp: &IdpRecord, by: &Principal) -> Result<Idp> {
        let open = || self.secrets.open(&secret_context(idp.id), &idp.client_secret);
        let client_secret = by.may_write().then(open).transpose()?;
        let now = self.clock.now();
        let signing = signing_key(idp).ok_or(Error::NotFound)?;
        let others = published(idp, now).filter(|key| key.kid != signing.kid);
        let issuer = self.issuer(&idp.slug);
        Ok(Idp {
            id: idp.id,
            name: idp.name.clone(),
            slug: idp.slug.clone(),
            redirect_uris: idp.redirect_uris.clone(),
            post_logout_redirect_uris: idp.post_logout_redirect_uris.clone(),
            token_ttl: idp.token_ttl,
            auto_login_user_id: idp.auto_login_user,
            require_team_session: idp.require_team_session,
            saml_acs_url: idp.saml_acs_url.clone(),
            saml_sp_entity_id: idp.saml_sp_entity_id.clone(),
            saml_name_id_format: idp.saml_name_id_format,
            saml_slo_url: idp.saml_slo_url.clone(),
            saml_sign: idp.saml_sign,
            client_id: idp.client_id.clone(),
            client_secret,
            client_type: idp.client_type,
            signing_alg: idp.signing_alg,
            signing_key: present_key(signing),
            previous_keys: others.map(present_key).collect(),
            refresh_tokens: idp.refresh_tokens,
            refresh_reuse_grace: idp.refresh_reuse_grace,
            auto_login_on_prompt: idp.auto_login_on_prompt,
            discovery_url: format!("{issuer}/.well-known/openid-configuration"),
            saml_metadata_url: format!("{issuer}/saml/metadata"),
            endpoints: endpoints(&issuer),
            issuer,
            created_at: idp.created_at,
            updated_at: idp.updated_at,
        })
    }

    /// The issuer of a provider: by the configured address, whatever host a request names.
    pub(super) fn issuer(&self, slug: &str) -> String {
        format!("{}/idp/{slug}", self.settings.base_url)
    }
}

/// The key that signs tokens now.
pub(super) fn signing_key(idp: &IdpRecord) -> Option<&IdpKeyPair> {
    idp.keys.iter().find(|key| key.alg == idp.signing_alg && key.retires_at.is_none())
}

/// The keys that everybody may know now, newest first.
pub(super) fn published(idp: &IdpRecord, now: Time) -> impl Iterator<Item = &IdpKeyPair> {
    idp.keys.iter().filter(move |key| key.retires_at.is_none_or(|at| at > now))
}

fn present_key(key: &IdpKeyPair) -> IdpKey {
    IdpKey {
        kid: key.kid.clone(),
        alg: key.alg,
        created_at: key.created_at,
        certificate: key.certificate.clone(),
    }
}

fn endpoints(issuer: &str) -> IdpEndpoints {
    let at = |name| format!("{issuer}/{name}");
    IdpEndpoints {
        authorization: at("authorize"),
        token: at("token"),
        user_info: at("userinfo"),
        jwks: at("jwks"),
        introspection: at("introspect"),
        revocation: at("revoke"),
        end_session: at("end_session"),
        saml_sso: at("saml/sso"),
        saml_slo: at("saml/slo"),
        saml_certificate: at("saml/certificate"),
    }
}
