//! All that is kept of a team's log, in pages, for the operator.

use std::collections::VecDeque;

use trapline_model::{AuditEntry, TeamId};
use trapline_store::{
    Scan,
    records::{AuditDay, AuditRecord},
};

use super::AuditLog;
use crate::Result;

/// Entries of a page at most; each has some 400 bytes.
const PAGE: usize = 500;

/// A walk over everything that is kept of a team's log, newest first. A deleted team's is kept as long.
pub struct KeptLog<'l> {
    log: &'l AuditLog,
    left: VecDeque<Scan>,
}

impl AuditLog {
    /// Begins a walk over the whole log of a team, of which there may be nothing else.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn kept(&self, team: TeamId) -> Result<KeptLog<'_>> {
        let days = self.store.scan(AuditDay::of_team(team)).await?;
        let days = days.iter().filter_map(|row| self.rows.decode::<AuditDay>(row));
        let days = days.map(|day| AuditRecord::of_day(team, day.day, PAGE));
        // What earlier releases wrote is older.
        let months = AuditRecord::months(team, self.clock.now(), PAGE);
        Ok(KeptLog { log: self, left: days.chain(months).collect() })
    }
}

impl KeptLog<'_> {
    /// The next entries, up to 500; `None` is the end.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn next_page(&mut self) -> Result<Option<Vec<AuditEntry>>> {
        while let Some(scan) = self.left.pop_front() {
            let rows = self.log.store.scan(scan.clone()).await?;
            if let Some(last) = rows.get(PAGE - 1) {
                self.left.push_front(Scan { after: Some(last.sort.clone()), ..scan });
            }
            let entries = rows.iter().filter_map(|row| self.log.rows.decode::<AuditRecord>(row));
            let entries: Vec<_> = entries.map(|record| record.entry).collect();
            if !entries.is_empty() {
                return Ok(Some(entries));
            }
        }
        Ok(None)
    }
}
