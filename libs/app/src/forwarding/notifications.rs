//! The mail that asks the owner of an address.

use crate::mail::{Action, EmailTemplate, Notification, shown_name};

/// Asks whether mail may be forwarded.
pub(super) fn confirm(team_name: &str, email: &str, link: &str) -> EmailTemplate {
    let team = shown_name(team_name);
    let asks =
        format!("The team \"{team}\" would like to forward mail that its tests catch to {email}.");
    Notification {
        subject: "Confirm your forwarding address",
        paragraphs: &[&asks, "If you want that, open the page within 7 days and confirm."],
        action: Some(Action { label: "Open the confirmation page", link }),
        closing: "If you do not know the team, do nothing: no mail will be forwarded to you.",
    }
    .template()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_teams_name_stays_a_name() {
        let template =
            confirm("<b>https://evil.example</b>\r\nX: y", "a@b.example", "https://t/?x=1&y");
        assert!(
            template.text.contains("\"<b>https···evil·example<·b>  X· y\""),
            "{}",
            template.text
        );
        assert!(template.html.contains("&lt;b&gt;https···evil·example"), "{}", template.html);
        assert!(confirm(&"x".repeat(500), "a@b.example", "l").text.len() < 500);
    }
}
