//! What keeps somebody from coming in by single sign-on, as the client sees it.

use axum::http::StatusCode;
use trapline_app::SsoProblem;

/// Status and code of what keeps somebody from coming in by single sign-on.
pub(crate) fn of_sso(problem: &SsoProblem) -> (StatusCode, &'static str) {
    match problem {
        SsoProblem::NoTeam => (StatusCode::NOT_FOUND, "sso_no_team"),
        SsoProblem::NotBegun => (StatusCode::BAD_REQUEST, "sso_not_begun"),
        SsoProblem::Denied(_) => (StatusCode::FORBIDDEN, "sso_denied"),
        SsoProblem::Provider(_) => (StatusCode::BAD_GATEWAY, "sso_provider"),
        SsoProblem::UnverifiedEmail => (StatusCode::FORBIDDEN, "sso_unverified_email"),
        SsoProblem::OtherDomain => (StatusCode::FORBIDDEN, "sso_other_domain"),
        SsoProblem::UnconfirmedAccount => (StatusCode::FORBIDDEN, "sso_unconfirmed_account"),
        SsoProblem::NotAMember => (StatusCode::FORBIDDEN, "sso_not_a_member"),
    }
}
