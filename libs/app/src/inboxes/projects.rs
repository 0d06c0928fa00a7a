//! Projects.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_mime::fold;
use trapline_model::{Principal, Project, ProjectId, TeamId};
use trapline_store::{Key, Op, Record, Scan, When, load, load_all, records};

use super::{Inboxes, ListRange, READS_AT_ONCE};
use crate::{AuditAction, Error, Result, audit::Target, filter::contains};

/// More projects than a team will make by hand.
const MAX_PROJECTS: usize = 10_000;

/// Which projects to list; the default is all of them.
#[derive(Debug, Clone, Default)]
pub struct ProjectQuery {
    /// Only those with exactly this name.
    pub name: Option<String>,
    /// Only those whose name contains this, in any case.
    pub q: Option<String>,
    /// The most projects of the page.
    pub limit: Option<usize>,
    /// Only those that come behind this one in the list. It need not be there any more.
    pub after: Option<ProjectId>,
}

/// Part of the list of projects.
#[derive(Debug)]
pub struct ProjectPage {
    /// The projects, oldest first.
    pub projects: Vec<Project>,
    /// How many projects match, before and behind these too.
    pub total: usize,
}

impl Inboxes {
    /// The team's projects, oldest first.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn list_projects(&self, by: &Principal, query: &ProjectQuery) -> Result<ProjectPage> {
        let Key { table, partition, .. } =
            records::Project::row(by.team, ProjectId(uuid::Uuid::nil()));
        let scan = Scan::of(table, partition, MAX_PROJECTS);
        let mut projects = load_all::<records::Project>(&*self.store, scan).await?;
        let q = query.q.as_deref().map(fold);
        projects.retain(|project| {
            query.name.as_ref().is_none_or(|name| project.name == *name)
                && q.as_ref().is_none_or(|q| contains(&project.name, q))
        });
        let total = projects.len();
        let range = ListRange { limit: query.limit, after: query.after.map(|id| id.0) };
        let projects = range.of(projects, |project| project.id.0);
        Ok(ProjectPage { projects: projects.into_iter().map(present).collect(), total })
    }

    /// Makes a project.
    ///
    /// # Errors
    ///
    /// [`Error::StorageFull`] when there is no room for it.
    pub async fn create_project(&self, by: &Principal, name: String) -> Result<Project> {
        self.room.check().await?;
        let project = records::Project {
            id: ProjectId(self.ids.next()),
            team: by.team,
            name,
            created_at: self.clock.now(),
        };
        self.put_project(by, AuditAction::ProjectCreated, &project).await?;
        Ok(present(project))
    }

    /// Renames a project.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has none with this id.
    pub async fn rename_project(
        &self,
        by: &Principal,
        id: ProjectId,
        name: String,
    ) -> Result<Project> {
        let mut project = self.project(by.team, id).await?;
        project.name = name;
        self.put_project(by, AuditAction::ProjectRenamed, &project).await?;
        Ok(present(project))
    }

    /// Removes a project; its inboxes stay, without one.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has none with this id.
    pub async fn delete_project(&self, by: &Principal, id: ProjectId) -> Result<()> {
        let team = by.team;
        let project = self.project(team, id).await?;
        let inboxes = self.records_of(team).await?.into_iter();
        // Before the first inbox leaves it.
        self.audit.begin(by, AuditAction::ProjectDeleted, Target::project(&project)).await?;
        let leave = inboxes
            .filter(|inbox| inbox.project == Some(id))
            .map(|inbox| self.leave_project(by, inbox.id));
        stream::iter(leave).buffer_unordered(READS_AT_ONCE).try_collect::<()>().await?;
        let delete = Op::Delete { key: project.key(), when: When::Always };
        Ok(self.store.write(vec![delete]).await?)
    }

    async fn leave_project(&self, by: &Principal, inbox: trapline_model::InboxId) -> Result<()> {
        match self.edit(by, inbox, None, |inbox| inbox.project = None).await {
            // Deleted meanwhile: it is in no project either.
            Ok(_) | Err(Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn project(&self, team: TeamId, id: ProjectId) -> Result<records::Project> {
        let found = load(&*self.store, &records::Project::row(team, id)).await?;
        found.map(|(project, _)| project).ok_or(Error::NotFound)
    }

    async fn put_project(
        &self,
        by: &Principal,
        action: AuditAction,
        project: &records::Project,
    ) -> Result<()> {
        Ok(self.audit.put(by, action, Target::project(project), project, When::Always).await?)
    }
}

fn present(project: records::Project) -> Project {
    Project { id: project.id, name: project.name, created_at: project.created_at }
}
