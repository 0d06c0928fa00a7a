//! What every endpoint has: the application, and the provider that the path names.

use std::{pin::Pin, sync::Arc};

use axum::{
    extract::{FromRequestParts, Path},
    http::{Extensions, HeaderMap, request::Parts},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trapline_app::{App, IdpHandle, Idps, RateDecision};
use trapline_model::TeamId;

use crate::{failure::EndpointFailure, slow::SlowAnswers};

/// Says for which team somebody is signed in at this service, by the headers of a request.
pub type TeamSession = Arc<
    dyn Fn(HeaderMap, Extensions) -> Pin<Box<dyn Future<Output = Option<TeamId>> + Send>>
        + Send
        + Sync,
>;

/// Requests at providers that are answered at the same time.
const MAX_REQUESTS: usize = 1_000;

/// The state of every route.
#[derive(Clone)]
pub(crate) struct IdpState {
    pub(crate) app: Arc<App>,
    pub(crate) team_session: TeamSession,
    pub(crate) slow: SlowAnswers,
    places: Arc<Semaphore>,
}

impl IdpState {
    pub(crate) fn new(app: Arc<App>, team_session: TeamSession) -> Self {
        let places = Arc::new(Semaphore::new(MAX_REQUESTS));
        Self { app, team_session, slow: SlowAnswers::default(), places }
    }

    pub(crate) fn idps(&self) -> &Idps {
        self.app.idps()
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.app.now().millis().div_euclid(1_000)
    }
}

/// The provider that the path names, and a place among the requests that are answered.
pub(crate) struct At {
    pub(crate) provider: IdpHandle,
    _place: OwnedSemaphorePermit,
}

impl FromRequestParts<IdpState> for At {
    type Rejection = EndpointFailure;

    async fn from_request_parts(
        parts: &mut Parts,
        idp: &IdpState,
    ) -> Result<Self, EndpointFailure> {
        let place =
            idp.places.clone().try_acquire_owned().map_err(|_| EndpointFailure::Unavailable)?;
        let slug = Path::<String>::from_request_parts(parts, idp).await;
        let Path(slug) = slug.map_err(|_| EndpointFailure::NotFound)?;
        let provider = idp.idps().provider(&slug).await?.ok_or(EndpointFailure::NotFound)?;
        let metered = idp.app.access().meter_idp(provider.settings.id).await;
        if let Some((_, RateDecision::Limited { retry_after })) = metered {
            return Err(EndpointFailure::TooMany(retry_after));
        }
        Ok(Self { provider, _place: place })
    }
}
