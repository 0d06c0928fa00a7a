//! Work that one process of many does: a row with a time to live says which.

use std::time::Duration;

use trapline_store::{Op, PortError, Record, When, load, records::Lease};

use crate::{App, Result};

impl App {
    /// Whether `holder` may do the work for another `time`; renews what it has already.
    pub(crate) async fn hold(&self, name: &str, holder: &str, time: Duration) -> Result<bool> {
        let lease = Lease { name: name.to_owned(), holder: holder.to_owned() };
        let when = match load::<Lease>(&*self.ports.store, &lease.key()).await? {
            None => When::Absent,
            Some((found, version)) if found.holder == holder => When::Version(version),
            Some(_) => return Ok(false),
        };
        let put = Op::put(&lease, Some(time), when)?;
        match self.ports.store.write(vec![put]).await {
            Ok(()) => Ok(true),
            Err(PortError::Conflict) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets another process have the work at once.
    pub(crate) async fn release(&self, name: &str, holder: &str) -> Result<()> {
        let key = Lease::row(name);
        match load::<Lease>(&*self.ports.store, &key).await? {
            Some((found, version)) if found.holder == holder => {
                let delete = Op::Delete { key, when: When::Version(version) };
                Ok(self.ports.store.write(vec![delete]).await?)
            }
            _ => Ok(()),
        }
    }
}
