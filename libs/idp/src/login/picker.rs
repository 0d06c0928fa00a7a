//! The list of test users: buttons of one form, without a script and without a password.

use axum::{http::StatusCode, response::Response};
use trapline_app::{IdpHandle, IdpUserRecord, escape_html};
use trapline_model::IdpUserId;

use crate::{failure::EndpointFailure, page::page, params::RequestParams, state::IdpState};

const WARNING: &str =
    "<p class=\"warning\">Test identity provider. Do not enter real credentials.</p>";
/// Users on a page.
const PAGE_USERS: usize = 50;
/// Users from which on there is a field to search in.
const SEARCH_FROM: usize = 20;

/// `head` is HTML, and tells to whom somebody signs in.
pub(super) async fn page_of(
    idp: &IdpState,
    (provider, head): (&IdpHandle, &str),
    params: &RequestParams,
    first: Option<IdpUserId>,
) -> Result<Response, EndpointFailure> {
    let mut users = idp.idps().test_users(provider).await?;
    let all = users.len();
    let wanted = params.get("q").unwrap_or_default().to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    users.retain(|user| has(&user.email) || has(&user.name));
    users.sort_by_key(|user| Some(user.id) != first);
    let number: usize = params.get("page").and_then(|page| page.parse().ok()).unwrap_or(1).max(1);
    let is_more = users.len() > number.saturating_mul(PAGE_USERS);
    let shown = users.iter().skip((number - 1).saturating_mul(PAGE_USERS)).take(PAGE_USERS);
    let rid = escape_html(params.get("rid").unwrap_or_default());
    let query = escape_html(params.get("q").unwrap_or_default());
    let hidden = format!("<input type=\"hidden\" name=\"rid\" value=\"{rid}\">");
    let mut body = vec![WARNING.to_owned(), head.to_owned()];
    if all > SEARCH_FROM {
        body.push(format!(
            "<form>{hidden}<label>Search <input name=\"q\" value=\"{query}\"></label> \
             <button>Search</button></form>"
        ));
    }
    body.push(format!("<form method=\"post\">{hidden}"));
    body.extend(shown.map(|user| button(user, Some(user.id) == first)));
    body.push("<button name=\"deny\" value=\"1\">Deny</button></form>".to_owned());
    if all == 0 {
        let words = "<p>There is no test user yet. Add one with POST /api/idps/:id/users.</p>";
        body.push(words.to_owned());
    }
    if is_more {
        body.push(format!(
            "<form>{hidden}<input type=\"hidden\" name=\"q\" value=\"{query}\">\
             <button name=\"page\" value=\"{}\">More</button></form>",
            number + 1
        ));
    }
    Ok(page(StatusCode::OK, "Choose a test user", &body.concat()))
}

fn button(user: &IdpUserRecord, is_first: bool) -> String {
    let focus = if is_first { " autofocus" } else { "" };
    let groups = user.groups.join(", ");
    format!(
        "<button name=\"user\" value=\"{}\"{focus}>{}<small>{}</small><small>{}</small></button>",
        user.id,
        escape_html(&user.name),
        escape_html(&user.email),
        escape_html(&groups)
    )
}
