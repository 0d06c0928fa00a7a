//! Tokens of the client itself (RFC 6749, section 4.4).

use trapline_model::IdpClientType;

use super::{TokenAnswer, TokenRequest, bearer};
use crate::{
    client::Proof,
    failure::{EndpointFailure, OauthRefusal},
    request::{resource, scope},
    state::IdpState,
    tokens,
};

pub(super) async fn tokens(
    idp: &IdpState,
    request: &TokenRequest<'_>,
) -> Result<TokenAnswer, EndpointFailure> {
    let TokenRequest { provider, params, proof } = request;
    if provider.settings.client_type == IdpClientType::Public {
        let hint = "a public client has no client_credentials";
        return Err(OauthRefusal::new("unauthorized_client", hint).into());
    }
    if *proof == Proof::Nothing {
        let hint = "client_credentials takes the client's secret";
        return Err(OauthRefusal::new("invalid_client", hint).into());
    }
    let scope = scope(params)?;
    let of_people = ["openid", "offline_access"];
    if let Some(name) = scope.iter().find(|name| of_people.contains(&name.as_str())) {
        let hint =
            format!("the scope {name} is of people, and with client_credentials nobody signs in");
        return Err(OauthRefusal::new("invalid_scope", hint).into());
    }
    let token = tokens::client_token(idp, provider, &scope, &resource(params)?).await?;
    Ok(bearer(provider, &scope, &token))
}
