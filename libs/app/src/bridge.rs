//! What webhooks, forwarding and outbound mail use of the services below them, as long as they have no
//! service of their own.

use std::time::Duration;

use bytes::Bytes;
use trapline_model::{InboxId, MessageId, Principal, TeamId, Time};
use trapline_store::{
    Job, LiveEvent, Op, PortError, Rate,
    records::{Inbox, Message},
};

use crate::{App, Result, announce::announce, filter::Matcher, jobs, jobs::Begun};

impl App {
    pub(crate) async fn inbox_record(&self, team: TeamId, id: InboxId) -> Result<Inbox> {
        self.inboxes.record(team, id).await
    }

    pub(crate) async fn some_inbox(&self, team: TeamId) -> Result<Option<Inbox>> {
        self.inboxes.some_of(team).await
    }

    pub(crate) async fn message_row(&self, team: TeamId, id: MessageId) -> Result<Message> {
        self.messages.record(team, id).await
    }

    pub(crate) async fn raw(&self, by: &Principal, id: MessageId) -> Result<Bytes> {
        self.messages.raw(by, id).await
    }

    pub(crate) async fn heading_holds(&self, record: &Message, matcher: &Matcher) -> Result<bool> {
        self.messages.heading_holds(record, matcher).await
    }

    pub(crate) async fn take_apart<T: Send + 'static>(
        &self,
        raw: Bytes,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T> {
        self.messages.take_apart(raw, parse).await
    }

    pub(crate) async fn room_for_more(&self) -> Result<()> {
        self.room.check().await
    }

    pub(crate) async fn announce(&self, inbox: InboxId, event: LiveEvent) {
        announce(&*self.ports.bus, inbox, event).await;
    }

    pub(crate) async fn take_all(&self, what: &str, subject: &str, rates: &[Rate]) -> Result<()> {
        self.limits.take_all(what, subject, rates).await
    }

    pub(crate) fn ahead_of_its_row(&self, job: &Job) -> Result<Option<Time>, PortError> {
        self.jobs.ahead_of_its_row(job)
    }

    pub(crate) fn without_row<A>(&self, job: &Job) -> Result<Begun<A>, PortError> {
        self.jobs.without_row(job)
    }

    pub(crate) async fn schedule_with(&self, rows: Vec<Op>, jobs: &[Job]) -> Result<(), PortError> {
        self.jobs.schedule_with(rows, jobs).await
    }

    pub(crate) async fn write_all(&self, ops: Vec<Op>) -> Result<(), PortError> {
        jobs::write_all(&*self.ports.store, ops).await
    }

    pub(crate) async fn schedule(&self, job: &Job) -> Result<(), PortError> {
        self.jobs.schedule(job).await
    }

    pub(crate) async fn hold(&self, name: &str, holder: &str, time: Duration) -> Result<bool> {
        self.leases.hold(name, holder, time).await
    }

    pub(crate) async fn release(&self, name: &str, holder: &str) -> Result<()> {
        self.leases.release(name, holder).await
    }
}
