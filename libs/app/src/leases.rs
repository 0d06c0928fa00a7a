//! Work that one process of many does: a row with a time to live says which.

use std::{sync::Arc, time::Duration};

use trapline_store::{Op, PortError, Record, Store, When, load, records::WorkLease};

use crate::Result;

/// Takes and gives up leases.
#[derive(Clone)]
pub(crate) struct Leases(Arc<dyn Store>);

impl Leases {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// Whether `holder` may do the work for another `time`; renews what it has already.
    pub(crate) async fn hold(&self, name: &str, holder: &str, time: Duration) -> Result<bool> {
        let lease = WorkLease { name: name.to_owned(), holder: holder.to_owned() };
        let when = match load::<WorkLease>(&*self.0, &lease.key()).await? {
            None => When::Absent,
            Some((found, version)) if found.holder == holder => When::Version(version),
            Some(_) => return Ok(false),
        };
        let put = Op::put(&lease, Some(time), when)?;
        match self.0.write(vec![put]).await {
            Ok(()) => Ok(true),
            Err(PortError::Conflict) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets another process have the work at once.
    pub(crate) async fn release(&self, name: &str, holder: &str) -> Result<()> {
        let key = WorkLease::row(name);
        match load::<WorkLease>(&*self.0, &key).await? {
            Some((found, version)) if found.holder == holder => {
                let delete = Op::Delete { key, when: When::Version(version) };
                Ok(self.0.write(vec![delete]).await?)
            }
            _ => Ok(()),
        }
    }
}
