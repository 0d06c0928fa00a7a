//! Inboxes.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::{App, InboxChange, InboxQuery, NewInbox};
use trapline_model::{Inbox, InboxId, Message, Principal, ProjectId};

use crate::{
    auth::{Reader, Writer},
    error::{PlanBody, Result},
    extract::{Body, Flag, Params, PathParams, given},
    projects::Name,
    reply::{Created, ListPage, NoContent},
};

/// What a new inbox is to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = InboxInput)]
pub(crate) struct NewInboxInput {
    /// For people.
    name: Name,
    /// The most messages it keeps; the oldest give way. 1,000 when left out.
    #[schema(nullable = false, minimum = 1, maximum = 10_000, example = 1000)]
    max_messages: Option<u32>,
    /// The project to group it under.
    #[schema(example = json!(null))]
    project_id: Option<ProjectId>,
    /// Makes the inbox disposable: after so many minutes it and its messages are gone.
    #[schema(nullable = false, minimum = 1, maximum = 10_080, example = 60)]
    expires_in_minutes: Option<u32>,
}

impl From<NewInboxInput> for NewInbox {
    fn from(input: NewInboxInput) -> Self {
        let usual = Self::named(&String::from(input.name));
        Self {
            max_messages: input.max_messages,
            project: input.project_id,
            lifetime: input.expires_in_minutes.map(minutes),
            ..usual
        }
    }
}

/// What is to change; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = InboxChange)]
pub(crate) struct InboxChangeInput {
    /// For people.
    #[schema(nullable = false)]
    name: Option<Name>,
    /// The most messages it keeps. A lower number takes effect at once.
    #[schema(nullable = false, minimum = 1, maximum = 10_000, example = 1000)]
    max_messages: Option<u32>,
    /// The project to group it under; null takes it out of its project.
    #[expect(clippy::option_option, reason = "null is not the same as left out")]
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<ProjectId>, example = json!(null))]
    project_id: Option<Option<ProjectId>>,
    /// Ends the inbox and its messages after so many minutes from now, earlier or later than it would
    /// have ended; null makes it last.
    #[expect(clippy::option_option, reason = "null is not the same as left out")]
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 10_080, example = 60)]
    expires_in_minutes: Option<Option<u32>>,
}

impl From<InboxChangeInput> for InboxChange {
    fn from(input: InboxChangeInput) -> Self {
        Self {
            name: input.name.map(String::from),
            max_messages: input.max_messages,
            project: input.project_id,
            lifetime: input.expires_in_minutes.map(|lifetime| lifetime.map(minutes)),
        }
    }
}

fn minutes(minutes: u32) -> Duration {
    Duration::from_mins(minutes.into())
}

/// Which inboxes to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InboxListInput {
    /// Only inboxes with exactly this name.
    #[param(max_length = 100, example = "Checkout")]
    name: Option<String>,
    /// Only inboxes whose name or address contains this, in any case.
    #[param(max_length = 200, example = "check")]
    q: Option<String>,
    /// Only inboxes of this project.
    project_id: Option<ProjectId>,
    /// Only disposable inboxes, or only lasting ones.
    #[param(inline, value_type = Option<Flag>)]
    disposable: Option<Flag>,
    /// At most so many; all when left out.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// Only inboxes that come behind the one with this id, the last of the page before. It need not be
    /// there any more.
    after: Option<InboxId>,
}

impl From<InboxListInput> for InboxQuery {
    fn from(input: InboxListInput) -> Self {
        Self {
            name: input.name,
            q: input.q.filter(|q| !q.is_empty()),
            project: input.project_id,
            disposable: input.disposable.map(Flag::on),
            limit: input.limit.map(usize::from),
            after: input.after,
        }
    }
}

/// Whoever may only read gets no password.
fn shown(by: &Principal, inbox: Inbox) -> Inbox {
    if by.may_write() { inbox } else { inbox.without_password() }
}

/// List inboxes
///
/// The team's inboxes, oldest first, with their counts and SMTP credentials. Keys that may only read
/// see no passwords.
#[utoipa::path(
    get,
    path = "/api/inboxes",
    operation_id = "listInboxes",
    tag = "Inboxes",
    params(InboxListInput),
    responses((
        status = 200, description = "The inboxes.", body = Vec<Inbox>,
        headers(("X-Total-Count" = u64, description = "How many inboxes match, on all pages."))
    ))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    Params(input): Params<InboxListInput>,
) -> Result<ListPage<Inbox>> {
    let page = app.inboxes().list(&by, &input.into()).await?;
    let inboxes = page.inboxes.into_iter().map(|inbox| shown(&by, inbox)).collect();
    Ok(ListPage(inboxes, page.total))
}

/// Create an inbox
///
/// It has SMTP credentials of its own, and takes mail at once.
#[utoipa::path(
    post,
    path = "/api/inboxes",
    operation_id = "createInbox",
    tag = "Inboxes",
    request_body = NewInboxInput,
    responses(
        (status = 201, description = "The new inbox.", body = Inbox),
        (status = 402, description = "The team's plan does not allow it (`quota_exceeded`).", body = PlanBody)
    )
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    Body(input): Body<NewInboxInput>,
) -> Result<Created<Inbox>> {
    Ok(Created(app.inboxes().create(&by, input.into()).await?))
}

/// Get an inbox
///
/// With its counts and SMTP credentials. Keys that may only read see no password.
#[utoipa::path(
    get,
    path = "/api/inboxes/{id}",
    operation_id = "getInbox",
    tag = "Inboxes",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 200, description = "The inbox.", body = Inbox))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<InboxId>,
) -> Result<Json<Inbox>> {
    Ok(Json(shown(&by, app.inboxes().get(&by, id).await?)))
}

/// Change an inbox
///
/// What is left out stays as it is.
#[utoipa::path(
    patch,
    path = "/api/inboxes/{id}",
    operation_id = "updateInbox",
    tag = "Inboxes",
    params(("id" = InboxId, Path, description = "The inbox.")),
    request_body = InboxChangeInput,
    responses(
        (status = 200, description = "The changed inbox.", body = Inbox),
        (status = 402, description = "The team's plan does not allow it (`quota_exceeded`).", body = PlanBody)
    )
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
    Body(input): Body<InboxChangeInput>,
) -> Result<Json<Inbox>> {
    Ok(Json(app.inboxes().update(&by, id, input.into()).await?))
}

/// Delete an inbox
///
/// Its messages go with it.
#[utoipa::path(
    delete,
    path = "/api/inboxes/{id}",
    operation_id = "deleteInbox",
    tag = "Inboxes",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 204, description = "The inbox is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
) -> Result<NoContent> {
    app.inboxes().delete(&by, id).await?;
    Ok(NoContent)
}

/// Rotate the SMTP password
///
/// The old password stops working.
#[utoipa::path(
    post,
    path = "/api/inboxes/{id}/credentials",
    operation_id = "rotateCredentials",
    tag = "Inboxes",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 200, description = "The inbox with its new password.", body = Inbox))
)]
pub(crate) async fn rotate(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
) -> Result<Json<Inbox>> {
    Ok(Json(app.inboxes().rotate_password(&by, id).await?))
}

/// Store a test message
///
/// A sample HTML mail with an inline image, at most 10 per inbox and minute.
#[utoipa::path(
    post,
    path = "/api/inboxes/{id}/test-message",
    operation_id = "storeTestMessage",
    tag = "Inboxes",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses(
        (status = 201, description = "The stored message.", body = Message),
        (status = 402, description = "The team's plan does not allow it (`quota_exceeded`).", body = PlanBody)
    )
)]
pub(crate) async fn test_message(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
) -> Result<Created<Message>> {
    Ok(Created(app.receive().test_message(&by, id).await?))
}
