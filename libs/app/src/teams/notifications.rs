//! The mail of an invitation.

use crate::mail::{Action, EmailTemplate, Notification, shown_name};

/// Invites somebody to a team.
pub(super) fn invitation(team: &str, inviter: &str, link: &str) -> EmailTemplate {
    let inviter = Some(shown_name(inviter)).filter(|name| !name.trim().is_empty());
    let inviter = inviter.unwrap_or_else(|| "Somebody".to_owned());
    let sentence = format!("{inviter} invites you to the team \"{}\".", shown_name(team));
    Notification {
        subject: "You are invited to a team",
        paragraphs: &[&sentence, "To join it, open the invitation within 7 days."],
        action: Some(Action { label: "Open the invitation", link }),
        closing: "If you do not know the team, do nothing.",
    }
    .template()
}
