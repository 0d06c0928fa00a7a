//! Mock identity providers, and how their slugs lead to them.

use serde::{Deserialize, Serialize};
use trapline_model::{
    IdpClientType, IdpId, IdpUserId, NameIdFormat, RefreshTokenPolicy, SamlSign, SigningAlg,
    TeamId, Time,
};

use super::{of_team, single, team_scan, text, uuid};
use crate::{Key, Record, RowOwner, Scan, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[IDP, IDP_BY_SLUG];

const IDP: &Table = &Table {
    name: "idp",
    partition: &[uuid("team_id")],
    sort: &[uuid("idp_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "A mock identity provider; its client's secret and its private keys are sealed.",
    ..Table::PLAIN
};

const IDP_BY_SLUG: &Table = &Table {
    name: "idp_by_slug",
    partition: &[text("slug")],
    writes: Writes::Guarded,
    about: "Which mock identity provider a slug leads to; of a deleted one it stays for 30 days.",
    ..Table::PLAIN
};

/// A pair of keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpKeyPair {
    /// The thumbprint of the public key (RFC 7638).
    pub kid: String,
    /// What it signs with.
    pub alg: SigningAlg,
    /// The public key in base64: an RSA key as PKCS #1, one of P-256 as its uncompressed point.
    pub public: String,
    /// The private key, PKCS #8 in base64, sealed.
    pub private: String,
    /// The self-signed certificate in PEM, of RSA keys.
    pub certificate: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// When it is published no more; `None` while it signs.
    pub retires_at: Option<Time>,
}

/// A mock identity provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpRecord {
    /// The provider's id.
    pub id: IdpId,
    /// The team it belongs to.
    pub team: TeamId,
    /// The name that people gave it, of at most 200 characters.
    pub name: String,
    /// The last part of its issuer.
    pub slug: String,
    /// Where browsers may be sent after a sign-in.
    pub redirect_uris: Vec<String>,
    /// Where browsers may be sent after a sign-out.
    pub post_logout_redirect_uris: Vec<String>,
    /// Seconds that tokens are good for.
    pub token_ttl: u32,
    /// The user who is signed in without being asked.
    pub auto_login_user: Option<IdpUserId>,
    /// Whether only people of the team may sign in.
    pub require_team_session: bool,
    /// Where SAML answers are sent.
    pub saml_acs_url: Option<String>,
    /// The SAML service provider's entity id.
    pub saml_sp_entity_id: Option<String>,
    /// How SAML names somebody.
    pub saml_name_id_format: NameIdFormat,
    /// Where SAML logouts are sent.
    pub saml_slo_url: Option<String>,
    /// What of a SAML answer is signed.
    pub saml_sign: SamlSign,
    /// The id of its client.
    pub client_id: String,
    /// The client's secret, sealed.
    pub client_secret: String,
    /// How the client proves that it is the client.
    pub client_type: IdpClientType,
    /// What tokens are signed with.
    pub signing_alg: SigningAlg,
    /// Its keys, newest first; one of each algorithm in use signs.
    pub keys: Vec<IdpKeyPair>,
    /// When a sign-in gives a refresh token.
    pub refresh_tokens: RefreshTokenPolicy,
    /// Seconds in which a used refresh token gives the same successor again.
    pub refresh_reuse_grace: u32,
    /// Whether the auto-login user is signed in even where a prompt is asked for.
    pub auto_login_on_prompt: bool,
    /// The part of the log that counts; one more each time it is cleared.
    pub epoch: i64,
    /// The time of creation.
    pub created_at: Time,
    /// The time of the last change of its settings.
    pub updated_at: Time,
}

impl IdpRecord {
    /// The provider's row.
    #[must_use]
    pub fn row(team: TeamId, id: IdpId) -> Key {
        of_team(IDP, team, id.0)
    }

    /// A team's providers, oldest first.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(IDP, team, limit)
    }
}

impl Record for IdpRecord {
    const TABLE: &'static Table = IDP;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// Finds a provider by its slug. It may be there without its provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpSlug {
    /// The slug.
    pub slug: String,
    /// The team of the provider.
    pub team: TeamId,
    /// The provider.
    pub idp: IdpId,
    /// Whether the provider was deleted, and nobody else may have its slug yet.
    pub is_deleted: bool,
    /// When it was claimed.
    pub claimed_at: Time,
}

impl IdpSlug {
    /// The row of a slug.
    #[must_use]
    pub fn row(slug: &str) -> Key {
        single(IDP_BY_SLUG, Value::Text(slug.to_owned()))
    }
}

impl Record for IdpSlug {
    const TABLE: &'static Table = IDP_BY_SLUG;
    fn key(&self) -> Key {
        Self::row(&self.slug)
    }
}
