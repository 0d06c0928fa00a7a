//! Projects.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::{App, ProjectQuery};
use trapline_model::{Project, ProjectId};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, schema::Type};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Body, Params, PathParams},
    reply::{Created, ListPage, NoContent},
};

/// A name for people; spaces around it are removed.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Name(String);

/// One line without control characters, and more than spaces.
const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";

impl utoipa::PartialSchema for Name {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("For people; spaces around it are removed."))
            .min_length(Some(1))
            .max_length(Some(100))
            .pattern(Some(NAME))
            .examples(["Checkout"])
            .into()
    }
}

impl utoipa::ToSchema for Name {}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.trim().to_owned()
    }
}

/// What a project is to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectInput {
    /// For people.
    name: Name,
}

/// Which projects to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProjectListInput {
    /// Only projects with exactly this name.
    #[param(max_length = 100, example = "Checkout")]
    name: Option<String>,
    /// Only projects whose name contains this, in any case.
    #[param(max_length = 200, example = "check")]
    q: Option<String>,
    /// At most so many; all when left out.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// Only projects that come behind the one with this id, the last of the page before. It need not be
    /// there any more.
    after: Option<ProjectId>,
}

impl From<ProjectListInput> for ProjectQuery {
    fn from(input: ProjectListInput) -> Self {
        let q = input.q.filter(|q| !q.is_empty());
        let limit = input.limit.map(usize::from);
        Self { name: input.name, q, limit, after: input.after }
    }
}

/// List projects
///
/// The team's projects, oldest first.
#[utoipa::path(
    get,
    path = "/api/projects",
    operation_id = "listProjects",
    tag = "Projects",
    params(ProjectListInput),
    responses((
        status = 200, description = "The projects.", body = Vec<Project>,
        headers(("X-Total-Count" = u64, description = "How many projects match, on all pages."))
    ))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    Params(input): Params<ProjectListInput>,
) -> Result<ListPage<Project>> {
    let page = app.inboxes().list_projects(&by, &input.into()).await?;
    Ok(ListPage(page.projects, page.total))
}

/// Create a project
///
/// Inboxes name the project that they belong to.
#[utoipa::path(
    post,
    path = "/api/projects",
    operation_id = "createProject",
    tag = "Projects",
    request_body = ProjectInput,
    responses((status = 201, description = "The new project.", body = Project))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    Body(input): Body<ProjectInput>,
) -> Result<Created<Project>> {
    Ok(Created(app.inboxes().create_project(&by, input.name.into()).await?))
}

/// Rename a project
///
/// Its inboxes stay in it.
#[utoipa::path(
    patch,
    path = "/api/projects/{id}",
    operation_id = "renameProject",
    tag = "Projects",
    params(("id" = ProjectId, Path, description = "The project.")),
    request_body = ProjectInput,
    responses((status = 200, description = "The renamed project.", body = Project))
)]
pub(crate) async fn rename(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<ProjectId>,
    Body(input): Body<ProjectInput>,
) -> Result<Json<Project>> {
    Ok(Json(app.inboxes().rename_project(&by, id, input.name.into()).await?))
}

/// Delete a project
///
/// Its inboxes are kept, without a project.
#[utoipa::path(
    delete,
    path = "/api/projects/{id}",
    operation_id = "deleteProject",
    tag = "Projects",
    params(("id" = ProjectId, Path, description = "The project.")),
    responses((status = 204, description = "The project is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<ProjectId>,
) -> Result<NoContent> {
    app.inboxes().delete_project(&by, id).await?;
    Ok(NoContent)
}
