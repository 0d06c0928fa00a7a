//! Secrets that every process of an installation has, and that the first of them makes.

use trapline_store::{Op, PortError, Record, When, load, records::SharedSecret};

use super::AccessControl;
use crate::{Error, Result};

impl AccessControl {
    /// The secret of this name; `fresh` becomes it when there is none yet.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`] when it was sealed with another master key than this process has.
    pub async fn shared_secret(&self, name: &str, fresh: &str) -> Result<String> {
        let sealed = self.secrets.seal(&context(name), fresh)?;
        let row = SharedSecret { name: name.to_owned(), sealed };
        let key = row.key();
        if load::<SharedSecret>(&*self.store, &key).await?.is_none() {
            let put = Op::put(&row, None, When::Absent)?;
            match self.store.write(vec![put]).await {
                // On a conflict another process was first: its secret is the one.
                Ok(()) | Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.existing_shared_secret(name).await?.ok_or(Error::Unavailable)
    }

    /// The secret of this name; `None` when there is none.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`] when it was sealed with another master key than this process has.
    pub async fn existing_shared_secret(&self, name: &str) -> Result<Option<String>> {
        let found = load::<SharedSecret>(&*self.store, &SharedSecret::row(name)).await?;
        let open =
            |(found, _): (SharedSecret, i64)| self.secrets.open(&context(name), &found.sealed);
        found.map(open).transpose()
    }
}

fn context(name: &str) -> String {
    format!("shared:{name}")
}
