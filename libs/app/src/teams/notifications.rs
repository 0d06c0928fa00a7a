//! What somebody who is invited is written.

use trapline_mime::escape_html;

use crate::mail::{EmailTemplate, shown_name};

/// Invites somebody to a team.
pub(super) fn invitation(team: &str, inviter: &str, link: &str) -> EmailTemplate {
    let team = shown_name(team);
    let inviter = Some(shown_name(inviter)).filter(|name| !name.trim().is_empty());
    let inviter = inviter.unwrap_or_else(|| "Somebody".to_owned());
    let text = format!(
        include_str!("templates/invitation.txt"),
        inviter = inviter,
        team = team,
        link = link
    );
    let html = format!(
        include_str!("templates/invitation.html"),
        inviter = escape_html(&inviter),
        team = escape_html(&team),
        link = escape_html(link)
    );
    EmailTemplate { subject: "You are invited to a team".to_owned(), text, html }
}
