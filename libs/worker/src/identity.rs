//! Speaks `OpenID` Connect to identity providers of teams, over the guarded HTTP client.
//!
//! What a provider says of itself is a team's input like its address: each address in it is checked and
//! asked as the issuer's own is.

mod claims;
mod discovery;
mod failure;

use std::{pin::Pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use moka::sync::Cache;
use openidconnect::{
    AsyncHttpClient, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken,
    HttpRequest, HttpResponse, IdTokenVerifier, LoginHint, Nonce, OAuth2TokenResponse as _,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, SignatureVerificationError,
    TokenResponse as _,
    core::{CoreAuthenticationFlow, CoreJsonWebKey, CoreJwsSigningAlgorithm},
};
use tokio::time::Instant;
use trapline_app::{
    Authorization, ExternalAccount, IdentityProvider, ProviderAnswer, ProviderClient,
    ProviderFailure,
};

use crate::outbound::{Client, Guard, OutboundFailure, Url};
use claims::{OidcClient, UserInfoAnswer, account_of, completed};
use discovery::Issuer;
use failure::{of_info_error, of_token_error};

/// How long a conversation with a provider may take, with all its requests.
pub const IDENTITY_DEADLINE: Duration = Duration::from_secs(10);
/// How long what a provider says of itself is used.
const KNOWN_FOR: Duration = Duration::from_mins(10);
/// Providers that are known at the same time: each may take the memory of two answers of 64 KiB, read.
const MAX_KNOWN: u64 = 128;
/// How often a provider is asked for keys at most when one is unknown.
const KEYS_AGAIN: Duration = Duration::from_mins(1);
/// Signatures by a key that only the provider has.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// Identity providers by `OpenID` Connect.
pub struct OidcProvider {
    guard: Guard,
    client: Client,
    deadline: Duration,
    known: Cache<String, Arc<Issuer>>,
}

impl OidcProvider {
    /// Whatever `guard` refuses is refused when an issuer is set, too; it is the client's own. The deadline
    /// is [`IDENTITY_DEADLINE`] but in tests.
    #[must_use]
    pub fn new(guard: Guard, client: Client, deadline: Duration) -> Self {
        let known = Cache::builder().max_capacity(MAX_KNOWN).time_to_live(KNOWN_FOR).build();
        Self { guard, client, deadline, known }
    }

    async fn ask(
        &self,
        request: HttpRequest,
        until: Instant,
    ) -> Result<HttpResponse, OutboundFailure> {
        let url = Url::parse(&request.uri().to_string());
        if !url.is_ok_and(|url| is_private_enough(&url)) {
            return Err(OutboundFailure::AddressNotAllowed);
        }
        self.client.fetch(request.map(Bytes::from), until).await
    }

    /// This service as a client of an issuer.
    fn client_of(issuer: &Issuer, client: &ProviderClient) -> Result<OidcClient, ProviderFailure> {
        let redirect = RedirectUrl::new(client.redirect_uri.clone());
        let secret = ClientSecret::new(client.client_secret.clone());
        let id = ClientId::new(client.client_id.clone());
        let of = OidcClient::from_provider_metadata(issuer.metadata.clone(), id, Some(secret));
        Ok(of.set_redirect_uri(redirect.map_err(|_| ProviderFailure::NotAProvider)?))
    }
}

#[async_trait]
impl IdentityProvider for OidcProvider {
    fn check(&self, issuer: &str) -> Result<(), String> {
        let url = Url::parse(issuer).map_err(|_| "must be a URL".to_owned())?;
        if url.query().is_some() {
            return Err("must have no query".to_owned());
        }
        self.guard.check(&url).map_err(|refusal| refusal.to_string())?;
        if is_private_enough(&url) { Ok(()) } else { Err("must be https".to_owned()) }
    }

    async fn discover(&self, issuer: &str) -> Result<(), ProviderFailure> {
        self.issuer_anew(issuer, Instant::now() + self.deadline).await.map(drop)
    }

    async fn authorize(
        &self,
        client: &ProviderClient,
        login_hint: &str,
    ) -> Result<Authorization, ProviderFailure> {
        let issuer = self.issuer(&client.issuer, Instant::now() + self.deadline).await?;
        let oidc = Self::client_of(&issuer, client)?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let (url, state, nonce) = oidc
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                CsrfToken::new_random,
                Nonce::new_random,
            )
            .add_scopes(["email", "profile"].map(|scope| Scope::new(scope.to_owned())))
            .set_login_hint(LoginHint::new(login_hint.to_owned()))
            .set_pkce_challenge(challenge)
            .url();
        // A browser goes there: it must be a page, and nothing that a page could be made to run.
        if !is_private_enough(&url) {
            return Err(ProviderFailure::NotAProvider);
        }
        Ok(Authorization {
            url: url.into(),
            state: state.secret().clone(),
            nonce: nonce.secret().clone(),
            verifier: verifier.secret().clone(),
        })
    }

    async fn account(
        &self,
        client: &ProviderClient,
        answer: &ProviderAnswer,
    ) -> Result<ExternalAccount, ProviderFailure> {
        let until = Instant::now() + self.deadline;
        let issuer = self.issuer(&client.issuer, until).await?;
        let oidc = Self::client_of(&issuer, client)?;
        let http = Http { provider: self, until };
        let code = AuthorizationCode::new(answer.code.clone());
        let tokens = oidc
            .exchange_code(code)
            .map_err(|_| ProviderFailure::NotAProvider)?
            .set_pkce_verifier(PkceCodeVerifier::new(answer.verifier.clone()))
            .request_async(&http)
            .await
            .map_err(|error| of_token_error(&error))?;
        let id_token = tokens.id_token().ok_or(ProviderFailure::BadToken("missing"))?;
        let nonce = Nonce::new(answer.nonce.clone());
        let held = id_token.claims(&verifier_of(&oidc), &nonce).cloned();
        let held = match held {
            Err(error) if is_unknown_key(&error) && issuer.read_at.elapsed() >= KEYS_AGAIN => {
                // The provider has changed its keys.
                let anew = self.issuer_anew(&client.issuer, until).await?;
                let oidc = Self::client_of(&anew, client)?;
                id_token.claims(&verifier_of(&oidc), &nonce).cloned()
            }
            held => held,
        };
        let claims = held.map_err(|error| ProviderFailure::BadToken(why(&error)))?;
        let account = account_of(&client.issuer, &claims);
        if account.email.is_some() {
            return Ok(account);
        }
        // Many providers tell of mail addresses here only.
        let access = tokens.access_token().clone();
        let Ok(request) = oidc.user_info(access, Some(claims.subject().clone())) else {
            return Ok(account);
        };
        let info: UserInfoAnswer =
            request.request_async(&http).await.map_err(|error| of_info_error(&error))?;
        Ok(completed(account, &info))
    }
}

/// The guarded client, as the library asks for one.
struct Http<'a> {
    provider: &'a OidcProvider,
    until: Instant,
}

impl<'c> AsyncHttpClient<'c> for Http<'_> {
    type Error = OutboundFailure;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, OutboundFailure>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.provider.ask(request, self.until))
    }
}

/// Whether secrets may go there: over TLS, or without it to what is near by.
fn is_private_enough(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && Guard::is_near(url))
}

/// Checks tokens whatever algorithms the provider says it uses.
fn verifier_of(client: &OidcClient) -> IdTokenVerifier<'_, CoreJsonWebKey> {
    client.id_token_verifier().set_allowed_algs(ALGORITHMS)
}

fn is_unknown_key(error: &ClaimsVerificationError) -> bool {
    use SignatureVerificationError::NoMatchingKey;
    matches!(error, ClaimsVerificationError::SignatureVerification(NoMatchingKey))
}

fn why(error: &ClaimsVerificationError) -> &'static str {
    match error {
        ClaimsVerificationError::Expired(_) => "expired",
        ClaimsVerificationError::InvalidAudience(_) => "audience",
        ClaimsVerificationError::InvalidIssuer(_) => "issuer",
        ClaimsVerificationError::InvalidNonce(_) => "nonce",
        ClaimsVerificationError::SignatureVerification(_) => "signature",
        _ => "malformed",
    }
}
