//! The handshake of a provider with an address that somebody set: some ask whether the app checks signatures.

use trapline_mocks::{Chance, MockSettings, OutgoingEvent, Provider};
use trapline_model::MockDeliveryId;
use trapline_store::{
    Op, PortError, When, load,
    records::{Mock, MockEpoch},
};

use super::{
    Mocks, fields,
    send::{job_of_delivery, new_delivery},
};
use crate::{Error, Result, secrets::random};

/// How often the note of a right answer is tried while others change the mock.
const NOTE_TRIES: usize = 8;

impl Mocks {
    /// Sends the provider's handshake to the mock's address; nothing where there is no address, or no handshake.
    pub(super) async fn begin_handshake(&self, mock: &Mock) -> Result<()> {
        let provider = trapline_mocks::find(&mock.provider).ok_or(Error::NotFound)?;
        let Some(url) = mock.webhook_url.as_ref().filter(|_| provider.hooks.handshake.is_some())
        else {
            return Ok(());
        };
        let settings = MockSettings::of(provider, &mock.settings).map_err(fields::settings)?;
        if !settings.webhooks.enabled {
            return Ok(());
        }
        let (of, now) = (MockEpoch { mock: mock.id, epoch: mock.epoch }, self.clock.now());
        let (mut rows, mut jobs) = (Vec::new(), Vec::new());
        for event in provider.handshake_with(url, &Chance::new(random())) {
            let row = new_delivery(of, MockDeliveryId(self.ids.next()), &event, None, now);
            rows.push(Op::put(&row, None, When::Always)?);
            jobs.extend(job_of_delivery(mock.team, &row)?);
        }
        Ok(self.jobs.schedule_with(rows, &jobs).await?)
    }

    /// Notes that the mock's address answered a request of the handshake as it should.
    pub(super) async fn note_handshake(&self, mock: &Mock, event: &OutgoingEvent) -> Result<()> {
        let key = Mock::row(mock.team, mock.id);
        for _ in 0..NOTE_TRIES {
            let found = load::<Mock>(&*self.store, &key).await?;
            // Another address has a handshake of its own.
            let is_asked = |mock: &Mock| mock.webhook_url.as_ref() == Some(&event.url);
            let Some((mut mock, version)) = found.filter(|(mock, _)| is_asked(mock)) else {
                return Ok(());
            };
            let Some(status) = event.expects.filter(|it| !mock.handshake.contains(it)) else {
                return Ok(());
            };
            mock.handshake.push(status);
            let put = Op::put(&mock, None, When::Version(version))?;
            match self.store.write(vec![put]).await {
                Err(PortError::Conflict) => {}
                outcome => return Ok(outcome?),
            }
        }
        Err(Error::Conflict)
    }
}

/// Whether an event waits until its address has passed the handshake, as only a strict mock has it. An address that is
/// the mock's no more does not pass.
pub(super) fn awaits_handshake(
    mock: &Mock,
    provider: &Provider,
    settings: &MockSettings,
    event: &OutgoingEvent,
) -> bool {
    let has_passed =
        mock.webhook_url.as_ref() == Some(&event.url) && provider.has_passed(&mock.handshake);
    let has_handshake = provider.hooks.handshake.is_some();
    settings.strict && has_handshake && !has_passed && !provider.is_handshake(event)
}
