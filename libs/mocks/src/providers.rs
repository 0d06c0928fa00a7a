//! The providers. Each is a module with one table, and a line here.

mod stripe;

use crate::Provider;

/// Every provider.
pub static ALL: [&Provider; 1] = [&stripe::STRIPE];

/// The provider with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Provider> {
    ALL.into_iter().find(|provider| provider.id == id)
}
