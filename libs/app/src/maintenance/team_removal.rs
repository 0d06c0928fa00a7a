//! Removes the rows of a deleted team, some at a time: however large the team is, that takes little memory,
//! and others have the store in between. A step that is done again finds less, and a walk that was cut
//! off begins anew. Only the audit log stays, for the operator.
//!
//! The first walk removes what people and programs use. The second, an hour later, removes the rest, what
//! processes still wrote that did not know of the end yet, and the team's own row.

use std::time::Duration;

use trapline_model::{TeamId, WebhookId};
use trapline_store::{
    Job, Key, Op, Record as _, Row, Scan, Value, When, load,
    records::{
        ApiKey, ApiKeyByHash, DeliveryBucket, Invitation, Membership, OneTimeLink, Sso, SsoDomain,
        Team, TeamOfPerson, Webhook, parts_of_team, removal_of_deliveries, removal_of_rows,
    },
};

use super::Maintenance;
use crate::{
    Error, Result,
    jobs::team_removal,
    rows::{Pages, delete_unchanged, write_all},
};

/// Rows, and inboxes, that a step removes at most.
const PAGE_ROWS: usize = 100;
/// Identity providers that a step removes at most, each with up to 1,000 users.
const MAX_IDPS: usize = 10;
/// Parts of a webhook's log that a step removes at most.
const MAX_BUCKETS: usize = 20;
/// Time between two steps.
const STEP_DELAY: Duration = Duration::from_millis(200);
/// Time between the two walks: longer than any request, SMTP session or attempt that began before.
const SECOND_WALK_DELAY: Duration = Duration::from_hours(1);

impl Maintenance {
    /// Does a step of the removal of a team. Returns the next one.
    pub(super) async fn remove_some_of_team(
        &self,
        team: TeamId,
        is_last: bool,
    ) -> Result<Option<Job>> {
        let found = load::<Team>(&*self.store, &Team::row(team)).await?;
        let Some((row, version)) = found else { return Ok(None) };
        if row.deleted_at.is_none() {
            return Err(Error::Conflict);
        }
        let is_more = match self.remove_some(team, is_last).await {
            // Somebody changed a row at the same moment, which the next step reads anew.
            Err(Error::Conflict) => true,
            outcome => outcome?,
        };
        let now = self.clock.now();
        if is_more {
            return Ok(Some(team_removal(team, is_last, now.after(STEP_DELAY))?));
        }
        if !is_last {
            return Ok(Some(team_removal(team, true, now.after(SECOND_WALK_DELAY))?));
        }
        let own = Op::Delete { key: row.key(), when: When::Version(version) };
        self.store.write(vec![own]).await?;
        tracing::info!(%team, "a deleted team is removed");
        Ok(None)
    }

    /// Whether there was something.
    async fn remove_some(&self, team: TeamId, is_last: bool) -> Result<bool> {
        if self.remove_access(team).await?
            || self.inboxes.remove_some_of(team, PAGE_ROWS).await?
            || self.idps.remove_some_of(team, MAX_IDPS).await?
        {
            return Ok(true);
        }
        if !is_last {
            return Ok(false);
        }
        self.remove_domains(team).await?;
        Ok(self.mocks.remove_some_of_team(team).await?
            || self.remove_deliveries(team).await?
            || self.remove_rows(team).await?)
    }

    /// Keys, invitations and people, with what leads to them.
    async fn remove_access(&self, team: TeamId) -> Result<bool> {
        let keys = self.store.scan(ApiKey::of_team(team, PAGE_ROWS)).await?;
        let invitations = self.store.scan(Invitation::of_team(team, PAGE_ROWS)).await?;
        let people = self.store.scan(Membership::of_team(team, PAGE_ROWS)).await?;
        // What leads to a row goes before it, for without it nobody would find that. A row that cannot be
        // read leads nowhere.
        let mut ops = Vec::new();
        for key in keys.iter().filter_map(|row| ApiKey::of(row).ok()) {
            ops.push(Op::Delete { key: ApiKeyByHash::row(&key.sha256), when: When::Always });
        }
        for person in people.iter().filter_map(|row| Membership::of(row).ok()) {
            let listed = TeamOfPerson { person: person.person, team };
            ops.push(Op::Delete { key: listed.key(), when: When::Always });
        }
        write_all(&*self.store, ops).await?;
        for invitation in invitations.iter().filter_map(|row| Invitation::of(row).ok()) {
            self.remove_link(&invitation.link).await?;
        }
        for (scan, rows) in [
            (ApiKey::of_team(team, PAGE_ROWS), &keys),
            (Invitation::of_team(team, PAGE_ROWS), &invitations),
            (Membership::of_team(team, PAGE_ROWS), &people),
        ] {
            self.store.write(removal_of_rows(&scan, rows)).await?;
        }
        Ok([keys, invitations, people].iter().any(|rows| !rows.is_empty()))
    }

    async fn remove_link(&self, sha256: &str) -> Result<()> {
        let key = OneTimeLink::row(sha256);
        let Some(row) = self.store.get(&key).await? else { return Ok(()) };
        // One that has changed was used up.
        Ok(delete_unchanged(&*self.store, key, row.version).await?)
    }

    /// The mail domains of the team's single sign-on, which another team may have then.
    async fn remove_domains(&self, team: TeamId) -> Result<()> {
        let found = self.store.get(&Sso::row(team)).await?;
        let sso = found.and_then(|row| Sso::of(&row).ok());
        for domain in sso.into_iter().flat_map(|sso| sso.domains) {
            let row = load::<SsoDomain>(&*self.store, &SsoDomain::row(&domain)).await?;
            let Some((row, version)) = row.filter(|(row, _)| row.team == team) else { continue };
            let delete = Op::Delete { key: row.key(), when: When::Version(version) };
            self.store.write(vec![delete]).await?;
        }
        Ok(())
    }

    /// The logs of the team's webhooks.
    async fn remove_deliveries(&self, team: TeamId) -> Result<bool> {
        let scan = Scan { keys_only: true, ..Webhook::of_team(team, PAGE_ROWS) };
        let mut pages = Pages::of(&*self.store, scan);
        while let Some(hooks) = pages.next().await? {
            for webhook in hooks.iter().filter_map(id_of) {
                let buckets = DeliveryBucket::before(webhook, i64::MAX, MAX_BUCKETS);
                let buckets = self.store.scan(buckets).await?;
                let buckets = buckets.iter().filter_map(DeliveryBucket::bucket_of);
                let ops = buckets.flat_map(|bucket| removal_of_deliveries(webhook, bucket));
                let ops: Vec<_> = ops.collect();
                if !ops.is_empty() {
                    self.store.write(ops).await?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whatever else is in the tables of teams.
    async fn remove_rows(&self, team: TeamId) -> Result<bool> {
        for part in parts_of_team(team, self.clock.now(), PAGE_ROWS) {
            let rows = if part.table.sort.is_empty() {
                let (table, partition) = (part.table, part.partition.clone());
                let own = self.store.get(&Key { table, partition, sort: Vec::new() }).await?;
                own.into_iter().collect()
            } else {
                self.store.scan(part.clone()).await?
            };
            if !rows.is_empty() {
                self.store.write(removal_of_rows(&part, &rows)).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The webhook of a row, of which the key is enough.
fn id_of(row: &Row) -> Option<WebhookId> {
    match row.sort.as_slice() {
        [Value::Uuid(id)] => Some(WebhookId(*id)),
        _ => None,
    }
}
