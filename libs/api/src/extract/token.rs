//! What a one-time link carries.

use serde::Deserialize;

/// What a link carries.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TokenInput {
    /// The link's token.
    #[param(min_length = 1, max_length = 100)]
    pub token: String,
}
