//! The pages on which a person decides: the payer, the owner of a card.

use trapline_mocks::{HostedPage, MockAction, StoredObject, is_page_proof, page};
use trapline_model::MockCallId;
use trapline_store::{load, records::Mock};

use super::{Mocks, is_over, opened::MockAddress, opened::OpenedMock};
use crate::{Error, Result};

/// Which page of a mock, and the proof that the mock made its address.
#[derive(Debug, Clone)]
pub struct MockPageAddress {
    /// The mock's slug.
    pub slug: String,
    /// The kind of the object.
    pub kind: String,
    /// The object's id.
    pub id: String,
    /// The proof.
    pub proof: String,
}

/// What a person decided, and what is shown then.
#[derive(Debug)]
pub struct MockPageDecided {
    /// The page as it is now.
    pub page: HostedPage,
    /// Where the person goes; none where the page is shown again.
    pub back: Option<String>,
}

impl Mocks {
    /// A page, which changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such page or the proof is another's, and when the store does not answer.
    pub async fn page(&self, at: &MockPageAddress, address: MockAddress) -> Result<HostedPage> {
        let (mock, object) = self.page_object(at, address).await?;
        page(mock.called().provider, &object).ok_or(Error::NotFound)
    }

    /// Does what a person decided for on a page.
    ///
    /// # Errors
    ///
    /// Those of [`Mocks::page`]; and [`Error::Conflict`] when others change the object again and again.
    pub async fn decide(
        &self,
        at: &MockPageAddress,
        address: MockAddress,
        to: &str,
    ) -> Result<MockPageDecided> {
        let (mock, before) = self.page_object(at, address).await?;
        let (kind, id) = (at.kind.as_str(), at.id.as_str());
        let provider = mock.called().provider;
        // A decision that was made before is shown as it is now.
        let now = match self.happen(&mock, MockAction::Decide { kind, id, to }).await? {
            Ok(done) => done.object.unwrap_or(before),
            Err(_) => before,
        };
        let page = page(provider, &now).ok_or(Error::NotFound)?;
        // One that was declined leaves the decision open.
        let back = page.back.clone().filter(|_| page.buttons.is_empty());
        Ok(MockPageDecided { page, back })
    }

    async fn page_object(
        &self,
        at: &MockPageAddress,
        address: MockAddress,
    ) -> Result<(OpenedMock, StoredObject)> {
        let (team, id) = self.find(&at.slug).await?;
        let found = load::<Mock>(&*self.store, &Mock::row(team, id)).await?;
        let now = self.clock.now();
        let mock = found.filter(|(mock, _)| !is_over(mock, now)).ok_or(Error::NotFound)?;
        let key = self.page_key(id, mock.0.epoch);
        if !is_page_proof(&key, &at.kind, &at.id, &at.proof) {
            return Err(Error::NotFound);
        }
        let mock = self.open_mock(mock, MockCallId(self.ids.next()), address)?;
        let object = self.object(mock.of(), &at.kind, &at.id).await?;
        Ok((mock, object.ok_or(Error::NotFound)?))
    }
}
