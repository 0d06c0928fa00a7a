//! Sign-ins by a client library that knows nothing of this service, with all of its checks on.

use openidconnect::{
    AccessTokenHash, AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce,
    OAuth2TokenResponse as _, PkceCodeChallenge, RedirectUrl, Scope, TokenResponse as _,
    core::{CoreAuthenticationFlow, CoreClient, CoreProviderMetadata, CoreUserInfoClaims},
};
use serde_json::json;
use trapline_tests::shared;

use super::{
    rp::{CALLBACK, Rp, told},
    stacks::rust::http,
};

#[tokio::test]
async fn the_rust_client_signs_in_with_each_algorithm() {
    let rp = Rp::new(&shared()).await;
    for alg in ["RS256", "ES256"] {
        rp.set(json!({ "signingAlg": alg })).await;
        sign_in(&rp).await;
    }
}

async fn sign_in(rp: &Rp) {
    let issuer = IssuerUrl::new(rp.idp["issuer"].as_str().unwrap().to_owned()).unwrap();
    let metadata = CoreProviderMetadata::discover_async(issuer, &http).await.unwrap();
    let (id, secret) = rp.secret();
    let (id, secret) = (ClientId::new(id.to_owned()), ClientSecret::new(secret.to_owned()));
    let client = CoreClient::from_provider_metadata(metadata, id, Some(secret))
        .set_redirect_uri(RedirectUrl::new(CALLBACK.to_owned()).unwrap());
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let request = client.authorize_url(
        CoreAuthenticationFlow::AuthorizationCode,
        CsrfToken::new_random,
        Nonce::new_random,
    );
    let scopes = ["profile", "email", "offline_access"].map(|name| Scope::new(name.to_owned()));
    let (url, state, nonce) = request.add_scopes(scopes).set_pkce_challenge(challenge).url();
    let told = told(&rp.rest().get(url.as_str()).await.expect(303));
    assert_eq!(&told["state"], state.secret());

    let code = AuthorizationCode::new(told["code"].clone());
    let exchange = client.exchange_code(code).unwrap().set_pkce_verifier(verifier);
    let tokens = exchange.request_async(&http).await.unwrap();
    let id_token = tokens.id_token().unwrap();
    let verifier = client.id_token_verifier();
    let claims = id_token.claims(&verifier, &nonce).unwrap();
    assert_eq!(claims.email().unwrap().as_str(), "ada@example.com");
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id_token.signing_alg().unwrap(),
        id_token.signing_key(&verifier).unwrap(),
    );
    assert_eq!(claims.access_token_hash(), Some(&hash.unwrap()));

    let subject = Some(claims.subject().clone());
    let info = client.user_info(tokens.access_token().clone(), subject).unwrap();
    let info: CoreUserInfoClaims = info.request_async(&http).await.unwrap();
    assert_eq!(info.preferred_username().unwrap().as_str(), "ada@example.com");
    let refresh = client.exchange_refresh_token(tokens.refresh_token().unwrap()).unwrap();
    let refreshed = refresh.request_async(&http).await.unwrap();
    assert_ne!(refreshed.access_token().secret(), tokens.access_token().secret());
}
