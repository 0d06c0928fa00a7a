//! What a provider asks of a new address before it trusts it with events.

use crate::{Chance, OutgoingEvent, Provider};

/// Requests that a provider sends to an address that was just set, to see that the app checks signatures.
pub struct Handshake {
    /// As deliveries call it.
    pub event: &'static str,
    /// What is asked.
    pub(crate) requests: &'static [HandshakeRequest],
    /// The bytes of a request, which differ each time.
    pub(crate) body: fn(&Chance) -> String,
}

/// One request of a handshake.
pub(crate) struct HandshakeRequest {
    pub(crate) bad_signature: bool,
    /// The only status that is right.
    pub(crate) status: u16,
}

impl Provider {
    /// The handshake with an address; nothing where the provider has none.
    #[must_use]
    pub fn handshake_with(&self, url: &str, chance: &Chance) -> Vec<OutgoingEvent> {
        let Some(handshake) = &self.hooks.handshake else { return Vec::new() };
        let ask = |request: &HandshakeRequest| OutgoingEvent {
            event: handshake.event.to_owned(),
            url: url.to_owned(),
            content_type: "application/json".to_owned(),
            body: (handshake.body)(chance),
            bad_signature: request.bad_signature,
            expects: Some(request.status),
            ..OutgoingEvent::default()
        };
        handshake.requests.iter().map(ask).collect()
    }

    /// Whether a delivery is part of the handshake.
    #[must_use]
    pub fn is_handshake(&self, event: &OutgoingEvent) -> bool {
        self.hooks.handshake.as_ref().is_some_and(|handshake| handshake.event == event.event)
    }

    /// Whether an address that answered with these statuses, each where it was right, has passed the handshake.
    #[must_use]
    pub fn has_passed(&self, statuses: &[u16]) -> bool {
        let requests =
            self.hooks.handshake.as_ref().map_or(&[][..], |handshake| handshake.requests);
        requests.iter().all(|request| statuses.contains(&request.status))
    }
}
