//! Tells the mailroom of a session's begin and end.

use std::net::IpAddr;

use tokio::time::Instant;

use crate::{Mailroom, Observation};

/// Tells of a session's end however it ends, by a panic too.
pub(super) struct ObservedSession<'m, M: Mailroom> {
    mailroom: &'m M,
    peer: IpAddr,
    since: Instant,
}

impl<'m, M: Mailroom> ObservedSession<'m, M> {
    pub(super) fn new(mailroom: &'m M, peer: IpAddr) -> Self {
        mailroom.observe(peer, Observation::SessionOpened);
        Self { mailroom, peer, since: Instant::now() }
    }
}

impl<M: Mailroom> Drop for ObservedSession<'_, M> {
    fn drop(&mut self) {
        self.mailroom.observe(self.peer, Observation::SessionClosed(self.since.elapsed()));
    }
}
