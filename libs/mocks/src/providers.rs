//! The providers. Each is a module with one table, and a line here.

mod airtable;
mod docusign;
mod hubspot;
mod onfido;
mod plaid;
mod segment;
mod stripe;
mod twilio;
mod xero;

use crate::{Provider, flow::Simulation};

/// Every provider.
pub static ALL: [&Provider; 9] = [
    &stripe::STRIPE,
    &plaid::PLAID,
    &onfido::ONFIDO,
    &twilio::TWILIO,
    &docusign::DOCUSIGN,
    &xero::XERO,
    &hubspot::HUBSPOT,
    &airtable::AIRTABLE,
    &segment::SEGMENT,
];

/// The provider with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Provider> {
    ALL.into_iter().find(|provider| provider.id == id)
}

/// What happens at providers without a call.
static SIMULATIONS: [&Simulation; 6] = [
    &stripe::SIMULATION,
    &twilio::SIMULATION,
    &hubspot::SIMULATION,
    &docusign::SIMULATION,
    &plaid::SIMULATION,
    &onfido::SIMULATION,
];

/// What happens at a provider without a call; none where nothing does.
pub(crate) fn simulation(provider: &Provider) -> Option<&'static Simulation> {
    SIMULATIONS.into_iter().find(|simulation| simulation.provider == provider.id)
}
