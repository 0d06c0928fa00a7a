//! The activity log: what happened at a provider, and why something was refused.

mod throttle;

use serde_json::{Value, json};
use trapline_model::{
    IdpEvent, IdpEventError, IdpEventId, IdpEventKind, IdpId, IdpUserId, Principal, Time,
};
use trapline_store::{
    Op, Scan, Value as Column, When, is_v7,
    records::{IdpEventRecord, IdpRecord},
};
use uuid::Uuid;

use super::Idps;
use crate::{AuditAction, Error, Result, ids::least_at, metrics};
pub(super) use throttle::EventThrottle;

/// Entries of a provider; older ones are removed.
const MAX_EVENTS: usize = 2_000;
/// Entries that a process writes for a provider between two looks whether there are too many.
pub(super) const TRIM_INTERVAL: u64 = 256;

/// Something that happened.
#[derive(Debug, Clone)]
pub struct NewIdpEvent {
    /// What it is.
    pub kind: IdpEventKind,
    /// The user it is about.
    pub user: Option<IdpUserId>,
    /// The client that the request named.
    pub client_id: Option<String>,
    /// Joins the entries of one sign-in.
    pub flow: Option<String>,
    /// One sentence.
    pub summary: String,
    /// The parameters, without secrets.
    pub request: Value,
    /// What was answered, without secrets.
    pub response: Value,
    /// Why it was refused; `None` when it was not.
    pub error: Option<IdpEventError>,
    /// The fault that was asked for.
    pub fault: Option<String>,
}

impl NewIdpEvent {
    /// Something that went well, and of which no more is known.
    #[must_use]
    pub fn told(kind: IdpEventKind, summary: String) -> Self {
        Self {
            kind,
            user: None,
            client_id: None,
            flow: None,
            summary,
            request: json!({}),
            response: json!({}),
            error: None,
            fault: None,
        }
    }
}

/// Which entries are listed.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Only what is newer: an entry's id, or a time.
    pub after: Option<String>,
    /// Only what is older than this entry.
    pub before: Option<IdpEventId>,
    /// At most so many.
    pub limit: usize,
}

impl Idps {
    /// A provider's log, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider, [`Error::Invalid`] for an `after` that is
    /// neither an id nor a time, and when the store does not answer.
    pub async fn events(
        &self,
        by: &Principal,
        idp: IdpId,
        query: &EventQuery,
    ) -> Result<Vec<IdpEvent>> {
        let epoch = self.load_record(by.team, idp).await?.epoch;
        let least = query.after.as_deref().map(least_after).transpose()?;
        let before = query.before.map(|id| id.0).filter(|id| is_v7(*id));
        let bound = |id: Uuid| vec![Column::Uuid(id)];
        let scan = IdpEventRecord::newest(idp, epoch, query.limit);
        let scan = Scan { after: before.map(bound), until: least.map(bound), ..scan };
        let rows = self.store.scan(scan).await?;
        let found = rows.iter().filter_map(|row| self.rows.decode::<IdpEventRecord>(row));
        Ok(found.map(|entry| entry.event).collect())
    }

    /// Removes a provider's log.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider, [`Error::Conflict`] when others changed it
    /// at the same moment again and again, and when the store does not answer.
    pub async fn clear_events(&self, by: &Principal, idp: IdpId) -> Result<()> {
        let cleared =
            self.edit(by, idp, AuditAction::IdpEventsCleared, |idp| idp.epoch += 1).await?;
        // What is still on its way is written into the part that is read no more, and goes by its age.
        let before = IdpEventRecord::removal_from(idp, cleared.epoch - 1, Uuid::max());
        Ok(self.store.write(vec![before]).await?)
    }

    /// Writes an entry. What it tells of goes on where that fails, which is counted.
    pub(super) async fn record_event(&self, idp: &IdpRecord, event: NewIdpEvent) {
        let is_ok = event.error.is_none();
        let Some(suppressed) = self.events.admit(idp.id, is_ok) else {
            metrics::idp_event_suppressed();
            return;
        };
        let id = IdpEventId(self.ids.next());
        let entry = IdpEventRecord {
            idp: idp.id,
            epoch: idp.epoch,
            event: IdpEvent {
                id,
                at: Time::of_uuid(id.0),
                kind: event.kind,
                ok: is_ok,
                user_id: event.user,
                client_id: event.client_id,
                flow: event.flow,
                summary: event.summary,
                request: event.request,
                response: event.response,
                error: event.error,
                fault: event.fault,
                suppressed,
            },
        };
        if let Err(error) = self.write_event(&entry).await {
            metrics::idp_event_lost();
            tracing::warn!(%error, idp = %idp.id, "an entry of an activity log was not written");
        }
    }

    async fn write_event(&self, entry: &IdpEventRecord) -> Result<()> {
        self.store.write(vec![Op::put(entry, None, When::Always)?]).await?;
        if !self.events.is_trim_due(entry.idp) {
            return Ok(());
        }
        let newest = IdpEventRecord::newest(entry.idp, entry.epoch, MAX_EVENTS + 1);
        let rows = self.store.scan(Scan { keys_only: true, ..newest }).await?;
        let Some(row) = rows.get(MAX_EVENTS) else { return Ok(()) };
        let [Column::Uuid(oldest)] = row.sort.as_slice() else { return Ok(()) };
        let removal = IdpEventRecord::removal_from(entry.idp, entry.epoch, *oldest);
        Ok(self.store.write(vec![removal]).await?)
    }
}

/// The least id of what is newer than an entry or a time.
fn least_after(after: &str) -> Result<Uuid> {
    if let Ok(IdpEventId(id)) = after.parse()
        && let Some(next) = id.as_u128().checked_add(1).map(Uuid::from_u128)
        && is_v7(next)
    {
        return Ok(next);
    }
    let time: Time = after.parse().map_err(|_| {
        Error::invalid("after", "invalid_value", "must be the id of an entry, or an ISO 8601 time")
    })?;
    Ok(least_at(Time::from_millis(time.millis().saturating_add(1))))
}
