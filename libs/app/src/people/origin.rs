//! Where people come from: nobody's guesses keep somebody waiting who signs in from where they did before.

use std::net::IpAddr;

use trapline_model::PersonId;
use trapline_store::records::Person;

use super::{People, Visitor};

/// Networks that are kept of a person: those of home, office, phone and their changes.
const MAX_NETWORKS: usize = 8;

/// Where a password comes from.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PasswordOrigin {
    pub(super) address: Option<IpAddr>,
    /// Whether the person whose password it may be has signed in from there.
    pub(super) is_known: bool,
}

impl PasswordOrigin {
    /// Of a visitor who says to be this person, if there is one.
    pub(super) fn of(visitor: &Visitor, person: Option<&Person>) -> Self {
        let address = visitor.address;
        let is_known = person.is_some_and(|person| {
            address.is_some_and(|address| person.signed_in_from.contains(&address))
        });
        Self { address, is_known }
    }
}

impl People {
    /// Keeps where somebody has signed in from. The sign-in goes on without, when the store does not answer.
    pub(super) async fn note_origin(&self, id: PersonId, visitor: &Visitor) {
        let Some(address) = visitor.address else { return };
        let noted = async {
            let found = self.person(id).await?;
            if found.is_none_or(|(person, _)| person.signed_in_from.contains(&address)) {
                return Ok(());
            }
            self.change(id, |person| note(&mut person.signed_in_from, address)).await.map(drop)
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, "where somebody signed in from was not noted");
        }
    }
}

/// Adds a network, in place of the oldest one where there are enough.
fn note(networks: &mut Vec<IpAddr>, address: IpAddr) {
    networks.retain(|known| *known != address);
    let beyond = (networks.len() + 1).saturating_sub(MAX_NETWORKS);
    networks.drain(..beyond);
    networks.push(address);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_networks_are_kept() {
        let mut networks = Vec::new();
        for last in [1, 2, 3, 4, 5, 6, 7, 8, 2, 9] {
            note(&mut networks, IpAddr::from([192, 0, 2, last]));
        }
        let kept = [3, 4, 5, 6, 7, 8, 2, 9].map(|last| IpAddr::from([192, 0, 2, last]));
        assert_eq!(networks, kept);
    }
}
