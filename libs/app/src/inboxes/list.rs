//! Lists inboxes, with filters and pages.

use futures_util::future::try_join;
use trapline_mime::fold;
use trapline_model::{Inbox, InboxId, Principal, ProjectId, TeamId};
use trapline_store::{is_v7, records};
use uuid::Uuid;

use super::Inboxes;
use crate::{Result, filter::contains};

/// Which inboxes to list; the default is all of them.
#[derive(Debug, Clone, Default)]
pub struct InboxQuery {
    /// Only those with exactly this name.
    pub name: Option<String>,
    /// Only those whose name or address contains this, in any case.
    pub q: Option<String>,
    /// Only those of this project.
    pub project: Option<ProjectId>,
    /// Only disposable ones, or only lasting ones.
    pub disposable: Option<bool>,
    /// The most inboxes of the page.
    pub limit: Option<usize>,
    /// Only those that come behind this one in the list. It need not be there any more.
    pub after: Option<InboxId>,
}

impl InboxQuery {
    /// How many inboxes a page has of all that the team has; `None` where it asks for others. Stores have
    /// no place for an id of another form in their order.
    fn page(&self) -> Option<usize> {
        let Self { name, q, project, disposable, limit, after } = self;
        let is_of_all = name.is_none() && q.is_none() && project.is_none() && disposable.is_none();
        limit.filter(|_| is_of_all && after.is_none_or(|id| is_v7(id.0)))
    }
}

/// Part of the list of inboxes.
#[derive(Debug)]
pub struct InboxPage {
    /// The inboxes, oldest first.
    pub inboxes: Vec<Inbox>,
    /// How many inboxes match, before and behind these too.
    pub total: usize,
}

/// Which part of a list is wanted.
pub(crate) struct ListRange {
    pub limit: Option<usize>,
    pub after: Option<Uuid>,
}

impl ListRange {
    /// The range's part of a list, which is in the order of its ids.
    pub(crate) fn of<T>(&self, mut list: Vec<T>, id: impl Fn(&T) -> Uuid) -> Vec<T> {
        if let Some(after) = self.after {
            let first = list.partition_point(|entry| id(entry) <= after);
            list.drain(..first);
        }
        list.truncate(self.limit.unwrap_or(usize::MAX));
        list
    }
}

impl Inboxes {
    /// The team's inboxes, oldest first, with their counts.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or a password does not open.
    pub async fn list(&self, by: &Principal, query: &InboxQuery) -> Result<InboxPage> {
        let (inboxes, total) = match query.page() {
            Some(limit) => {
                let inboxes = self.page_of(by.team, query.after, limit);
                try_join(inboxes, self.count_of(by.team)).await?
            }
            None => self.filtered(by.team, query).await?,
        };
        let counts = self.counts.of_many(&inboxes).await?;
        let inboxes = inboxes.iter().zip(counts);
        let inboxes = inboxes.map(|(inbox, counts)| self.present(inbox, counts));
        Ok(InboxPage { inboxes: inboxes.collect::<Result<_>>()?, total })
    }

    /// The inboxes of the range among those that match, and how many match.
    async fn filtered(
        &self,
        team: TeamId,
        query: &InboxQuery,
    ) -> Result<(Vec<records::Inbox>, usize)> {
        let mut inboxes = self.records_of(team).await?;
        let q = query.q.as_deref().map(fold);
        inboxes.retain(|inbox| self.is_wanted(inbox, query, q.as_deref()));
        let total = inboxes.len();
        let range = ListRange { limit: query.limit, after: query.after.map(|id| id.0) };
        Ok((range.of(inboxes, |inbox| inbox.id.0), total))
    }

    /// These inboxes of the team with their counts, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the team has not all of them.
    pub(crate) async fn get_many(&self, by: &Principal, ids: &[InboxId]) -> Result<Vec<Inbox>> {
        let inboxes = self.records(by.team, ids).await?;
        let counts = self.counts.of_many(&inboxes).await?;
        let inboxes = inboxes.iter().zip(counts);
        inboxes.map(|(inbox, counts)| self.present(inbox, counts)).collect()
    }

    fn is_wanted(&self, inbox: &records::Inbox, query: &InboxQuery, q: Option<&str>) -> bool {
        query.name.as_ref().is_none_or(|name| inbox.name == *name)
            && query.project.is_none_or(|project| inbox.project == Some(project))
            && query.disposable.is_none_or(|wanted| inbox.expires_at.is_some() == wanted)
            && q.is_none_or(|q| contains(&inbox.name, q) || contains(&self.address(inbox), q))
    }
}
