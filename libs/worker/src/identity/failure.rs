//! What went wrong with a provider. None of its own words but error codes are passed on: whoever names an
//! address could otherwise read what is behind it.

use openidconnect::{
    DiscoveryError, RequestTokenError, StandardErrorResponse, UserInfoError,
    core::CoreErrorResponseType,
};
use trapline_app::ProviderFailure;

use crate::outbound::OutboundFailure;

/// Letters of an error code that are told.
const CODE_LETTERS: usize = 40;

pub(super) type TokenError =
    RequestTokenError<OutboundFailure, StandardErrorResponse<CoreErrorResponseType>>;

pub(super) fn of_discovery_error(error: &DiscoveryError<OutboundFailure>) -> ProviderFailure {
    match error {
        DiscoveryError::Request(failure) => ProviderFailure::Unreachable(failure.code()),
        _ => ProviderFailure::NotAProvider,
    }
}

pub(super) fn of_token_error(error: &TokenError) -> ProviderFailure {
    match error {
        RequestTokenError::Request(failure) => ProviderFailure::Unreachable(failure.code()),
        RequestTokenError::ServerResponse(answer) => {
            let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
            let code = answer.error().as_ref().chars().take_while(is_word);
            ProviderFailure::Refused(code.take(CODE_LETTERS).collect())
        }
        _ => ProviderFailure::NotAProvider,
    }
}

pub(super) fn of_info_error(error: &UserInfoError<OutboundFailure>) -> ProviderFailure {
    match error {
        UserInfoError::Request(failure) => ProviderFailure::Unreachable(failure.code()),
        UserInfoError::ClaimsVerification(_) => ProviderFailure::BadToken("subject"),
        _ => ProviderFailure::NotAProvider,
    }
}
