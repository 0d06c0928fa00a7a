//! Rows of what a mock keeps that hold a secret: they are stored sealed, each for its own place.

use serde::{Deserialize, Serialize};
use trapline_mocks::{Write, unpacked};
use trapline_store::{PortError, Row, Value, records::MockEpoch};

use super::Mocks;
use crate::Result;

/// How the document of a sealed row begins; no other does.
const BEGIN: &str = "{\"sealed\":";

#[derive(Serialize, Deserialize)]
struct SealedDoc {
    sealed: String,
}

impl Mocks {
    /// The write with its document sealed, where that holds a secret.
    pub(super) fn with_sealed_secret(
        &self,
        of: MockEpoch,
        write: Write,
    ) -> Result<Write, PortError> {
        let Some(doc) = write.doc.as_ref().filter(|_| write.is_secret) else { return Ok(write) };
        let place = place(of, &format!("{}/{}", write.kind, write.id));
        let sealed = self.secrets.seal(&place, doc);
        let sealed = sealed.map_err(|_| PortError::Misuse("a document that cannot be sealed"))?;
        let doc = serde_json::to_string(&SealedDoc { sealed }).map_err(corrupt)?;
        Ok(Write { doc: Some(doc), ..write })
    }

    /// The document of a row of what a mock keeps, as the engine wrote it.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`](crate::Error::WrongMasterKey) when it was sealed by another installation.
    pub(super) fn opened_item(&self, of: MockEpoch, row: &Row) -> Result<String> {
        if !row.doc.starts_with(BEGIN) {
            return Ok(unpacked(&row.doc).into_owned());
        }
        let [Value::Text(item)] = row.sort.as_slice() else { return Ok(row.doc.clone()) };
        let SealedDoc { sealed } = serde_json::from_str(&row.doc).map_err(corrupt)?;
        Ok(unpacked(&self.secrets.open(&place(of, item), &sealed)?).into_owned())
    }
}

fn corrupt(source: serde_json::Error) -> PortError {
    PortError::Corrupt { table: "mock_state", source }
}

/// What a row is sealed for.
fn place(of: MockEpoch, item: &str) -> String {
    format!("mock:{}:{}:{item}", of.mock, of.epoch)
}
