//! Which fault a sign-in has, and its use.

use trapline_model::IdpUserId;
use trapline_store::records::WaitingFault;

use super::{FaultProtocol, FaultScenario, is_over};
use crate::{IdpHandle, Idps, Result, metrics};

/// A fault that is used now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultUse {
    /// What is wrong.
    pub scenario: FaultScenario,
    /// The scenario's value; 0 where it has none.
    pub value: i64,
}

impl FaultUse {
    /// Reads `<scenario>` or `<scenario>=<value>`; `None` for a scenario or a value that there is not.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.parse().ok()?)),
            None => (text, None),
        };
        let scenario = FaultScenario::named(name)?;
        match (scenario.bounds(), value) {
            (None, None) => Some(Self { scenario, value: 0 }),
            (Some((least, most)), Some(value)) if (least..=most).contains(&value) => {
                Some(Self { scenario, value })
            }
            _ => None,
        }
    }

    /// The same as text.
    #[must_use]
    pub fn text(self) -> String {
        let name = self.scenario.name();
        match self.scenario.bounds() {
            None => name.to_owned(),
            Some(_) => format!("{name}={}", self.value),
        }
    }

    /// A fault that a request asks for with its own sign-in, by the same text.
    #[must_use]
    pub fn of_request(text: &str, protocol: FaultProtocol) -> Option<Self> {
        Self::named(text).filter(|fault| {
            fault.scenario.is_of_sign_in() && fault.scenario.protocols().contains(&protocol)
        })
    }

    fn of(fault: &WaitingFault) -> Option<Self> {
        let scenario = FaultScenario::named(&fault.scenario)?;
        Some(Self { scenario, value: fault.value.unwrap_or(0) })
    }
}

impl Idps {
    /// The fault of a sign-in of this user: one that waits for the user, else one that waits for anybody,
    /// else one that stays. It is used once by that.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`](crate::Error::Conflict) when others use faults at the same moment again and
    /// again, and when the store does not answer.
    pub async fn take_fault(
        &self,
        provider: &IdpHandle,
        user: IdpUserId,
        protocol: FaultProtocol,
    ) -> Result<Option<FaultUse>> {
        let is_for = |fault: &WaitingFault| {
            FaultUse::of(fault).is_some_and(|it| it.scenario.is_of_sign_in())
                && is_of(fault, protocol)
                && fault.user.is_none_or(|only| only == user)
        };
        self.take(provider, is_for).await
    }

    /// The fault of a document, one of these.
    ///
    /// # Errors
    ///
    /// Those of [`Idps::take_fault`].
    pub async fn take_document_fault(
        &self,
        provider: &IdpHandle,
        among: &[FaultScenario],
        protocol: FaultProtocol,
    ) -> Result<Option<FaultUse>> {
        let is_for = |fault: &WaitingFault| {
            FaultUse::of(fault).is_some_and(|it| among.contains(&it.scenario))
                && is_of(fault, protocol)
        };
        self.take(provider, is_for).await
    }

    async fn take(
        &self,
        provider: &IdpHandle,
        is_for: impl Fn(&WaitingFault) -> bool,
    ) -> Result<Option<FaultUse>> {
        let idp = provider.settings.id;
        let now = self.clock.now();
        // Most providers have none: one read, and no write.
        let (waiting, _) = self.waiting_faults(idp).await?;
        let Some(first) = choose(&waiting.faults, &is_for) else { return Ok(None) };
        let first = &waiting.faults[first];
        let used = if first.remaining.is_none() {
            FaultUse::of(first)
        } else {
            self.edit_faults(idp, |faults| {
                let Some(place) = choose(faults, &is_for) else { return Ok(None) };
                let fault = &mut faults[place];
                let used = FaultUse::of(fault);
                fault.remaining = fault.remaining.map(|left| left.saturating_sub(1));
                faults.retain(|fault| !is_over(fault, now));
                Ok(used)
            })
            .await?
        };
        if let Some(used) = used {
            metrics::idp_fault(used.scenario.name());
        }
        Ok(used)
    }
}

/// Whether a fault exists in a protocol, and was not asked for in another one only.
fn is_of(fault: &WaitingFault, protocol: FaultProtocol) -> bool {
    let only = fault.protocol.as_deref();
    let scenario = FaultScenario::named(&fault.scenario);
    only.is_none_or(|only| only == protocol.name())
        && scenario.is_some_and(|it| it.protocols().contains(&protocol))
}

/// The first that is counted and for one user, else that is counted, else that stays.
fn choose(faults: &[WaitingFault], is_for: impl Fn(&WaitingFault) -> bool) -> Option<usize> {
    let rank = |fault: &WaitingFault| (fault.remaining.is_none(), fault.user.is_none());
    let fitting = faults.iter().enumerate().filter(|(_, fault)| is_for(fault));
    fitting.min_by_key(|(_, fault)| rank(fault)).map(|(place, _)| place)
}
