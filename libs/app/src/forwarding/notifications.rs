//! The mail that asks the owner of an address. In the HTML, tables and inline styles are what mail clients
//! agree on.

use trapline_mime::escape_html;

use crate::mail::{EmailTemplate, shown_name};

/// Asks whether mail may be forwarded.
pub(super) fn confirm(team_name: &str, email: &str, link: &str) -> EmailTemplate {
    let team = shown_name(team_name);
    let text =
        format!(include_str!("templates/confirm.txt"), team = team, email = email, link = link);
    let html = format!(
        include_str!("templates/confirm.html"),
        team = escape_html(&team),
        email = escape_html(email),
        link = escape_html(link)
    );
    EmailTemplate { subject: "Confirm your forwarding address".to_owned(), text, html }
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
        assert!(template.html.contains("href=\"https://t/?x=1&amp;y\""), "{}", template.html);
        assert!(template.text.contains("\nhttps://t/?x=1&y\n"), "{}", template.text);
        assert!(confirm(&"x".repeat(500), "a@b.example", "l").text.len() < 500);
    }
}
