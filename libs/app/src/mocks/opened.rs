//! A mock as it is at one moment, opened for the engine.

use std::{collections::BTreeMap, sync::Arc};

use trapline_mocks::{CalledMock, HostedPages, MockSettings, Provider};
use trapline_model::{MockCallId, MockId, Time};
use trapline_store::records::{Mock, MockEpoch};

use super::{Mocks, fields};
use crate::{Error, Result};

/// Where a mock is by the way in which it is called.
#[derive(Debug, Clone)]
pub struct MockAddress {
    /// Its address as the caller has it, without a slash at the end.
    pub base_url: String,
    /// The same for a browser, which has no credential by which the mock could be found.
    pub pages_url: String,
    /// The word for the way.
    pub via: &'static str,
}

/// A mock, all that the engine has to know of it.
pub(super) struct OpenedMock {
    pub(super) mock: Mock,
    pub(super) id: MockCallId,
    pub(super) now: Time,
    pub(super) address: MockAddress,
    provider: &'static Provider,
    credentials: Arc<BTreeMap<String, String>>,
    settings: MockSettings,
    page_key: String,
    call_id: String,
}

impl OpenedMock {
    pub(super) fn called(&self) -> CalledMock<'_> {
        CalledMock {
            provider: self.provider,
            credentials: &self.credentials,
            settings: &self.settings,
            settings_at: self.mock.settings_at,
            revision: self.mock.revision,
            webhook_url: self.mock.webhook_url.as_deref(),
            base_url: &self.address.base_url,
            pages: HostedPages { base_url: &self.address.pages_url, key: &self.page_key },
            call_id: &self.call_id,
            now: self.now,
        }
    }

    pub(super) fn of(&self) -> MockEpoch {
        MockEpoch { mock: self.mock.id, epoch: self.mock.epoch }
    }
}

impl Mocks {
    /// Opens a mock for a call, or for what happens without one.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when this release does not know its provider, [`Error::WrongMasterKey`] when its
    /// credentials do not open.
    pub(super) fn open_mock(
        &self,
        (mock, version): (Mock, i64),
        id: MockCallId,
        address: MockAddress,
    ) -> Result<OpenedMock> {
        let provider = trapline_mocks::find(&mock.provider).ok_or(Error::NotFound)?;
        Ok(OpenedMock {
            provider,
            credentials: self.opened_once(&mock, version)?,
            settings: MockSettings::of(provider, &mock.settings).map_err(fields::settings)?,
            page_key: self.page_key(mock.id, mock.epoch),
            call_id: id.to_string(),
            now: self.clock.now(),
            id,
            address,
            mock,
        })
    }

    /// What proves the addresses of a mock's pages.
    pub(super) fn page_key(&self, mock: MockId, epoch: i64) -> String {
        self.secrets.sign(&format!("mock pages|{mock}|{epoch}"))
    }

    /// Where a mock is when nobody calls it.
    pub(super) fn own_address(&self, slug: &str) -> MockAddress {
        let base_url = self.base_url_of(slug);
        MockAddress { pages_url: base_url.clone(), base_url, via: "path" }
    }
}
