//! The rows of mocks: found, opened, changed.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use moka::sync::Cache;
use trapline_mocks::Provider;
use trapline_model::{MockId, Principal, ProjectId, TeamId};
use trapline_store::{
    Key, Scan, load, load_all,
    records::{Mock, Project},
};

use super::{Mocks, is_over};
use crate::{AuditAction, Error, Result, audit::Target};

/// Credentials of a mock at a version of its row.
pub(super) type OpenedCredentials = Cache<(MockId, i64), Arc<BTreeMap<String, String>>>;

/// Projects of a team, more than it will make by hand.
const MAX_PROJECTS: usize = 10_000;

impl Mocks {
    /// A mock of the team, and the version of its row.
    pub(super) async fn mock(&self, team: TeamId, id: MockId) -> Result<(Mock, i64)> {
        let found = load::<Mock>(&*self.store, &Mock::row(team, id)).await?;
        let now = self.clock.now();
        found.filter(|(mock, _)| !is_over(mock, now)).ok_or(Error::NotFound)
    }

    /// Changes a mock's row, again while others change it too.
    pub(super) async fn edit(
        &self,
        by: &Principal,
        id: MockId,
        action: AuditAction,
        mut change: impl FnMut(&mut Mock, &'static Provider) -> Result<()> + Send,
    ) -> Result<Mock> {
        let now = self.clock.now();
        let change = |mock: &mut Mock| {
            let provider = trapline_mocks::find(&mock.provider).filter(|_| !is_over(mock, now));
            change(mock, provider.ok_or(Error::NotFound)?)
        };
        self.audit.edit(by, action, &Mock::row(by.team, id), Target::mock, change).await
    }

    pub(super) fn sealed(
        &self,
        id: MockId,
        credentials: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>> {
        let seal = |(name, value): (&String, &String)| {
            Ok((name.clone(), self.secrets.seal(&seal_context(id, name), value)?))
        };
        credentials.iter().map(seal).collect()
    }

    /// The mock's credentials by name.
    pub(super) fn opened(&self, mock: &Mock) -> Result<BTreeMap<String, String>> {
        let open = |(name, sealed): (&String, &String)| {
            Ok((name.clone(), self.secrets.open(&seal_context(mock.id, name), sealed)?))
        };
        mock.credentials.iter().map(open).collect()
    }

    /// The same, opened once for each version of the row.
    pub(super) fn opened_once(
        &self,
        mock: &Mock,
        version: i64,
    ) -> Result<Arc<BTreeMap<String, String>>> {
        let key = (mock.id, version);
        if let Some(known) = self.opened.get(&key) {
            return Ok(known);
        }
        let opened = Arc::new(self.opened(mock)?);
        self.opened.insert(key, opened.clone());
        Ok(opened)
    }

    /// The projects that are there, of those that these mocks name.
    pub(super) async fn projects_of(
        &self,
        team: TeamId,
        mocks: &[Mock],
    ) -> Result<HashSet<ProjectId>> {
        if mocks.iter().all(|mock| mock.project.is_none()) {
            return Ok(HashSet::new());
        }
        let Key { table, partition, .. } = Project::row(team, ProjectId(uuid::Uuid::nil()));
        let scan = Scan::of(table, partition, MAX_PROJECTS);
        let projects = load_all::<Project>(&*self.store, scan);
        Ok(projects.await?.into_iter().map(|project| project.id).collect())
    }
}

/// What a credential is sealed for.
fn seal_context(id: MockId, name: &str) -> String {
    format!("mock:{id}:{name}")
}
