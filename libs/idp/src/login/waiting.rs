//! A request that waits for somebody to choose, in either protocol.

use axum::response::Response;
use trapline_app::{IdpHandle, escape_html};

use crate::{
    authorize::{self, Asked, Decision},
    failure::EndpointFailure,
    params::RequestParams,
    request::Wanted,
    saml::{self, Binding, SamlAsked},
    state::IdpState,
};

/// What waits.
pub(super) enum WaitingLogin {
    Oidc(Box<Asked>),
    Saml(Box<SamlAsked>),
}

impl WaitingLogin {
    /// Checks a request anew as it was kept.
    pub(super) async fn read(
        idp: &IdpState,
        provider: IdpHandle,
        kept: &str,
    ) -> Result<Self, Box<Response>> {
        let (first, rest) = kept.split_once('\n').unwrap_or_default();
        let read = |text: &str| RequestParams::of(text.as_bytes());
        let Some(binding) = first.strip_prefix("saml-").and_then(Binding::named) else {
            let asked = authorize::read(idp, provider, read(rest), first.to_owned()).await?;
            return Ok(Self::Oidc(Box::new(asked)));
        };
        let (flow, request) = rest.split_once('\n').unwrap_or_default();
        let request = (read(request), flow.to_owned());
        let asked = saml::read(idp, provider, binding, request).await?;
        Ok(Self::Saml(Box::new(asked)))
    }

    pub(super) fn provider(&self) -> &IdpHandle {
        match self {
            Self::Oidc(asked) => &asked.provider,
            Self::Saml(asked) => &asked.provider,
        }
    }

    pub(super) fn flow(&self) -> &str {
        match self {
            Self::Oidc(asked) => &asked.flow,
            Self::Saml(asked) => &asked.flow,
        }
    }

    pub(super) fn wanted(&self) -> Wanted<'_> {
        match self {
            Self::Oidc(asked) => asked.request.wanted(),
            Self::Saml(asked) => asked.wanted(),
        }
    }

    /// To whom somebody signs in, as HTML.
    pub(super) fn head(&self) -> String {
        let asked = match self {
            Self::Oidc(asked) => asked,
            Self::Saml(asked) => return asked.head(),
        };
        let app: Vec<_> = asked.back.redirect_uri.splitn(4, '/').take(3).collect();
        let (name, app) = (escape_html(&asked.provider.settings.name), escape_html(&app.join("/")));
        let scopes = escape_html(&asked.request.scope.join(" "));
        format!("<p>{name} signs you in to {app}. It asks for: {scopes}.</p>")
    }

    /// Answers; `is_clicked` says that somebody pressed a button of a page that says where the answer goes.
    pub(super) async fn finish(
        &self,
        idp: &IdpState,
        decision: Decision,
        is_clicked: bool,
    ) -> Result<Response, EndpointFailure> {
        match self {
            Self::Oidc(asked) => authorize::finish(idp, asked, decision).await,
            Self::Saml(asked) => saml::finish(idp, asked, decision, is_clicked).await,
        }
    }
}
