//! Who is signed in: the first of these that applies.

use axum::http::{Extensions, HeaderMap};
use trapline_app::{IdpHandle, IdpSession, IdpUserRecord, Result};
use trapline_model::{IdpUserId, TeamId};

use crate::{cookie, failure::OauthRefusal, request::Wanted, state::IdpState};

/// What the browser that asks has.
pub(crate) struct Browser {
    /// Who is signed in at the provider.
    session: Option<IdpSession>,
    /// The team for which somebody is signed in at this service, where the provider wants to know.
    team: Option<TeamId>,
}

impl Browser {
    pub(crate) async fn of(
        idp: &IdpState,
        provider: &IdpHandle,
        headers: HeaderMap,
        extensions: Extensions,
    ) -> Self {
        let session = cookie::session(idp, provider, &headers);
        let team = if provider.settings.require_team_session {
            (idp.team_session)(headers, extensions).await
        } else {
            None
        };
        Self { session, team }
    }
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// This user is signed in; the session is a new one where the flag says so.
    SignIn { user: Box<IdpUserRecord>, session: IdpSession, is_new: bool },
    /// Somebody chooses; this user is the first choice.
    Ask(Option<IdpUserId>),
    /// The application is told that it did not work.
    Refuse(OauthRefusal),
    /// Nobody of another team gets in.
    NotOfTeam {
        /// Whether anybody is signed in at all.
        is_signed_in: bool,
    },
}

/// The refusal of a request that nobody may be asked for (`OpenID` Connect Core, section 3.1.2.6).
fn login_required(hint: &str) -> Decision {
    Decision::Refuse(OauthRefusal::new("login_required", hint))
}

pub(crate) async fn decide(
    idp: &IdpState,
    provider: &IdpHandle,
    wanted: Wanted<'_>,
    browser: &Browser,
) -> Result<Decision> {
    let settings = &provider.settings;
    if settings.require_team_session && browser.team != Some(settings.team) {
        if wanted.prompt.is_none {
            return Ok(login_required("nobody of the team is signed in at this service"));
        }
        return Ok(Decision::NotOfTeam { is_signed_in: browser.team.is_some() });
    }
    let hinted = hinted_user(idp, provider, wanted).await?;
    let auto = match settings.auto_login_user {
        Some(user) => idp.idps().test_user(provider, user).await?,
        None => None,
    };
    let skips_prompt = auto.is_some() && settings.auto_login_on_prompt;
    if wanted.prompt.is_asked && !skips_prompt {
        return Ok(Decision::Ask(hinted.map(|user| user.id)));
    }
    let live = live_session(idp, browser, wanted);
    if let Some(user) = hinted {
        return Ok(of_hinted(idp, wanted, (user, auto.is_some()), live));
    }
    if let Some(user) = auto {
        return Ok(new_session(idp, user));
    }
    if let Some(session) = live
        && let Some(user) = idp.idps().test_user(provider, session.user).await?
    {
        let (user, session) = (Box::new(user), session.clone());
        return Ok(Decision::SignIn { user, session, is_new: false });
    }
    if wanted.prompt.is_none {
        return Ok(login_required(
            "nobody is signed in at the provider, and prompt=none asks nobody",
        ));
    }
    Ok(Decision::Ask(None))
}

/// The user whom the request names.
async fn hinted_user(
    idp: &IdpState,
    provider: &IdpHandle,
    wanted: Wanted<'_>,
) -> Result<Option<IdpUserRecord>> {
    let hint = wanted.hinted_subject.or(wanted.login_hint);
    match hint {
        Some(hint) => idp.idps().hinted_user(provider, hint).await,
        None => Ok(None),
    }
}

/// The session, unless the request wants a younger one.
fn live_session<'b>(
    idp: &IdpState,
    browser: &'b Browser,
    wanted: Wanted<'_>,
) -> Option<&'b IdpSession> {
    let age = |session: &&IdpSession| idp.now() - session.auth_time.millis().div_euclid(1_000);
    let is_young = |session: &&IdpSession| wanted.max_age.is_none_or(|most| age(session) <= most);
    browser.session.as_ref().filter(is_young)
}

fn of_hinted(
    idp: &IdpState,
    wanted: Wanted<'_>,
    (user, is_auto): (IdpUserRecord, bool),
    live: Option<&IdpSession>,
) -> Decision {
    if let Some(session) = live.filter(|session| session.user == user.id) {
        let (user, session) = (Box::new(user), session.clone());
        return Decision::SignIn { user, session, is_new: false };
    }
    if is_auto && wanted.login_hint.is_some() {
        return new_session(idp, user);
    }
    if wanted.prompt.is_none {
        return login_required("the user whom the request names is not signed in at the provider");
    }
    Decision::Ask(Some(user.id))
}

pub(super) fn new_session(idp: &IdpState, user: IdpUserRecord) -> Decision {
    let session = idp.idps().new_session(user.id);
    Decision::SignIn { user: Box::new(user), session, is_new: true }
}
