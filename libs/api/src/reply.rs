//! Answers that are not a plain 200, or take long to write.

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use trapline_app::App;

use crate::error::Result;

/// How many entries a list has, whatever part of it is in the answer.
const TOTAL: HeaderName = HeaderName::from_static("x-total-count");
/// Bytes of a message above which its JSON is written beside the reactor.
const INLINE_BYTES: u64 = 16 * 1024;

/// 201 with what was made.
pub(crate) struct Created<T>(pub T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

/// 200 with part of a list, and how long the whole of it is.
pub(crate) struct ListPage<T>(pub Vec<T>, pub usize);

impl<T: Serialize> IntoResponse for ListPage<T> {
    fn into_response(self) -> Response {
        let total = HeaderValue::from(self.1);
        ([(TOTAL, total)], Json(self.0)).into_response()
    }
}

/// 200 with all of a message of `size` bytes, each of which may take 6 in JSON.
pub(crate) async fn whole<T>(app: &App, size: u64, body: T) -> Result<Response>
where
    T: Serialize + Send + 'static,
{
    if size <= INLINE_BYTES {
        return Ok(Json(body).into_response());
    }
    Ok(app.cpu().run(move || Json(body).into_response()).await?)
}

/// 200 with a report of what is well, or 503 with a report of what is not.
pub(crate) struct Checked<T> {
    pub is_well: bool,
    pub report: T,
}

impl<T: Serialize> IntoResponse for Checked<T> {
    fn into_response(self) -> Response {
        let status = if self.is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, Json(self.report)).into_response()
    }
}

/// 204.
pub(crate) struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}
