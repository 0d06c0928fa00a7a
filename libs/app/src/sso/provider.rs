//! What speaks to identity providers, as the use cases see it.

use async_trait::async_trait;

use crate::ProviderFailure;

/// This service as a client of a provider.
#[derive(Debug, Clone)]
pub struct ProviderClient {
    /// The provider's issuer identifier, which is a team's input.
    pub issuer: String,
    /// What the provider calls this service.
    pub client_id: String,
    /// What this service shows to the provider.
    pub client_secret: String,
    /// Where the provider sends people back to.
    pub redirect_uri: String,
}

/// A sign-in that begins: where the browser goes, and what is to be remembered until it comes back.
#[derive(Debug, Clone)]
pub struct Authorization {
    /// The provider's page.
    pub url: String,
    /// What the provider sends back with the browser (RFC 6749, section 10.12).
    pub state: String,
    /// What the ID token must hold (`OpenID` Connect Core, section 3.1.2.1).
    pub nonce: String,
    /// What shows that the code is ours (RFC 7636).
    pub verifier: String,
}

/// What the browser brought back, with what was remembered.
#[derive(Debug, Clone)]
pub struct ProviderAnswer {
    /// The authorization code.
    pub code: String,
    /// See [`Authorization::nonce`].
    pub nonce: String,
    /// See [`Authorization::verifier`].
    pub verifier: String,
}

/// An account at a provider, as its ID token and its user info show it.
#[derive(Debug, Clone)]
pub struct ExternalAccount {
    /// The account's name at this issuer, which never becomes another's.
    pub subject: String,
    /// The mail address.
    pub email: Option<String>,
    /// Whether the provider knows that the address is theirs.
    pub is_email_verified: bool,
    /// What people call them; empty where the provider does not say.
    pub name: String,
}

/// Speaks `OpenID` Connect to providers, whose addresses customers give.
#[async_trait]
pub trait IdentityProvider: Send + Sync {
    /// Checks an issuer as far as can be told without asking anybody.
    ///
    /// # Errors
    ///
    /// Why it can never be asked, in words.
    fn check(&self, issuer: &str) -> Result<(), String>;

    /// Asks an issuer what it is (`OpenID` Connect Discovery, section 4), whatever was known of it before.
    ///
    /// # Errors
    ///
    /// When it does not answer, or is no provider of this kind.
    async fn discover(&self, issuer: &str) -> Result<(), ProviderFailure>;

    /// Begins a sign-in; `login_hint` is the address that somebody gave.
    ///
    /// # Errors
    ///
    /// When the provider does not answer.
    async fn authorize(
        &self,
        client: &ProviderClient,
        login_hint: &str,
    ) -> Result<Authorization, ProviderFailure>;

    /// Changes the code for an ID token and checks it: signature, issuer, audience, expiry and nonce.
    ///
    /// # Errors
    ///
    /// When the provider does not answer or refuses the code, or the token does not hold.
    async fn account(
        &self,
        client: &ProviderClient,
        answer: &ProviderAnswer,
    ) -> Result<ExternalAccount, ProviderFailure>;
}
