//! The port to identity providers.

use async_trait::async_trait;

use crate::ProviderFailure;

/// This service as a client of a provider.
#[derive(Debug, Clone)]
pub struct ProviderClient {
    /// The provider's issuer identifier, which is a team's input.
    pub issuer: String,
    /// The id of this service as the provider's client.
    pub client_id: String,
    /// The client's secret.
    pub client_secret: String,
    /// The redirection URI.
    pub redirect_uri: String,
}

/// An authorization request: where the browser goes, and what is to be remembered until it comes back.
#[derive(Debug, Clone)]
pub struct Authorization {
    /// The URL of the request, at the provider.
    pub url: String,
    /// The `state`, which the provider sends back with the browser (RFC 6749, section 10.12).
    pub state: String,
    /// The `nonce`, which the ID token must hold (`OpenID` Connect Core, section 3.1.2.1).
    pub nonce: String,
    /// The code verifier (RFC 7636).
    pub verifier: String,
}

/// The authorization response that the browser brought, with what was remembered.
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
    /// The subject identifier, which the issuer never gives to another account.
    pub subject: String,
    /// The mail address.
    pub email: Option<String>,
    /// Whether the provider verified the address.
    pub is_email_verified: bool,
    /// The full name; empty where the provider has none.
    pub name: String,
}

/// Speaks `OpenID` Connect to providers, whose addresses customers give.
#[async_trait]
pub trait IdentityProvider: Send + Sync {
    /// Checks an issuer as far as that takes no request.
    ///
    /// # Errors
    ///
    /// Why it can never be asked, in words.
    fn check(&self, issuer: &str) -> Result<(), String>;

    /// Reads an issuer's configuration (`OpenID` Connect Discovery, section 4) past any cache.
    ///
    /// # Errors
    ///
    /// When it does not answer, or is no provider of this kind.
    async fn discover(&self, issuer: &str) -> Result<(), ProviderFailure>;

    /// Makes an authorization request; `login_hint` is the mail address of the sign-in.
    ///
    /// # Errors
    ///
    /// When the provider does not answer.
    async fn authorize(
        &self,
        client: &ProviderClient,
        login_hint: &str,
    ) -> Result<Authorization, ProviderFailure>;

    /// Exchanges the code for an ID token and checks it: signature, issuer, audience, expiry and nonce.
    ///
    /// # Errors
    ///
    /// When the provider does not answer or refuses the code, or the token is not valid.
    async fn account(
        &self,
        client: &ProviderClient,
        answer: &ProviderAnswer,
    ) -> Result<ExternalAccount, ProviderFailure>;
}
