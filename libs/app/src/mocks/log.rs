//! What a mock was asked, what it keeps, and what it sent.

use std::cmp::Reverse;

use serde::Deserialize as _;
use trapline_mocks::{OutgoingEvent, StoredObject};
use trapline_model::{
    MockCallDetails, MockCallId, MockCallPage, MockCallSummary, MockDelivery, MockDeliveryDetails,
    MockDeliveryId, MockId, MockObject, Principal,
};
use trapline_store::{
    Op, PortError, Scan, When, load,
    records::{Mock, MockCallBody, MockCallRow, MockDeliveryRow, MockEpoch},
};

use super::{
    Mocks, fields,
    load::MAX_OBJECTS,
    send::{created_at, job_of_delivery, new_delivery},
};
use crate::{Error, Result, rows::Pages};

/// Calls and deliveries that are listed of a mock, the newest.
pub(super) const MAX_LOG: usize = 10_000;
/// Rows that are read at once.
const PAGE_ROWS: usize = 500;

/// Which calls to list.
#[derive(Debug, Clone)]
pub struct CallQuery {
    /// Only calls that read or wrote this object.
    pub object_id: Option<String>,
    /// Which page, from 1.
    pub page: u32,
    /// The most calls of a page.
    pub limit: u16,
}

/// Which deliveries to list.
#[derive(Debug, Clone)]
pub struct DeliveryQuery {
    /// Only those that tell of this object.
    pub object_id: Option<String>,
    /// Only those of this event.
    pub event: Option<String>,
    /// The most deliveries.
    pub limit: u16,
}

impl Mocks {
    /// Part of the mock's newest 10,000 calls, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, and when the store does not answer.
    pub async fn calls(
        &self,
        by: &Principal,
        id: MockId,
        query: CallQuery,
    ) -> Result<MockCallPage> {
        let (_, of) = self.epoch_of(by, id).await?;
        let limit = usize::from(query.limit);
        let skipped = usize::try_from(query.page.saturating_sub(1)).unwrap_or(usize::MAX);
        let first = skipped.saturating_mul(limit);
        let (total, calls) = match &query.object_id {
            None => self.calls_from(of, first, limit).await?,
            Some(object) => {
                let touches = |row: &MockCallRow| row.call.object_ids.contains(object);
                let found = self.logged(of.calls(PAGE_ROWS), MAX_LOG, touches).await?;
                let calls = found.iter().skip(first).take(limit).map(|row| row.call.clone());
                (found.len(), calls.collect())
            }
        };
        Ok(MockCallPage { total, page: query.page, limit: query.limit, calls })
    }

    /// So many calls from a place on, and how many there are.
    async fn calls_from(
        &self,
        of: MockEpoch,
        first: usize,
        limit: usize,
    ) -> Result<(usize, Vec<MockCallSummary>)> {
        let keys = self.store.scan(Scan { keys_only: true, ..of.calls(MAX_LOG) }).await?;
        if first >= keys.len() {
            return Ok((keys.len(), Vec::new()));
        }
        let after = first.checked_sub(1).map(|before| keys[before].sort.clone());
        let limit = limit.min(keys.len() - first);
        let rows = self.store.scan(Scan { after, ..of.calls(limit) }).await?;
        let rows = rows.iter().filter_map(|row| self.rows.decode::<MockCallRow>(row));
        Ok((keys.len(), rows.map(|row| row.call).collect()))
    }

    /// One call, with what was sent and answered.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock or this no such call, and when the store does not answer.
    pub async fn call(
        &self,
        by: &Principal,
        id: MockId,
        call: MockCallId,
    ) -> Result<MockCallDetails> {
        let (_, of) = self.epoch_of(by, id).await?;
        let (summary, body) = (MockCallRow::row(of, call), MockCallBody::row(of, call));
        let row = load::<MockCallRow>(&*self.store, &summary).await?;
        let body = load::<MockCallBody>(&*self.store, &body).await?;
        let (Some((row, _)), Some((body, _))) = (row, body) else { return Err(Error::NotFound) };
        let MockCallBody { request, response, .. } = body;
        Ok(MockCallDetails { call: row.call, request, response })
    }

    /// What the mock sent, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::Invalid`] for an event that its provider does
    /// not have, and when the store does not answer.
    pub async fn deliveries(
        &self,
        by: &Principal,
        id: MockId,
        query: DeliveryQuery,
    ) -> Result<Vec<MockDelivery>> {
        let (mock, of) = self.epoch_of(by, id).await?;
        if let Some(event) = &query.event {
            fields::event(trapline_mocks::find(&mock.provider).ok_or(Error::NotFound)?, event)?;
        }
        let is_wanted = |row: &MockDeliveryRow| {
            let is = |field: &str, wanted: &Option<String>| {
                wanted.as_deref().is_none_or(|wanted| row.event[field] == wanted)
            };
            is("objectId", &query.object_id) && is("event", &query.event)
        };
        let rows = self.logged(of.deliveries(PAGE_ROWS), query.limit.into(), is_wanted).await?;
        rows.into_iter().map(present).collect()
    }

    /// One delivery, with what is sent.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock or this no such delivery, and when the store does not
    /// answer.
    pub async fn delivery(
        &self,
        by: &Principal,
        id: MockId,
        delivery: MockDeliveryId,
    ) -> Result<MockDeliveryDetails> {
        let (_, row) = self.delivery_row(by, id, delivery).await?;
        let (headers, body) = (row.headers.clone(), event_of(&row)?.body);
        Ok(MockDeliveryDetails { delivery: present(row)?, headers, body })
    }

    /// Sends what a delivery sent again, with a new signature, as a delivery of its own.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock or this no such delivery, and when the store does not
    /// answer.
    pub async fn replay(
        &self,
        by: &Principal,
        id: MockId,
        delivery: MockDeliveryId,
    ) -> Result<MockDelivery> {
        let (mock, row) = self.delivery_row(by, id, delivery).await?;
        let event = OutgoingEvent { dropped: false, delay_ms: 0, ..event_of(&row)? };
        let new = MockDeliveryId(self.ids.next());
        let new = new_delivery(row.of, new, &event, Some(delivery), self.clock.now());
        let job = job_of_delivery(mock.team, &new)?;
        self.jobs.schedule_with(vec![Op::put(&new, None, When::Always)?], job.as_slice()).await?;
        present(new)
    }

    /// What the mock keeps, newest first: of one kind, or of all.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::Invalid`] for a kind that its provider does not
    /// have, and when the store does not answer.
    pub async fn objects(
        &self,
        by: &Principal,
        id: MockId,
        kind: Option<&str>,
        limit: u16,
    ) -> Result<Vec<MockObject>> {
        let (mock, of) = self.epoch_of(by, id).await?;
        let provider = trapline_mocks::find(&mock.provider).ok_or(Error::NotFound)?;
        if let Some(kind) = kind {
            fields::kind(provider, kind)?;
        }
        let mut found = Vec::new();
        for known in provider.kinds.iter().filter(|it| kind.is_none_or(|kind| kind == it.name)) {
            found.extend(if provider.logs.contains(&known.name) {
                self.entries_of(of, known.name).await?
            } else {
                self.objects_of(of, known.name, MAX_OBJECTS).await?
            });
        }
        found.sort_by(|one, other| {
            let age = |object: &StoredObject| Reverse((object.created_at, object.id.clone()));
            age(one).cmp(&age(other))
        });
        found.truncate(limit.into());
        Ok(found.into_iter().map(object).collect())
    }

    async fn epoch_of(&self, by: &Principal, id: MockId) -> Result<(Mock, MockEpoch)> {
        let (mock, _) = self.mock(by.team, id).await?;
        let of = MockEpoch { mock: id, epoch: mock.epoch };
        Ok((mock, of))
    }

    async fn delivery_row(
        &self,
        by: &Principal,
        id: MockId,
        delivery: MockDeliveryId,
    ) -> Result<(Mock, MockDeliveryRow)> {
        let (mock, of) = self.epoch_of(by, id).await?;
        let row = MockDeliveryRow::row(of, delivery);
        let row = load::<MockDeliveryRow>(&*self.store, &row).await?;
        row.map(|(row, _)| (mock, row)).ok_or(Error::NotFound)
    }

    /// At most `most` of the newest rows of a log that are wanted.
    async fn logged<R: trapline_store::Record>(
        &self,
        scan: Scan,
        most: usize,
        is_wanted: impl Fn(&R) -> bool,
    ) -> Result<Vec<R>> {
        let (mut found, mut seen) = (Vec::new(), 0);
        let mut pages = Pages::of(&*self.store, scan);
        while found.len() < most
            && seen < MAX_LOG
            && let Some(rows) = pages.next().await?
        {
            seen += rows.len();
            found.extend(rows.iter().filter_map(|row| self.rows.decode(row)).filter(&is_wanted));
        }
        found.truncate(most);
        Ok(found)
    }
}

fn event_of(row: &MockDeliveryRow) -> Result<OutgoingEvent> {
    let event = OutgoingEvent::deserialize(&row.event);
    Ok(event.map_err(|source| PortError::Corrupt { table: "mock_delivery", source })?)
}

fn present(row: MockDeliveryRow) -> Result<MockDelivery> {
    let event = event_of(&row)?;
    let told = [
        event.dropped.then(|| "dropped".to_owned()),
        (event.delay_ms > 0).then(|| format!("delayed by {} ms", event.delay_ms)),
        event.bad_signature.then(|| "badly signed".to_owned()),
        (event.stale_by_seconds > 0).then(|| format!("stale by {} s", event.stale_by_seconds)),
    ];
    let told: Vec<_> = told.into_iter().flatten().collect();
    Ok(MockDelivery {
        created_at: created_at(row.id),
        id: row.id,
        event: event.event,
        object_id: event.object_id,
        url: event.url,
        status: row.status,
        http_status: row.http_status,
        error: row.error,
        attempts: row.attempts,
        duration_ms: row.duration_ms,
        next_attempt_at: row.next_attempt_at,
        completed_at: row.completed_at,
        replay_of: row.replay_of,
        scenario: (!told.is_empty()).then(|| told.join(", ")),
    })
}

pub(super) fn object(stored: StoredObject) -> MockObject {
    let StoredObject { id, kind, state, created_at, updated_at, object, .. } = stored;
    MockObject { id, kind, state, created_at, updated_at, object }
}
