//! How many requests may come: of a team, of one key or person, and of an address of nobody who is known.
//! All processes share the allowances. Where the limiter does not answer, nothing is limited.

use std::net::IpAddr;

use trapline_model::{Actor, IdpId, Principal};
use trapline_store::{Rate, RateDecision};

use super::AccessControl;

impl AccessControl {
    /// Takes one request from the allowance of the key or person, and from that of the team. Returns
    /// the one of which less is left; `None` when there is no limit or the limiter does not answer.
    pub async fn meter(&self, by: &Principal) -> Option<(Rate, RateDecision)> {
        let of_actor = match by.actor {
            _ if self.rates.actor.is_none() => None,
            Actor::Key(id) => self.take_request(&format!("api-key:{id}"), self.rates.actor).await,
            Actor::Person(id) => {
                self.take_request(&format!("api-person:{id}"), self.rates.actor).await
            }
            Actor::System => None,
        };
        if let Some((_, RateDecision::Limited { .. })) = of_actor {
            // What one key does in vain is not the team's.
            return of_actor;
        }
        let of_team = self.take_request(&format!("api:{}", by.team), self.rates.team).await;
        match (of_actor, of_team) {
            (Some(one), Some(other)) => Some(if left(one) < left(other) { one } else { other }),
            (one, other) => one.or(other),
        }
    }

    /// Takes one request from the allowance of an address of which nobody is known: without a key, or
    /// with one that is none. `None` as of [`AccessControl::meter`], and without an address.
    pub async fn meter_anonymous(&self, address: Option<IpAddr>) -> Option<(Rate, RateDecision)> {
        // Nobody asks the limiter where nothing is limited.
        let (address, rate) = (address?, self.rates.address?);
        self.take_request(&format!("api-address:{address}"), Some(rate)).await
    }

    /// Takes one request from the allowance that all share who ask a mock identity provider: a team's
    /// machines that run tests are often one address. `None` as of [`AccessControl::meter`].
    pub async fn meter_idp(&self, idp: IdpId) -> Option<(Rate, RateDecision)> {
        self.take_request(&format!("idp:{idp}"), self.rates.team).await
    }

    async fn take_request(&self, key: &str, rate: Option<Rate>) -> Option<(Rate, RateDecision)> {
        let rate = rate?;
        Some((rate, self.limits.take_if_answered(key, rate).await?))
    }
}

fn left((_, decision): (Rate, RateDecision)) -> u32 {
    match decision {
        RateDecision::Allowed { remaining } => remaining,
        RateDecision::Limited { .. } => 0,
    }
}

/// The allowances; `None` is no limit.
pub(super) struct Rates {
    pub(super) team: Option<Rate>,
    pub(super) actor: Option<Rate>,
    pub(super) address: Option<Rate>,
}
