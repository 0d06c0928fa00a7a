//! Projects.

use trapline_model::{Project, ProjectId, TeamId};
use trapline_store::{Key, Op, Record, Scan, When, load, records};

use crate::{App, Error, Result};

/// More projects than a team will make by hand.
const MAX_PROJECTS: usize = 10_000;

impl App {
    /// The team's projects, oldest first.
    pub async fn projects(&self, team: TeamId) -> Result<Vec<Project>> {
        let Key { table, partition, .. } =
            records::Project::row(team, ProjectId(uuid::Uuid::nil()));
        let scan = Scan {
            table,
            partition,
            after: None,
            until: None,
            limit: MAX_PROJECTS,
            keys_only: false,
        };
        let rows = self.ports.store.scan(scan).await?;
        rows.iter().map(|row| Ok(present(records::Project::of(row)?))).collect()
    }

    /// Makes a project.
    pub async fn create_project(&self, team: TeamId, name: String) -> Result<Project> {
        self.room_for_more().await?;
        let project =
            records::Project { id: ProjectId(self.ids.next()), team, name, created_at: self.now() };
        self.put_project(&project).await?;
        Ok(present(project))
    }

    /// Renames a project.
    pub async fn rename_project(
        &self,
        team: TeamId,
        id: ProjectId,
        name: String,
    ) -> Result<Project> {
        let mut project = self.project(team, id).await?;
        project.name = name;
        self.put_project(&project).await?;
        Ok(present(project))
    }

    /// Removes a project; its inboxes stay, without one.
    pub async fn delete_project(&self, team: TeamId, id: ProjectId) -> Result<()> {
        let project = self.project(team, id).await?;
        for inbox in self.inbox_records(team).await? {
            if inbox.project == Some(id) {
                self.leave_project(team, inbox.id).await?;
            }
        }
        let delete = Op::Delete { key: project.key(), when: When::Always };
        Ok(self.ports.store.write(vec![delete]).await?)
    }

    async fn leave_project(&self, team: TeamId, inbox: trapline_model::InboxId) -> Result<()> {
        match self.edit_inbox(team, inbox, |inbox| inbox.project = None).await {
            // Deleted meanwhile: it is in no project either.
            Ok(_) | Err(Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn project(&self, team: TeamId, id: ProjectId) -> Result<records::Project> {
        let found = load(&*self.ports.store, &records::Project::row(team, id)).await?;
        found.map(|(project, _)| project).ok_or(Error::NotFound)
    }

    async fn put_project(&self, project: &records::Project) -> Result<()> {
        let put =
            Op::Put { key: project.key(), doc: project.doc()?, ttl: None, when: When::Always };
        Ok(self.ports.store.write(vec![put]).await?)
    }
}

fn present(project: records::Project) -> Project {
    Project { id: project.id, name: project.name, created_at: project.created_at }
}
