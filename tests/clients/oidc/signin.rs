//! Signs people in with openidconnect.

use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet,
    EndpointSet, HttpRequest, HttpResponse, IssuerUrl, LogoutRequest, Nonce,
    OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, PostLogoutRedirectUrl,
    ProviderMetadataWithLogout, RedirectUrl, RefreshToken, Scope, TokenResponse as _,
    core::{CoreAuthenticationFlow, CoreClient, CoreIdToken, CoreUserInfoClaims},
};
use std::{collections::HashMap, error::Error, time::Duration};

/// What the application finds wrong; the library has errors of its own.
#[derive(Debug)]
pub struct Refused(pub &'static str);

impl std::fmt::Display for Refused {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.0)
    }
}

impl Error for Refused {}

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The settings of the application, whose own address is `home`.
pub struct App {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: String,
    pub home: String,
}

/// What a session of a browser keeps until somebody is signed in.
pub struct Begun {
    state: CsrfToken,
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

/// What it keeps then.
pub struct SignedIn {
    pub user: CoreUserInfoClaims,
    id_token: CoreIdToken,
    refresh_token: Option<RefreshToken>,
}

impl App {
    /// The keys come with the metadata, so these are fetched anew: an older copy lacks a new key.
    async fn discover(&self) -> Result<(Client, ProviderMetadataWithLogout)> {
        let issuer = IssuerUrl::new(self.issuer.clone())?;
        let metadata = ProviderMetadataWithLogout::discover_async(issuer, &http).await?;
        let id = ClientId::new(self.client_id.clone());
        let secret = ClientSecret::new(self.client_secret.clone());
        let back = RedirectUrl::new(format!("{}/callback", self.home))?;
        let client = CoreClient::from_provider_metadata(metadata.clone(), id, Some(secret));
        Ok((client.set_redirect_uri(back), metadata))
    }

    /// Where the browser is sent to.
    pub async fn begin(&self) -> Result<(String, Begun)> {
        let (client, _) = self.discover().await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let scopes = ["profile", "email", "offline_access"].map(|name| Scope::new(name.to_owned()));
        let (url, state, nonce) = request.add_scopes(scopes).set_pkce_challenge(challenge).url();
        Ok((url.into(), Begun { state, nonce, verifier }))
    }

    /// `query` is what the browser comes back with. The library leaves its `state` and `iss` (RFC 9207) to
    /// the application.
    pub async fn finish(&self, begun: Begun, query: &HashMap<String, String>) -> Result<SignedIn> {
        if query.get("state") != Some(begun.state.secret()) {
            return Err(Refused("state is another one").into());
        }
        if query.get("iss") != Some(&self.issuer) {
            return Err(Refused("the answer is of another issuer").into());
        }
        let code = query.get("code").ok_or(Refused("there is no code"))?;
        let (client, _) = self.discover().await?;
        let exchange = client.exchange_code(AuthorizationCode::new(code.clone()))?;
        let tokens = exchange.set_pkce_verifier(begun.verifier).request_async(&http).await?;
        let id_token = tokens.id_token().ok_or(Refused("there is no ID token"))?;
        let (client, _) = self.discover().await?;
        let claims = id_token.claims(&client.id_token_verifier(), &begun.nonce)?;
        let subject = Some(claims.subject().clone());
        let request = client.user_info(tokens.access_token().clone(), subject)?;
        let user: CoreUserInfoClaims = request.request_async(&http).await?;
        user.email().ok_or(Refused("there is no mail address"))?;
        let refresh_token = tokens.refresh_token().cloned();
        Ok(SignedIn { user, id_token: id_token.clone(), refresh_token })
    }

    pub async fn refresh(&self, signed_in: &mut SignedIn) -> Result<()> {
        let (client, _) = self.discover().await?;
        let token = signed_in.refresh_token.as_ref().ok_or(Refused("there is no refresh token"))?;
        let tokens = client.exchange_refresh_token(token)?.request_async(&http).await?;
        signed_in.refresh_token = tokens.refresh_token().cloned();
        Ok(())
    }

    /// Where the browser is sent to, so that the session at the provider ends.
    pub async fn sign_out(&self, signed_in: &SignedIn) -> Result<String> {
        let (_, metadata) = self.discover().await?;
        let at = metadata.additional_metadata().end_session_endpoint.clone();
        let request = LogoutRequest::from(at.ok_or(Refused("there is no sign-out"))?);
        let home = PostLogoutRedirectUrl::new(format!("{}/", self.home))?;
        let request = request.set_id_token_hint(&signed_in.id_token);
        Ok(request.set_post_logout_redirect_uri(home).http_get_url().into())
    }
}

/// The library has no HTTP client of its own. This one follows no redirect, and waits for 10 seconds.
pub async fn http(request: HttpRequest) -> std::result::Result<HttpResponse, reqwest::Error> {
    let (head, body) = request.into_parts();
    let redirects = reqwest::redirect::Policy::none();
    let client = reqwest::Client::builder().redirect(redirects).timeout(Duration::from_secs(10));
    let request = client.build()?.request(head.method, head.uri.to_string()).headers(head.headers);
    let answer = request.body(body).send().await?;
    let mut made = HttpResponse::default();
    *made.status_mut() = answer.status();
    *made.headers_mut() = answer.headers().clone();
    *made.body_mut() = answer.bytes().await?.to_vec();
    Ok(made)
}
