//! What a provider is to be, as requests say it.

use serde::Deserialize;
use trapline_app::{IdpChange, IdpRotation, NewIdp};
use trapline_model::{IdpClientType, IdpUserId, RefreshTokenPolicy, SamlSign, SigningAlg};

use crate::extract::given;

/// What a new identity provider is to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = IdpInput)]
pub(crate) struct NewIdpInput {
    /// Its name.
    #[schema(min_length = 1, max_length = 200, example = "Staging")]
    name: String,
    /// Where browsers may be sent after a sign-in, byte for byte; each of at most 2,048 bytes.
    #[schema(nullable = false, max_items = 50)]
    redirect_uris: Option<Vec<String>>,
    /// The last part of its issuer, 14 random hexadecimal digits when left out; a chosen one is public.
    #[schema(
        nullable = false,
        min_length = 3,
        max_length = 63,
        pattern = "^[a-z0-9]([a-z0-9-]*[a-z0-9])$"
    )]
    slug: Option<String>,
    /// The id of its one client; the provider's own when left out.
    #[schema(nullable = false, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._~-]+$")]
    client_id: Option<String>,
    /// The client's secret; 43 random letters and digits when left out.
    #[schema(nullable = false, min_length = 16, max_length = 128, pattern = "^[A-Za-z0-9._~-]+$")]
    client_secret: Option<String>,
}

impl From<NewIdpInput> for NewIdp {
    fn from(input: NewIdpInput) -> Self {
        Self {
            name: input.name,
            redirect_uris: input.redirect_uris.unwrap_or_default(),
            slug: input.slug,
            client_id: input.client_id,
            client_secret: input.client_secret,
        }
    }
}

/// What is to change; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = IdpChange)]
#[expect(clippy::option_option, reason = "null is not the same as left out")]
pub(crate) struct IdpChangeInput {
    /// Its name.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    name: Option<String>,
    /// Where browsers may be sent after a sign-in, byte for byte; each of at most 2,048 bytes.
    #[schema(nullable = false, max_items = 50)]
    redirect_uris: Option<Vec<String>>,
    /// Where browsers may be sent after a sign-out; each of at most 2,048 bytes.
    #[schema(nullable = false, max_items = 50)]
    post_logout_redirect_uris: Option<Vec<String>>,
    /// Seconds that access and ID tokens are good for.
    #[schema(nullable = false, minimum = 1, maximum = 86_400)]
    token_ttl: Option<u32>,
    /// The test user who is signed in without being asked; null asks.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<IdpUserId>)]
    auto_login_user_id: Option<Option<IdpUserId>>,
    /// Whether only people of the team may sign in.
    #[schema(nullable = false)]
    require_team_session: Option<bool>,
    /// Where SAML answers are sent; null is where the request says.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 2048)]
    saml_acs_url: Option<Option<String>>,
    /// The SAML service provider's entity id; null is any.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    saml_sp_entity_id: Option<Option<String>>,
    /// How SAML names somebody: `emailAddress`, `persistent`, `transient`, `unspecified`, or the URN of one;
    /// null is `emailAddress`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 100)]
    saml_name_id_format: Option<Option<String>>,
    /// Where SAML logouts are sent; null is nowhere.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 2048)]
    saml_slo_url: Option<Option<String>>,
    /// What of a SAML answer is signed.
    #[schema(nullable = false)]
    saml_sign: Option<SamlSign>,
    /// How the client proves that it is the client.
    #[schema(nullable = false)]
    client_type: Option<IdpClientType>,
    /// What tokens are signed with.
    #[schema(nullable = false)]
    signing_alg: Option<SigningAlg>,
    /// When a sign-in gives a refresh token.
    #[schema(nullable = false)]
    refresh_tokens: Option<RefreshTokenPolicy>,
    /// Seconds in which a refresh token that was used gives the same successor again; 0 is never.
    #[schema(nullable = false, minimum = 0, maximum = 60)]
    refresh_reuse_grace: Option<u32>,
    /// Whether the auto-login user is signed in even where the request asks for a prompt.
    #[schema(nullable = false)]
    auto_login_on_prompt: Option<bool>,
}

impl From<IdpChangeInput> for IdpChange {
    fn from(input: IdpChangeInput) -> Self {
        Self {
            name: input.name,
            redirect_uris: input.redirect_uris,
            post_logout_redirect_uris: input.post_logout_redirect_uris,
            token_ttl: input.token_ttl,
            auto_login_user: input.auto_login_user_id,
            require_team_session: input.require_team_session,
            saml_acs_url: input.saml_acs_url,
            saml_sp_entity_id: input.saml_sp_entity_id,
            saml_name_id_format: input.saml_name_id_format,
            saml_slo_url: input.saml_slo_url,
            saml_sign: input.saml_sign,
            client_type: input.client_type,
            signing_alg: input.signing_alg,
            refresh_tokens: input.refresh_tokens,
            refresh_reuse_grace: input.refresh_reuse_grace,
            auto_login_on_prompt: input.auto_login_on_prompt,
        }
    }
}

/// What is rotated.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rotated {
    /// The client's secret.
    Secret,
    /// The signing keys.
    Keys,
}

impl From<Rotated> for IdpRotation {
    fn from(what: Rotated) -> Self {
        match what {
            Rotated::Secret => Self::Secret,
            Rotated::Keys => Self::Keys,
        }
    }
}

/// What to rotate.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = IdpRotation)]
pub(crate) struct IdpRotateInput {
    /// What is rotated.
    pub(super) what: Rotated,
}
