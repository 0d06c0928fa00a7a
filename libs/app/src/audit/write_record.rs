//! Records that are written with the entries that tell of them.

use trapline_model::Principal;
use trapline_store::{Key, Op, PortError, Record, When, load};

use super::{AuditAction, AuditLog, Target};
use crate::{Error, Result};

/// How often a record is changed anew that others change at the same moment.
const EDIT_TRIES: usize = 8;

impl AuditLog {
    /// Writes a record, with the entry that tells of it.
    pub(crate) async fn put<R: Record>(
        &self,
        by: &Principal,
        action: AuditAction,
        target: Target,
        record: &R,
        when: When,
    ) -> Result<(), PortError> {
        let put = Op::put(record, None, when)?;
        let entry = self.entry(by, action, target).await;
        self.write(&entry, vec![put]).await
    }

    /// Changes a record as it is now, again while others change it too, with the entry that tells of it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when it is not there, [`Error::Conflict`] when others changed it at the same moment 8
    /// times, what `change` refuses it with, and when the store does not answer.
    pub(crate) async fn edit<R: Record>(
        &self,
        by: &Principal,
        action: AuditAction,
        key: &Key,
        target: fn(&R) -> Target,
        mut change: impl FnMut(&mut R) -> Result<()>,
    ) -> Result<R> {
        for _ in 0..EDIT_TRIES {
            let found = load::<R>(&*self.store, key).await?;
            let (mut record, version) = found.ok_or(Error::NotFound)?;
            change(&mut record)?;
            let when = When::Version(version);
            match self.put(by, action, target(&record), &record, when).await {
                Err(PortError::Conflict) => {}
                outcome => return outcome.map(|()| record).map_err(Error::from),
            }
        }
        Err(Error::Conflict)
    }
}
