//! Sends an earlier delivery again.

use trapline_model::{Delivery, DeliveryId, Principal, WebhookId};
use trapline_store::records;

use super::{Webhooks, fan_out::NewDelivery, log::present, rows::new_delivery};
use crate::{Error, PlanFeature, Result};

impl Webhooks {
    /// Sends an earlier delivery's payload again, as a delivery of its own.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, or that no such delivery,
    /// [`Error::FeatureUnavailable`] when the plan has no webhooks, and when the store does not answer.
    pub async fn redeliver(
        &self,
        by: &Principal,
        id: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Delivery> {
        let team = by.team;
        let (hook, _) = self.versioned_hook(team, id).await?;
        self.plans.require(team, PlanFeature::Webhooks).await?;
        let old = self.load_delivery(hook.id, delivery).await?.ok_or(Error::NotFound)?;
        let payload = self.load_payload(&old).await?.ok_or(Error::NotFound)?;
        let new = records::Delivery {
            redelivery_of: Some(old.id),
            ..new_delivery(DeliveryId(self.ids.next()), id, old.event, old.message)
        };
        let started = NewDelivery { delivery: new.clone(), payload, is_stored: false };
        self.start_deliveries(vec![((&hook).into(), vec![started])]).await?;
        Ok(present(new))
    }
}
